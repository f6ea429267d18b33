"""A pattern that cannot hang: RE2 if it can express it, otherwise the regex module with a time limit.

A text may be any str. Lone surrogates match `.` and negated sets like any other character, and JavaScript counts UTF-16
units: see hookline.patterns.encoding.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable
from enum import Enum
from functools import lru_cache, partial
from typing import Any, Final

from hookline.errors import UndecidedError
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern
from hookline.patterns.emitter import NotLinearError, to_re2, to_re2_superset, to_regex
from hookline.patterns.encoding import encode_utf8, encode_utf16_units
from hookline.patterns.engines import (
    SEARCH_SECONDS,
    BacktrackingEngine,
    CostEstimator,
    LinearEngine,
    PatternCost,
    expanded_size,
    max_match_width,
    replace_matches,
    state_breadth,
)
from hookline.patterns.literal_search import MAX_RFIND_LENGTH, LiteralSearch, absence_test, build_literal_search
from hookline.patterns.required_words import NO_WORDS, Words, WordSet, find_words, words_of_tree
from hookline.patterns.simple_parser import parse_simple
from hookline.patterns.syntax_tree import (
    Alternation,
    BackReference,
    BadPattern,
    Group,
    LookAround,
    RegexNode,
    Sequence,
    children,
)

__all__ = ["SEARCH_SECONDS", "BadPattern", "Pattern", "Syntax", "UndecidedError", "can_match", "pattern"]

MAX_PATTERN_LENGTH = 65_536
_MAX_STEPS = 4_000
_CACHE_SIZE = 16_384
_SHORT_TEXT = 256  # in which nothing is faster than `in`


class Syntax(Enum):
    NATIVE = "native"
    """RE2's, with look-around and back-references."""
    JAVASCRIPT = "javascript"
    """`new RegExp(source)` without flags."""
    PYTHON = "python"
    """`re`, as far as hookline.patterns.python_parser supports it."""


@dataclass(frozen=True, slots=True)
class CompiledPattern:
    """engine: the pattern itself, or with `backtracking`, a pre-check that every match passes."""

    engine: LinearEngine | None
    backtracking: BacktrackingEngine | None = None
    is_simple: bool = False  # compiled when it is first searched for


_SIMPLE: Final = CompiledPattern(None, is_simple=True)


