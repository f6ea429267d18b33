"""A pattern that cannot hang: RE2 if it can express it, otherwise the regex module with a time limit.

A text may be any str. Lone surrogates match `.` and negated sets like any other character, and JavaScript counts UTF-16
units: see hookline.patterns.encoding.
"""

from __future__ import annotations

import itertools
import math
import time
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

    linear: str | None
    needed: str | None
    engine: LinearEngine | None
    backtracking: BacktrackingEngine | None


class Pattern:
    """Made by pattern(). Patterns with the same source, syntax and `whole` are equal.

    linear: RE2's source with the same meaning; None if RE2 cannot express it.
    prefilter: RE2's source that matches wherever this pattern does; equal to `linear` if there is one. An index that
    tests it on the text as UTF-8 misses nothing.
    """

    __slots__ = (
        "_anchor",
        "_backtracking",
        "_hash",
        "_linear",
        "_match",
        "_surely_quick",
        "linear",
        "prefilter",
        "source",
        "syntax",
        "whole",
    )

    source: str
    syntax: Syntax
    whole: bool
    linear: str | None
    prefilter: str | None
    _linear: LinearEngine | None
    _backtracking: BacktrackingEngine | None
    _match: Any
    _anchor: Any
    _surely_quick: int
    _hash: int

    def __init__(self, source: str, syntax: Syntax, whole: bool, built: CompiledPattern) -> None:
        set_slot, exact = object.__setattr__, built.engine if built.backtracking is None else None
        set_slot(self, "source", source)
        set_slot(self, "syntax", syntax)
        set_slot(self, "whole", whole)
        set_slot(self, "linear", built.linear)
        set_slot(self, "prefilter", built.needed)
        set_slot(self, "_linear", built.engine)
        set_slot(self, "_backtracking", built.backtracking)
        set_slot(self, "_match", exact and exact.match)
        set_slot(self, "_anchor", exact and exact.anchor)
        set_slot(self, "_surely_quick", exact.surely_quick if exact else -1)
        set_slot(self, "_hash", hash((source, syntax.value, whole)))  # hashed often, once for each index

    def search(self, text: str, deadline: float = math.inf) -> bool:
        """True if the pattern matches anywhere in the text; with `whole`, all of it. Raises UndecidedError.

        deadline: in time.perf_counter() seconds. In any case, a search ends about SEARCH_SECONDS from now.
        """
        if len(text) <= self._surely_quick and text.isascii():
            data = text.encode()
            return self._match(self._anchor, data, 0, len(data))[0][0] >= 0  # type: ignore[no-any-return]
        return self._search_within_limits(text, min(deadline, time.perf_counter() + SEARCH_SECONDS))

    def _search_within_limits(self, text: str, limit: float) -> bool:
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
        return replace_matches(self._linear, self._backtracking, text, new, deadline)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Pattern is immutable: {name}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self._key() == other._key()

    def __hash__(self) -> int:
        return self._hash

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
        return tuple(
            Pattern(to_regex(option), compiled.syntax, compiled.whole, _compile_tree(option, compiled.whole))
            for option in options
        )
    except BadPattern:
        return (compiled,)


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
    indexed = _index_source(source, whole)
    return CompiledPattern(indexed, indexed, LinearEngine(source, whole=whole), None)


def _compile_backtracking(tree: RegexNode, whole: bool) -> CompiledPattern:
    if expanded_size(tree) > _MAX_STEPS:
        raise BadPattern("it has too many repetitions to search in time")
    backtracking = BacktrackingEngine(to_regex(tree), whole=whole)
    needed = to_re2_superset(tree)
    try:
        return CompiledPattern(
            None, _index_source(needed, whole=False), LinearEngine(needed, whole=whole), backtracking
        )
    except BadPattern:
        return CompiledPattern(None, None, None, backtracking)


def _index_source(source: str, whole: bool) -> str | None:
    """None if the source names surrogates, which UTF-8 text does not have, or cannot be put in parentheses."""
    if not source.isascii() and any(0x10D7FF <= ord(character) <= 0x10E000 for character in source):
        return None
    if not whole:
        return source
    return None if r"\Q" in source else rf"\A(?:{source})\z"


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
    try:
        return engine.search(data, shape, limit)
    except UndecidedError:
        return True
