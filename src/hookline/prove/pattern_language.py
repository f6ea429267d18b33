r"""A pattern as the set of texts that it matches.

A regular language has no anchors. It can be intersected and negated, so an assertion at a place in the pattern (`^`, `$`, `\b`,
look-around) becomes a condition on the text before that place or on all the text after it. `left` is what is known about
the character before a place: None at the start of the text, else whether it is in each of the sets that the pattern
looks back at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import product
from typing import Final

from hookline.hooks.protocols import TextPattern
from hookline.lazy_dataclasses import dataclass
from hookline.patterns.matchers import Shorthand
from hookline.patterns.pattern import BadPattern, Pattern, Syntax, pattern, syntax_tree
from hookline.patterns.syntax_tree import (
    ALL_CHARACTERS,
    NO_CHARACTERS,
    WORD_CHARACTERS,
    Alternation,
    BackReference,
    Boundary,
    CharacterSet,
    Group,
    LookAround,
    Ranges,
    RegexNode,
    Repeat,
    Sequence,
    children,
    complement,
    union,
)
from hookline.prove.regular_language import (
    ANY_TEXT,
    EMPTY_TEXT,
    NOTHING,
    Language,
    both,
    characters,
    either,
    repetition,
    sequence,
    single_text,
    without,
)

_ASTRAL: Final[Ranges] = ((0x10000, 0x10FFFF),)
_SURROGATES: Final[Ranges] = ((0xD800, 0xDFFF),)
_NOT_ASCII: Final[Ranges] = ((0x80, 0x10FFFF),)
_ANY_TEXT: Final = Repeat(CharacterSet(ALL_CHARACTERS), 0, None)
_MAX_COUNT: Final = 1_000  # of a repetition
_MAX_STEPS: Final = 2_000
_MAX_REPEATED_ASSERTIONS: Final = 3
_MAX_LOOK_BACKS: Final = 4

_Left = tuple[bool, ...] | None


class NotTranslatable(Exception):
    """The message completes the sentence "its pattern …"."""


@dataclass(frozen=True, slots=True)
class MatchedTexts:
    """Every text in `surely` matches, and every text that matches is in `perhaps`. Usually they are the same."""

    surely: Language
    perhaps: Language


@lru_cache(maxsize=4096)
def matched_texts(compiled: TextPattern) -> MatchedTexts:
    """Raises NotTranslatable."""
    plain = compiled.pattern if isinstance(compiled, Shorthand) else compiled
    if not isinstance(plain, Pattern):
        raise NotTranslatable("is of another kind")
    try:
        tree = syntax_tree(plain)
    except (BadPattern, RecursionError):
        raise NotTranslatable("is written in a way that only RE2 reads") from None
    if plain.syntax is Syntax.JAVASCRIPT:
        return _javascript_texts(tree, plain.whole)
    surely = _Translator(tree)
    if plain.syntax is Syntax.NATIVE and Boundary.NOT_WORD in _all_nodes(tree):
        return _exact_without(_NOT_ASCII, surely, plain.whole)  # RE2 finds \B between the bytes of one character
    if not surely.has_properties:
        language = surely.translate(plain.whole)
        return MatchedTexts(language, language)
    perhaps = _Translator(tree, generous=True)
    _refuse_inexact_negation(tree, "a Unicode class")
    return MatchedTexts(surely.translate(plain.whole), perhaps.translate(plain.whole))


def _javascript_texts(tree: RegexNode, whole: bool) -> MatchedTexts:
    """JavaScript counts a character beyond U+FFFF as two. That matters only where a set is not repeated freely."""
    translator = _Translator(tree, javascript=True)
    if _counts_units(tree, is_repeated=False):
        return _exact_without(_ASTRAL, translator, whole)
    language = translator.translate(whole)
    return MatchedTexts(language, language)


def _exact_without(inexact: Ranges, translator: _Translator, whole: bool) -> MatchedTexts:
    """For a pattern of which it is known only what it matches in texts without these characters."""
    language = translator.translate(whole)
    others = sequence((ANY_TEXT, characters(inexact), ANY_TEXT))
    return MatchedTexts(both((language, without(others))), either((language, others)))


def _refuse_inexact_negation(tree: RegexNode, what: str) -> None:
    if any(isinstance(node, LookAround) and node.negative for node in _all_nodes(tree)):
        raise NotTranslatable(f"has {what} beside a negative look-around")


def _counts_units(node: RegexNode, is_repeated: bool) -> bool:
    if isinstance(node, CharacterSet):
        return not is_repeated and _has_surrogates(node)
    freely = isinstance(node, Repeat) and node.least <= 1 and node.most is None
    return any(_counts_units(child, freely and isinstance(child, CharacterSet)) for child in children(node))


def _has_surrogates(node: CharacterSet) -> bool:
    ranges = complement(node.ranges) if node.negated else node.ranges
    shared = intersection(ranges, _SURROGATES)
    if shared not in (NO_CHARACTERS, _SURROGATES):
        raise NotTranslatable("names halves of UTF-16 pairs")
    return shared == _SURROGATES


def _all_nodes(node: RegexNode) -> Iterator[RegexNode]:
    yield node
    for child in children(node):
        yield from _all_nodes(child)


class _Translator:
    """With `generous`, what is not known of a Unicode class counts as in it."""

    def __init__(self, tree: RegexNode, *, generous: bool = False, javascript: bool = False) -> None:
        self.tree = tree
        self.generous = generous
        self.javascript = javascript
        nodes = list(_all_nodes(tree))
        if any(isinstance(node, BackReference) for node in nodes):
            raise NotTranslatable("has a back-reference")
        sets = [node for node in nodes if isinstance(node, CharacterSet)]
        self.has_properties = any(node.properties for node in sets)
        self.looked_back = tuple(dict.fromkeys(self._look_backs(nodes)))
        if len(self.looked_back) > _MAX_LOOK_BACKS:
            raise NotTranslatable("looks back at too many sets of characters")
        self._steps = 0

    def _look_backs(self, nodes: Iterable[RegexNode]) -> Iterator[Ranges]:
        for node in nodes:
            if node in (Boundary.WORD, Boundary.NOT_WORD):
                yield WORD_CHARACTERS
            elif isinstance(node, LookAround) and not node.ahead:
                yield self.looked_back_set(node)

    def looked_back_set(self, node: LookAround) -> Ranges:
        part = node.part
        while isinstance(part, Group):
            part = part.part
        if not isinstance(part, CharacterSet):
            raise NotTranslatable("looks back at more than one character")
        if part.properties:
            raise NotTranslatable("looks back at a Unicode class")
        return self.ranges(part)

    def translate(self, whole: bool) -> Language:
        parts = (self.tree,) if whole else (_ANY_TEXT, self.tree, _ANY_TEXT)
        return self.rest(parts, None)

    def rest(self, parts: tuple[RegexNode, ...], left: _Left) -> Language:
        """The texts from here to the end that these parts match."""
        self._steps += 1
        if self._steps > _MAX_STEPS:
            raise NotTranslatable("has too many anchors, boundaries or look-arounds")
        for at, part in enumerate(parts):
            if isinstance(part, Boundary | LookAround):
                return self._at_assertion(parts[:at], part, parts[at + 1 :], left)
            if _has_assertion(part):
                options = _write_out(part)
                return either(self.rest((*parts[:at], *option, *parts[at + 1 :]), left) for option in options)
        return self.plain_sequence(parts)

    def _at_assertion(
        self, before: tuple[RegexNode, ...], assertion: Boundary | LookAround, after: tuple[RegexNode, ...], left: _Left
    ) -> Language:
        found = []
        if all(map(_may_be_empty, before)):
            found.append(self._after(assertion, after, left))
        if before and assertion is not Boundary.TEXT_START:
            text = self.plain_sequence(before)
            for cell, members in self._cells():
                tail = self._after(assertion, after, cell)
                if tail is not NOTHING:
                    ends = sequence((ANY_TEXT, characters(members)))
                    found.append(sequence((both((text, ends)), tail)))
        return either(found)

    def _cells(self) -> Iterator[tuple[tuple[bool, ...], Ranges]]:
        """Every way in which a character can be in the sets that are looked back at, and the characters."""
        for cell in product((True, False), repeat=len(self.looked_back)):
            members = ALL_CHARACTERS
            for is_in, ranges in zip(cell, self.looked_back, strict=True):
                members = intersection(members, ranges if is_in else complement(ranges))
            if members:
                yield cell, members

    def _after(self, assertion: Boundary | LookAround, after: tuple[RegexNode, ...], left: _Left) -> Language:
        """The texts from an assertion to the end."""
        if isinstance(assertion, LookAround):
            return self._after_look_around(assertion, after, left)
        if assertion is Boundary.TEXT_START:
            return self.rest(after, left) if left is None else NOTHING
        rest = self.rest(after, left)
        if assertion is Boundary.TEXT_END:
            return both((rest, EMPTY_TEXT))
        if assertion is Boundary.LAST_LINE_END:
            return both((rest, either((EMPTY_TEXT, single_text("\n")))))
        is_after_word = left is not None and left[self.looked_back.index(WORD_CHARACTERS)]
        word_follows = sequence((characters(WORD_CHARACTERS), ANY_TEXT))
        if is_after_word == (assertion is Boundary.WORD):
            return both((rest, without(word_follows)))
        return both((rest, word_follows))

    def _after_look_around(self, look: LookAround, after: tuple[RegexNode, ...], left: _Left) -> Language:
        if not look.ahead:
            is_in = left is not None and left[self.looked_back.index(self.looked_back_set(look))]
            return self.rest(after, left) if is_in != look.negative else NOTHING
        seen = self.rest((look.part, _ANY_TEXT), left)
        return both((self.rest(after, left), without(seen) if look.negative else seen))

    def plain_sequence(self, parts: tuple[RegexNode, ...]) -> Language:
        return sequence(map(self.plain, parts))

    def plain(self, node: RegexNode) -> Language:
        """A part without assertions."""
        match node:
            case CharacterSet():
                return characters(self.ranges(node))
            case Sequence(parts):
                return self.plain_sequence(parts)
            case Alternation(options):
                return either(map(self.plain, options))
            case Group(part):
                return self.plain(part)
            case Repeat(part, least, most):
                if max(least, most or 0) > _MAX_COUNT:
                    raise NotTranslatable(f"repeats more than {_MAX_COUNT} times")
                return repetition(self.plain(part), least, most)
            case _:
                raise AssertionError(node)

    def ranges(self, node: CharacterSet) -> Ranges:
        ranges = node.ranges
        if node.properties:
            known = union(ranges, _ascii_members(node.properties))
            is_generous = self.generous != node.negated  # a negated set has what the class surely does not have
            ranges = union(known, _NOT_ASCII) if is_generous else known
        if node.negated:
            ranges = complement(ranges)
        if self.javascript:
            beyond = _ASTRAL if _has_surrogates(node) else NO_CHARACTERS
            return union(intersection(ranges, complement(_ASTRAL)), beyond)
        return ranges


@lru_cache(maxsize=256)
def _ascii_members(properties: tuple[str, ...]) -> Ranges:
    in_class = pattern(f"[{''.join(properties)}]", whole=True)
    return union((code, code) for code in range(128) if in_class.search(chr(code)))


def intersection(one: Ranges, other: Ranges) -> Ranges:
    return complement(union(complement(one), complement(other)))


def _has_assertion(node: RegexNode) -> bool:
    return isinstance(node, Boundary | LookAround) or any(map(_has_assertion, children(node)))


def _write_out(node: RegexNode) -> list[tuple[RegexNode, ...]]:
    """The sequences of which one matches, for a part with an assertion inside."""
    match node:
        case Sequence(parts):
            return [parts]
        case Alternation(options):
            return [(option,) for option in options]
        case Group(part):
            return [(part,)]
        case Repeat(part, least, most) if most is not None and most <= _MAX_REPEATED_ASSERTIONS:
            return [(part,) * count for count in range(least, most + 1)]
        case _:
            raise NotTranslatable("repeats an anchor, a boundary or a look-around")


def _may_be_empty(node: RegexNode) -> bool:
    match node:
        case Sequence(parts):
            return all(map(_may_be_empty, parts))
        case Alternation(options):
            return any(map(_may_be_empty, options))
        case Repeat(part, least):
            return least == 0 or _may_be_empty(part)
        case Group(part):
            return _may_be_empty(part)
        case _:
            return False