class Pattern:
    """Made by pattern(). Patterns with the same source, syntax and `whole` are equal.

    RE2 compiles a simple pattern when it is first searched for: an index rules most of thousands out by their words.
    """

    __slots__ = (
        "_anchor",
        "_backtracking",
        "_is_simple",
        "_lacks_text",
        "_linear",
        "_literal",
        "_match",
        "_surely_quick",
        "_text",
        "_words",
        "source",
        "syntax",
        "whole",
    )

    source: str
    syntax: Syntax
    whole: bool
    _linear: LinearEngine | None
    _lacks_text: Callable[[str], bool] | None  # None until a longer text is searched
    _literal: LiteralSearch | None
    _backtracking: BacktrackingEngine | None
    _match: Any
    _anchor: Any
    _surely_quick: int
    _is_simple: bool  # and not yet searched for
    _words: tuple[WordSet, ...] | None  # None until they are needed
    _text: str | None

    def __init__(
        self, source: str, syntax: Syntax, whole: bool, built: CompiledPattern, words: Words | None = None
    ) -> None:
        """words: None if they are found when they are needed."""
        set_slot = object.__setattr__
        set_slot(self, "source", source)
        set_slot(self, "syntax", syntax)
        set_slot(self, "whole", whole)
        set_slot(self, "_is_simple", built.is_simple)
        set_slot(self, "_lacks_text", None)
        set_slot(self, "_literal", None)
        set_slot(self, "_words", None if words is None else words.sets)
        set_slot(self, "_text", None if words is None else words.text)
        self._set_engines(built)

    def _set_engines(self, built: CompiledPattern) -> None:
        set_slot, exact = object.__setattr__, built.engine if built.backtracking is None else None
        set_slot(self, "_linear", built.engine)
        set_slot(self, "_backtracking", built.backtracking)
        set_slot(self, "_match", exact and exact.match)
        set_slot(self, "_anchor", exact and exact.anchor)
        set_slot(self, "_surely_quick", exact.surely_quick if exact else -1)

    @property
    def words(self) -> tuple[WordSet, ...]:
        """Each set has a word of every text that matches, in any case. For an index; empty if no word is sure."""
        if self._words is None:
            found = _find_words(self.source, self.syntax)
            object.__setattr__(self, "_text", found.text)
            object.__setattr__(self, "_words", found.sets)
            return found.sets
        return self._words

    @property
    def required_text(self) -> str | None:
        """A text that is in every text that matches, exactly like this; None if none is sure, or before `words` are known."""
        return self._text

    @property
    def is_linear(self) -> bool:
        """True if RE2 can express it."""
        return self._backtracking is None

    def search(self, text: str, deadline: float = math.inf) -> bool:
        """True if the pattern matches anywhere in the text; with `whole`, all of it. Raises UndecidedError.

        deadline: in time.perf_counter() seconds. In any case, a search ends about SEARCH_SECONDS from now.
        """
        if self._literal is not None:
            found = self._literal(text)
            if found is not None:
                return found
        word = self._text  # Python finds one text several times as fast as RE2
        if word is not None and (self._lacks(word, text) if len(text) > _SHORT_TEXT else word not in text):
            return False
        if len(text) <= self._surely_quick and text.isascii():
            data = text.encode()
            return self._match(self._anchor, data, 0, len(data))[0][0] >= 0  # type: ignore[no-any-return]
        return self._search_within_limits(text, min(deadline, time.perf_counter() + SEARCH_SECONDS))

    def _lacks(self, word: str, text: str) -> bool:
        lacks_word = self._lacks_text
        if lacks_word is None:
            lacks_word = absence_test(word)
            object.__setattr__(self, "_lacks_text", lacks_word)
        return lacks_word(text) or (len(text) > MAX_RFIND_LENGTH and word not in text)

    def _search_within_limits(self, text: str, limit: float) -> bool:
        if self._is_simple:
            is_javascript = self.syntax is Syntax.JAVASCRIPT
            literal = build_literal_search(self.source, whole=self.whole, javascript=is_javascript)
            object.__setattr__(self, "_literal", literal)
            object.__setattr__(self, "_is_simple", False)
            return self.search(text, limit)
        self._compile_simple()
        data = encode_utf16_units(text) if self.syntax is Syntax.JAVASCRIPT else encode_utf8(text)
        shape = partial(_pattern_cost, self.source, self.syntax)
        if self._backtracking is None:
            assert self._linear is not None
            return self._linear.search(data, shape, limit)
        if self._linear and not _may_match(self._linear, data, shape, limit):
            return False
        return self._backtracking.search(text if text.isascii() else data.decode(), limit)

    def replace(self, text: str, new: str, deadline: float = math.inf) -> str:
        """`text` with each match replaced by the literal `new`; an empty match replaces nothing.

        JavaScript patterns match characters here, not UTF-16 units as in `search`. Raises UndecidedError.
        """
        self._compile_simple()
        return replace_matches(self._linear, self._backtracking, text, new, deadline)

    def _compile_simple(self) -> None:
        """Two threads may both do it, with the same result."""
        if self._linear is None and self._backtracking is None:
            simple = parse_simple(self.source, javascript=self.syntax is Syntax.JAVASCRIPT)
            assert simple is not None
            self._set_engines(CompiledPattern(LinearEngine(simple[0], whole=self.whole)))

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Pattern is immutable: {name}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self.source)  # which keeps it: patterns are hashed often, and there are thousands

    def __repr__(self) -> str:
        return f"pattern({self.source!r}, {self.syntax}, whole={self.whole})"

    def _key(self) -> tuple[str, Syntax, bool]:
        return self.source, self.syntax, self.whole


@lru_cache(_CACHE_SIZE)
def pattern(source: str, syntax: Syntax = Syntax.NATIVE, *, whole: bool = False) -> Pattern:
    """Raises BadPattern, also if the pattern is too large or too deep to search in time.

    whole: the whole text must match, not just a part of it.
    """
    if len(source) > MAX_PATTERN_LENGTH:
        raise BadPattern(f"it is longer than {MAX_PATTERN_LENGTH} characters")
    if syntax is not Syntax.PYTHON:
        simple = parse_simple(source, javascript=syntax is Syntax.JAVASCRIPT)
        if simple is not None:
            words = find_words(simple[1])
            return Pattern(source, syntax, whole, _SIMPLE, words)
    built = (
        _compile_native(source, whole)
        if syntax is Syntax.NATIVE
        else _compile_tree(_parse_source(source, syntax), whole)
    )
    return Pattern(source, syntax, whole, built)


_MAX_ALTERNATIVES: Final = 64


def split_alternatives(compiled: Pattern) -> tuple[Pattern, ...]:
    """Patterns that together match what this one matches: `^(a|b)$` is `^a$` and `^b$`. Itself if it cannot be split."""
    tree = _parse_source(compiled.source, compiled.syntax)
    options = [tree] if _has_back_reference(tree) else _expand_alternations(tree)
    if not 1 < len(options) <= _MAX_ALTERNATIVES:
        return (compiled,)
    try:
        return tuple(_pattern_of_tree(option, compiled) for option in options)
    except BadPattern:
        return (compiled,)


