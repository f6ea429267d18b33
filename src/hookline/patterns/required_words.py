"""Words of which one is in every text that a pattern matches, so that an index can find the patterns of a text.

A pattern is reduced to its outline: the texts in it, and where anything may stand. Both parsers make one.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from hookline.lazy_dataclasses import dataclass
from hookline.patterns.syntax_tree import (
    Alternation,
    Boundary,
    CharacterSet,
    Group,
    LookAround,
    RegexNode,
    Repeat,
    Sequence,
)

Outline = str | list["Outline"] | tuple["Outline", ...] | None
"""A text; parts one after the other (list); alternatives (tuple); or anything (None)."""

WordSet = tuple[str, ...]

WORD_EDGE: Final = "\ud800"
"""Stands in a word for RE2's `\\b`: without it, `SECRET_1\\b` would be asked about every text with SECRET_1234. A pattern's own
text never has this character, because lone surrogates are not read as words."""

_MAX_ALTERNATIVES: Final = 64
_MAX_WORD_LENGTH: Final = 48
_MAX_DEPTH: Final = 50
_MAX_BMP: Final = 0xFFFF  # JavaScript reads a character beyond as two
_SURROGATES: Final = range(0xD800, 0xE000)
_OTHER_CASES: Final = {"k": "\u212a", "s": "\u017f"}  # beside the capital letter, in RE2 and in Unicode


@dataclass(frozen=True, slots=True)
class Words:
    sets: tuple[WordSet, ...]
    """Each of them has a word of every text that matches, perhaps in another case. ASCII words are in small letters."""
    text: str | None
    """It is in every text that matches, exactly like this: the longest word."""


NO_WORDS: Final = Words((), None)


def find_words(outline: Outline, any_case: bool = False) -> Words:
    """any_case: a text in the outline stands for its other cases too."""
    exact, sets = _read(outline)
    if exact:
        sets = _one_word(exact)
    text = None
    folded: list[WordSet] = []
    for words in sets:
        if len(words) > 1:
            folded.append(tuple(map(fold_word, words)))
            continue
        word = words[0]
        folded.append(_fold_single(word))
        for part in word.split(WORD_EDGE) if WORD_EDGE in word else words:
            if text is None or len(part) > len(text):
                text = part
    return Words(tuple(dict.fromkeys(folded)) if len(folded) > 1 else tuple(folded), None if any_case else text)


def fold_word(word: str) -> str:
    if word.isascii() or word.replace(WORD_EDGE, "").isascii():
        return word.lower()
    return word  # elsewhere, lower() may change more than the case


@lru_cache(maxsize=256)
def _fold_single(word: str) -> WordSet:
    """Most patterns of a template share a word, such as `.py`: they share its set too, which is larger than the word."""
    return (fold_word(word),)


def _one_word(run: str) -> list[WordSet]:
    """The set with this word alone; none if it is empty, or only the edge of a word."""
    return [(run[-_MAX_WORD_LENGTH:],)] if run.strip(WORD_EDGE) else []


def _read(part: Outline) -> tuple[str | None, list[WordSet]]:
    """The whole text of the part if it is always the same, otherwise sets of words."""
    if isinstance(part, str):
        return part, []
    if part is None:
        return None, []
    if isinstance(part, tuple):
        return None, _read_alternatives(part)
    run, sets, is_exact = "", list[WordSet](), True
    for each in _flat_parts(part):
        if isinstance(each, str):
            run += each
            continue
        sets += _one_word(run)
        if each is not None:
            sets += _read_alternatives(each)
        run, is_exact = "", False
    return (run, []) if is_exact else (None, sets + _one_word(run))


def _flat_parts(parts: list[Outline]) -> Iterator[str | tuple[Outline, ...] | None]:
    for part in parts:
        if isinstance(part, list):
            yield from _flat_parts(part)
        else:
            yield part


def _read_alternatives(options: tuple[Outline, ...]) -> list[WordSet]:
    """One set with a word of each alternative; none if an alternative has none."""
    found: dict[str, None] = {}
    for option in options:
        exact, sets = _read(option)
        best = max(sets if exact is None else _one_word(exact), key=shortest_length, default=())
        if not best:
            return []
        found.update(dict.fromkeys(best))
    return [tuple(found)] if len(found) <= _MAX_ALTERNATIVES else []


def shortest_length(words: WordSet) -> int:
    if len(words) == 1:
        return len(words[0]) - words[0].count(WORD_EDGE)
    return min([len(word) - word.count(WORD_EDGE) for word in words])


def outline_of_repeat(part: Outline, least: int, most: int | None) -> Outline:
    """The first and the last repetition touch what is around them."""
    if least == 0:
        return None
    exact, _ = _read(part)
    if exact is None:
        return [None, part, None]
    text = exact * min(least, _MAX_WORD_LENGTH)
    return text if least == most and least <= _MAX_WORD_LENGTH else [text, None, text]


class OutlineWriter:
    """The outline of a syntax tree. `any_case` is set if a letter in it stands for both cases."""

    def __init__(self) -> None:
        self.any_case = False

    def write(self, node: RegexNode, depth: int = 0) -> Outline:
        if depth > _MAX_DEPTH:
            return None
        match node:
            case CharacterSet():
                return self._letter(node)
            case Boundary():
                return ""
            case Sequence(parts):
                return [self.write(part, depth + 1) for part in parts]
            case Alternation(options):
                return tuple(self.write(option, depth + 1) for option in options)
            case Group(part):
                return self.write(part, depth + 1)
            case Repeat(part, least, most):
                return outline_of_repeat(self.write(part, depth + 1) if least else None, least, most)
            case LookAround(negative=negative):
                return "" if negative else None
            case _:
                return None

    def _letter(self, chars: CharacterSet) -> str | None:
        """The one character of a set, or the small letter of a set with both cases; None if there are others."""
        if chars.properties or chars.negated or not chars.ranges or len(chars.ranges) > 3:
            return None
        low, high = chars.ranges[0]
        if low > _MAX_BMP or low in _SURROGATES or high != low:
            return None
        if len(chars.ranges) == 1:
            return chr(low)
        letter = chr(low).lower()
        cases = {letter, letter.upper(), _OTHER_CASES.get(letter)}
        if not ("a" <= letter <= "z") or any(one != two or chr(one) not in cases for one, two in chars.ranges):
            return None
        self.any_case = True
        return letter


def words_of_tree(tree: RegexNode) -> Words:
    writer = OutlineWriter()
    outline = writer.write(tree)
    return find_words(outline, writer.any_case)
