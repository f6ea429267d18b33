"""A pattern that cannot hang: RE2 where it can say it, the regex module with a time limit where it cannot.

A text may be anything that a str can hold: see hookline.patterns.searchable for lone surrogates, which `.` and negated
sets match like any other character, and for JavaScript, which counts UTF-16 units.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache, partial
from typing import Any

from hookline.errors import Undecided
from hookline.patterns import javascript, native, python
from hookline.patterns.cost import breadth, weight, width
from hookline.patterns.emit import NotLinear, for_re2, for_re2_at_least, for_regex
from hookline.patterns.engines import BUDGET, Backtracking, Linear, Measured, Shape
from hookline.patterns.replace import replaced
from hookline.patterns.searchable import as_code_points, as_utf16_units
from hookline.patterns.tree import BadPattern, Look, Node, Reference, children

__all__ = ["BUDGET", "BadPattern", "Pattern", "Syntax", "Undecided", "pattern"]

LONGEST_SOURCE = 65_536
_MOST_STEPS = 4_000
_REMEMBERED = 16_384


class Syntax(Enum):
    NATIVE = "native"
    """RE2's, with look-around and back-references."""
    JAVASCRIPT = "javascript"
    """`new RegExp(source)` without flags."""
    PYTHON = "python"
    """`re`, as hookline.patterns.python reads it."""


@dataclass(frozen=True, slots=True)
class Built:
    """engine: the pattern itself, or beside backtracking what every match of it has."""

    linear: str | None
    needed: str | None
    engine: Linear | None
    backtracking: Backtracking | None


class Pattern:
    """A question about a text, made by pattern(). Equal to any other with the same source, syntax and reach.

    linear: RE2's source with the same meaning; None where RE2 cannot say it.
    needed: RE2's source for what is found wherever this pattern is; `linear` where there is one. An index that tests
    it on the text as UTF-8 misses nothing.
    """

    __slots__ = (
        "_anchor",
        "_backtracking",
        "_hash",
        "_linear",
        "_match",
        "_surely_quick",
        "linear",
        "needed",
        "source",
        "syntax",
        "whole",
    )

    source: str
    syntax: Syntax
    whole: bool
    linear: str | None
    needed: str | None
    _linear: Linear | None
    _backtracking: Backtracking | None
    _match: Any
    _anchor: Any
    _surely_quick: int
    _hash: int

    def __init__(self, source: str, syntax: Syntax, whole: bool, built: Built) -> None:
        hold, exact = object.__setattr__, built.engine if built.backtracking is None else None
        hold(self, "source", source)
        hold(self, "syntax", syntax)
        hold(self, "whole", whole)
        hold(self, "linear", built.linear)
        hold(self, "needed", built.needed)
        hold(self, "_linear", built.engine)
        hold(self, "_backtracking", built.backtracking)
        hold(self, "_match", exact and exact.match)
        hold(self, "_anchor", exact and exact.anchor)
        hold(self, "_surely_quick", exact.surely_quick if exact else -1)
        hold(self, "_hash", hash((source, syntax.value, whole)))  # asked for often, once for each index

    def search(self, text: str, deadline: float = math.inf) -> bool:
        """True if the pattern is found anywhere in text, or is the whole of it. Raises Undecided.

        deadline: a moment of time.perf_counter(). However far it is, a search ends about BUDGET seconds from now.
        """
        if len(text) <= self._surely_quick and text.isascii():
            data = text.encode()
            return self._match(self._anchor, data, 0, len(data))[0][0] >= 0  # type: ignore[no-any-return]
        return self._search_with_care(text, min(deadline, time.perf_counter() + BUDGET))

    def _search_with_care(self, text: str, limit: float) -> bool:
        data = as_utf16_units(text) if self.syntax is Syntax.JAVASCRIPT else as_code_points(text)
        shape = partial(_shape, self.source, self.syntax)
        if self._backtracking is None:
            assert self._linear is not None
            return self._linear.search(data, shape, limit)
        if self._linear and not _perhaps(self._linear, data, shape, limit):
            return False
        return self._backtracking.search(text if text.isascii() else data.decode(), limit)

    def replace(self, text: str, new: str, deadline: float = math.inf) -> str:
        """`text` with `new`, literally, wherever the pattern is found; an empty match replaces nothing.

        JavaScript's patterns are searched in UTF-16 units elsewhere, but here in characters. Raises Undecided.
        """
        return replaced(self._linear, self._backtracking, text, new, deadline)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Pattern does not change: {name}")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Pattern) and self._key() == other._key()

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"pattern({self.source!r}, {self.syntax}, whole={self.whole})"

    def _key(self) -> tuple[str, Syntax, bool]:
        return self.source, self.syntax, self.whole


@lru_cache(_REMEMBERED)
def pattern(source: str, syntax: Syntax = Syntax.NATIVE, *, whole: bool = False) -> Pattern:
    """Raises BadPattern, also for a pattern that is too large or too deep to be searched in time.

    whole: the whole text must match, not a part of it.
    """
    if len(source) > LONGEST_SOURCE:
        raise BadPattern(f"it is longer than {LONGEST_SOURCE} characters")
    built = _built_native(source, whole) if syntax is Syntax.NATIVE else _built(_tree(source, syntax), whole)
    return Pattern(source, syntax, whole, built)


def _tree(source: str, syntax: Syntax) -> Node:
    if syntax is Syntax.JAVASCRIPT:
        return javascript.parse(source)
    readable = as_code_points(source).decode()
    return python.parse(readable) if syntax is Syntax.PYTHON else native.parse(readable)


def _built_native(source: str, whole: bool) -> Built:
    try:
        return _linear(as_code_points(source).decode(), whole)
    except BadPattern as refusal:
        tree = _tree(source, Syntax.NATIVE)
        if not _needs_backtracking(tree) and "repetition size" not in refusal.why:
            raise
        return _backtracking(tree, whole)


def _built(tree: Node, whole: bool) -> Built:
    try:
        return _linear(for_re2(tree, whole=whole), whole)
    except (NotLinear, BadPattern):
        return _backtracking(tree, whole)


def _linear(source: str, whole: bool) -> Built:
    indexed = _indexable(source, whole)
    return Built(indexed, indexed, Linear(source, whole=whole), None)


def _backtracking(tree: Node, whole: bool) -> Built:
    if weight(tree) > _MOST_STEPS:
        raise BadPattern("its repetitions are too many to be searched in time")
    backtracking = Backtracking(for_regex(tree), whole=whole)
    needed = for_re2_at_least(tree)
    try:
        return Built(None, _indexable(needed, whole=False), Linear(needed, whole=whole), backtracking)
    except BadPattern:
        return Built(None, None, None, backtracking)


def _indexable(source: str, whole: bool) -> str | None:
    """None where the source names surrogates, which a text as UTF-8 does not have, or cannot be put in parentheses."""
    if not source.isascii() and any(0x10D7FF <= ord(character) <= 0x10E000 for character in source):
        return None
    if not whole:
        return source
    return None if r"\Q" in source else rf"\A(?:{source})\z"


def _needs_backtracking(node: Node) -> bool:
    return isinstance(node, Look | Reference) or any(_needs_backtracking(child) for child in children(node))


@lru_cache(1024)
def _shape(source: str, syntax: Syntax) -> Shape | None:
    try:
        tree = _tree(source, syntax)
    except BadPattern:
        return None
    return Shape(breadth(tree), width(tree))


def _perhaps(engine: Linear, data: bytes, shape: Measured, limit: float) -> bool:
    try:
        return engine.search(data, shape, limit)
    except Undecided:
        return True
