"""Which of many words are in a text, in any case: one RE2 set of words.

An RE2 set reads a text once, whatever the number of words. Words it knows by their position.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any, Final

from re2 import _re2  # the public wrapper doubles the cost

from hookline.patterns.encoding import encode_utf8
from hookline.patterns.literal_search import MAX_RFIND_LENGTH, WORD_CHARACTERS, rarest_character
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

    __slots__ = ("_common_text", "_longest", "_match", "_overlap", "count", "find_spelled")

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
        self.find_spelled = _build_spelled_search(self._common_text, words, known)

    def find(self, text: str, deadline: float) -> Iterable[int]:
        """The words in the text; all of them if the deadline passes."""
        common = self._common_text
        if common:
            if self.find_spelled is not None:
                found = self.find_spelled(text)
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


SpelledSearch = Callable[[str], Sequence[int] | None]
"""The words in a text; None if the text is long, or has their common text at many places."""


def _build_spelled_search(common: str, words: Sequence[str], spellings: Sequence[str | None]) -> SpelledSearch | None:
    """For words of which every spelling is known and has a common text: slices of a text around it are looked up.

    Thousands of rules are made from a template, so that their words differ in few lengths. None if a spelling is not known,
    or if there are too many lengths.
    """
    found: dict[tuple[int, int, bool, bool], dict[str, int]] = {}
    for number, (word, spelling) in enumerate(zip(words, spellings, strict=True)):
        if not common or spelling is None or len(word.strip(WORD_EDGE)) != len(spelling):
            return None
        before = spelling.index(common)
        shape = before, len(spelling) - before, word[0] == WORD_EDGE, word[-1] == WORD_EDGE
        found.setdefault(shape, {})[spelling] = number
        if len(found) > _MAX_SHAPES:
            return None
    if not found:
        return None
    largest_first = sorted(found.items(), key=lambda row: -len(row[1]))
    starts = [(before + len(common), numbers) for (before, *_), numbers in largest_first]
    following = frozenset(spelling[at : at + 1] for at, numbers in starts for spelling in numbers)
    # Identifiers that begin and end at the same edges: a longer one has a letter where a shorter one needs its edge
    is_single = len({(before, edge_before) for before, _, edge_before, _ in found}) == 1 and all(
        edge_after and spelling.isascii() and f"_{spelling[before:]}".isidentifier()
        for (before, _, _, edge_after), numbers in largest_first
        for spelling in numbers
    )
    tables = [(*shape, numbers.get) for shape, numbers in largest_first]
    return _search_spelled(common, following, tables, is_single=is_single)


def _search_spelled(
    common: str, following: frozenset[str], tables: Sequence[_Table], *, is_single: bool
) -> SpelledSearch:
    """following: the characters after the common text; "" after all if it is the end of a word.

    is_single: there is at most one word at a place.
    """
    ends_word, size, words = "" in following, len(common), WORD_CHARACTERS
    rarest = rarest_character(common)
    character, rest = common[rarest], size - rarest

    def find(text: str) -> Sequence[int] | None:
        last = text.rfind(character)
        if last < 0:
            return ()
        if last > MAX_RFIND_LENGTH:
            return None
        at = text.rfind(common, 0, last + rest)
        if at < 0:
            return ()
        found: list[int] = []
        length = len(text)
        for _ in range(_MAX_PLACES):
            if ends_word or text[at + size : at + size + 1] in following:
                for before, after, edge_before, edge_after, look_up in tables:
                    start, end = at - before, at + after
                    if start < 0 or end > length:
                        continue
                    if edge_after and (end < length and text[end] in words) is (text[end - 1] in words):
                        continue  # before the look-up, which takes twice as long
                    word = look_up(text[start:end])
                    if word is None:
                        continue
                    if edge_before and (start > 0 and text[start - 1] in words) is (text[start] in words):
                        continue
                    found.append(word)
                    if is_single:
                        break
            last = text.rfind(character, 0, at + rarest)
            at = text.rfind(common, 0, last + rest) if last >= 0 else last
            if at < 0:
                return found
        return None

    return find


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