def _pattern_of_tree(tree: RegexNode, whole: Pattern) -> Pattern:
    """One alternative. Its words are found here: its source is only a name, not in the pattern's own syntax."""
    built = _compile_tree(tree, whole.whole)
    return Pattern(to_regex(tree), whole.syntax, whole.whole, built, words_of_tree(tree))


def _expand_alternations(node: RegexNode) -> list[RegexNode]:
    match node:
        case Alternation(options):
            return [each for option in options for each in _expand_alternations(option)]
        case Group(part):
            return _expand_alternations(part)
        case Sequence(parts):
            expanded = [_expand_alternations(part) for part in parts]
            if math.prod(map(len, expanded)) > _MAX_ALTERNATIVES:
                return [node]
            return [Sequence(each) for each in itertools.product(*expanded)]
        case _:
            return [node]


def _has_back_reference(node: RegexNode) -> bool:
    return isinstance(node, BackReference) or any(_has_back_reference(child) for child in children(node))


_ANCHOR_OR_SET: Final = lazy_pattern(r"[\^$\[]|\\[AzZ]|\(\?<?!")


def can_match(compiled: Pattern) -> bool:
    """False only if no text matches, because of an anchor in the middle or a set without characters."""
    if _ANCHOR_OR_SET.search(compiled.source.removeprefix("^").removesuffix("$")) is None:
        return True  # most patterns: they need not be parsed
    from hookline.patterns import satisfiable

    try:
        return satisfiable.can_match(_parse_source(compiled.source, compiled.syntax))
    except BadPattern:  # only RE2 itself can read it
        return True


def syntax_tree(compiled: Pattern) -> RegexNode:
    """The pattern's syntax tree. Raises BadPattern if only RE2 itself can read it."""
    return _parse_source(compiled.source, compiled.syntax)


def _parse_source(source: str, syntax: Syntax) -> RegexNode:
    """RE2 reads most native patterns itself, so the parsers are imported where one is needed."""
    if syntax is Syntax.JAVASCRIPT:
        from hookline.patterns import javascript_parser

        return javascript_parser.parse(source)
    readable = encode_utf8(source).decode()
    if syntax is Syntax.PYTHON:
        from hookline.patterns import python_parser

        return python_parser.parse(readable)
    from hookline.patterns import re2_parser

    return re2_parser.parse(readable)


def _compile_native(source: str, whole: bool) -> CompiledPattern:
    try:
        return _compile_linear(encode_utf8(source).decode(), whole)
    except BadPattern as refusal:
        tree = _parse_source(source, Syntax.NATIVE)
        if not _needs_backtracking(tree) and "repetition size" not in refusal.why:
            raise
        return _compile_backtracking(tree, whole)


def _compile_tree(tree: RegexNode, whole: bool) -> CompiledPattern:
    try:
        return _compile_linear(to_re2(tree, whole=whole), whole)
    except (NotLinearError, BadPattern):
        return _compile_backtracking(tree, whole)


def _compile_linear(source: str, whole: bool) -> CompiledPattern:
    return CompiledPattern(LinearEngine(source, whole=whole))


def _compile_backtracking(tree: RegexNode, whole: bool) -> CompiledPattern:
    if expanded_size(tree) > _MAX_STEPS:
        raise BadPattern("it has too many repetitions to search in time")
    backtracking = BacktrackingEngine(to_regex(tree), whole=whole)
    try:
        return CompiledPattern(LinearEngine(to_re2_superset(tree), whole=whole), backtracking)
    except BadPattern:
        return CompiledPattern(None, backtracking)


def _find_words(source: str, syntax: Syntax) -> Words:
    try:
        return words_of_tree(_parse_source(source, syntax))
    except (BadPattern, RecursionError):  # only RE2 itself can read it
        return NO_WORDS


def _needs_backtracking(node: RegexNode) -> bool:
    return isinstance(node, LookAround | BackReference) or any(_needs_backtracking(child) for child in children(node))


@lru_cache(1024)
def _pattern_cost(source: str, syntax: Syntax) -> PatternCost | None:
    try:
        tree = _parse_source(source, syntax)
    except BadPattern:
        return None
    return PatternCost(state_breadth(tree), max_match_width(tree))


def _may_match(engine: LinearEngine, data: bytes, shape: CostEstimator, limit: float) -> bool:
    now = time.perf_counter()
    try:
        return engine.search(data, shape, now + (limit - now) / 2)  # the rest is for the other engine
    except UndecidedError:
        return True
