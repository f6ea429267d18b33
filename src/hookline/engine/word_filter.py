"""Which of many words are in a text, in any case: one RE2 set of words.

An RE2 set reads a text once, whatever the number of words. Words it knows by their position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any, Final

from re2 import _re2  # the public wrapper doubles the cost

from hookline.patterns.encoding import encode_utf8
from hookline.patterns.literal_search import MAX_RFIND_LENGTH, WORD_CHARACTERS
from hookline.patterns.required_words import WORD_EDGE

_WINDOW_BYTES: Final = 8_192  # between two checks of the time; a hostile text takes up to 4 µs for a byte
_MIN_MEMORY: Final = 8 << 20
_MEMORY_PER_BYTE: Final = 256  # of the words: an upper limit that RE2 checks, not what it takes
_LONGEST_CHARACTER: Final = 4  # bytes
_MAX_COMMON_LENGTH: Final = 12
_MAX_PLACES: Final = 8  # of the common text that are looked up: RE2 is faster with more
_MAX_SHAPES: Final = 8  # that are looked up at each place
_ANY_CASE: Final = WORD_EDGE  # in a spelling: a letter of which the case is not known


class WordFilter:
    """It may return too many words, never too few."""

    __slots__ = ("_common_text", "_longest", "_match", "_overlap", "_spelled", "count")

    def __init__(self, words: Sequence[str], spellings: Sequence[str | None] = ()) -> None:
        """spellings: for each word, the text that stands exactly like this in its place; None if its case is not known."""
        encoded = [_to_regex(word) for word in words]
        self.count = len(encoded)
        self._longest = max(map(len, words), default=0)
        # k and U+212A are one letter, with one byte and three; the edge of a word depends on the character beside it
        self._overlap = 3 * max(map(len, encoded), default=0) + _LONGEST_CHARACTER
        self._match: Any = _build_set(encoded)
        known = spellings or [None] * len(words)
        self._common_text = _find_common_text(
            [spelling or _mask_letters(word) for word, spelling in zip(words, known, strict=True)]
        )
        self._spelled = _SpelledWords.build(self._common_text, words, known)

    def find(self, text: str, deadline: float) -> Iterable[int]:
        """The words in the text; all of them if the deadline passes."""
        common = self._common_text
        if common:
            if self._spelled is not None and len(text) <= MAX_RFIND_LENGTH:
                found = self._spelled.find(text)
                if found is not None:
                    return found
            first = text.find(common)
            if first < 0:
                return ()
            around = self._longest + 1
            text = text[max(0, first - around) : text.rfind(common) + len(common) + around]
        data = encode_utf8(text)
        if self._match is None:
            return range(self.count)
        if len(data) <= _WINDOW_BYTES:
            return self._match(data)  # type: ignore[no-any-return]
        in_windows: set[int] = set()
        for start in range(0, len(data), _WINDOW_BYTES):
            if perf_counter() > deadline:
                return range(self.count)
            in_windows.update(self._match(data[max(0, start - self._overlap) : start + _WINDOW_BYTES]))
        return in_windows


class _SpelledWords:
    """Words of which every spelling is known and has a common text: slices of a text around it are looked up.

    Thousands of rules are made from a template, so that their words differ in few lengths.
    """

    __slots__ = ("_common", "_following", "_tables")

    def __init__(self, common: str, following: frozenset[str], tables: Sequence[_Table]) -> None:
        self._common = common
        self._following = following  # the characters after it; "" after all if it is the end of a word
        self._tables = tables

    @classmethod
    def build(cls, common: str, words: Sequence[str], spellings: Sequence[str | None]) -> _SpelledWords | None:
        """None if a spelling is not known, or if there are too many lengths."""
        found: dict[tuple[int, int, bool, bool], dict[str, int]] = {}
        for number, (word, spelling) in enumerate(zip(words, spellings, strict=True)):
            if not common or spelling is None or len(word.strip(WORD_EDGE)) != len(spelling):
                return None
            before = spelling.index(common)
            shape = before, len(spelling) - before, word[0] == WORD_EDGE, word[-1] == WORD_EDGE
            found.setdefault(shape, {})[spelling] = number
            if len(found) > _MAX_SHAPES:
                return None
        size = len(common)
        starts = [(before + size, numbers) for (before, *_), numbers in found.items()]
        following = frozenset(spelling[at : at + 1] for at, numbers in starts for spelling in numbers)
        return cls(common, following, [(*shape, numbers.get) for shape, numbers in found.items()])

    def find(self, text: str) -> Sequence[int] | None:
        """None if the common text is at too many places."""
        common, following, size = self._common, self._following, len(self._common)
        ends_word = "" in following
        at = text.rfind(common)
        if at < 0:
            return ()
        found: list[int] = []
        for _ in range(_MAX_PLACES):
            may_be_word = ends_word or text[at + size : at + size + 1] in following
            for before, after, edge_before, edge_after, look_up in self._tables if may_be_word else ():
                spelling = text[at - before : at + after] if at >= before else ""
                word = look_up(spelling)
                if word is None:
                    continue
                if edge_after and (text[at + after : at + after + 1] in WORD_CHARACTERS) is (
                    spelling[-1] in WORD_CHARACTERS
                ):
                    continue
                start = at - before
                if edge_before and (text[start - 1 : start] in WORD_CHARACTERS) is (spelling[0] in WORD_CHARACTERS):
                    continue
                found.append(word)
            at = text.rfind(common, 0, at + size - 1)
            if at < 0:
                return found
        return None


_Table = tuple[int, int, bool, bool, Callable[[str], int | None]]
"""Characters before and after the start of the common text; edges before and after the word; the word of a spelling."""


def _to_regex(word: str) -> bytes:
    parts: list[bytes] = [_re2.RE2.QuoteMeta(part.encode()) for part in word.split(WORD_EDGE)]
    return rb"\b".join(parts)


def _build_set(words: Sequence[bytes]) -> Any:
    """None if RE2 refuses to build one."""
    options = _re2.RE2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.max_mem = max(_MIN_MEMORY, _MEMORY_PER_BYTE * sum(map(len, words)))
    built = _re2.Set(_re2.RE2.Anchor.UNANCHORED, options)
    if any(built.Add(word) < 0 for word in words):
        return None
    return built.Match if built.Compile() else None


def _mask_letters(word: str) -> str:
    return "".join([each if each.isascii() and not each.isalpha() else _ANY_CASE for each in word])


def _find_common_text(spellings: Sequence[str]) -> str:
    """The longest text that is in every spelling. Thousands of rules are made from a template, so they often share one.

    Words can only be near it, and Python finds one text up to forty times as fast as RE2 finds thousands.
    """
    shortest = min(spellings, key=len, default="")
    for length in range(min(len(shortest), _MAX_COMMON_LENGTH), 0, -1):
        for start in range(len(shortest) - length + 1):
            text = shortest[start : start + length]
            if _ANY_CASE not in text and all(text in each for each in spellings):
                return text
    return ""
