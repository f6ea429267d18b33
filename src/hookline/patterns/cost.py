"""How large a pattern is once its repetitions are written out, and how much work a text can make of it."""

from __future__ import annotations

from hookline.patterns.charset import EVERYTHING, NOTHING, Ranges, complement, disjoint, union
from hookline.patterns.tree import Chars, Choice, Edge, Group, Look, Node, Reference, Repeat, Sequence, children

_MOST_ALWAYS_BEGUN = 64
_RANGES_A_STEP = 16


def weight(node: Node) -> int:
    """How many steps the pattern has when every counted repetition is written out; a set of many ranges is many."""
    if isinstance(node, Chars):
        return 1 + len(node.ranges) // _RANGES_A_STEP
    inner = 1 + sum(weight(child) for child in children(node))
    if isinstance(node, Repeat):
        return inner * max(node.least, node.most or 1, 1)
    return inner


def width(node: Node) -> int | None:
    """The most characters that a match can take; None where there is no bound."""
    match node:
        case Chars():
            return 1
        case Edge() | Look():
            return 0
        case Reference():
            return None
        case Repeat():
            inner = width(node.part)
            return 0 if inner == 0 else None if inner is None or node.most is None else inner * node.most
        case Group(part):
            return width(part)
        case Sequence(parts):
            return _sum([width(part) for part in parts])
        case Choice(options):
            return None if any(width(option) is None for option in options) else max(width(o) or 0 for o in options)


def _sum(widths: list[int | None]) -> int | None:
    total = 0
    for one in widths:
        if one is None:
            return None
        total += one
    return total


def breadth(node: Node, before: Ranges | None = None, looped: bool = False) -> int:
    """How many places of the pattern a search may have to keep in mind independently of each other.

    A linear engine answers quickly from its table of states unless there are many such places: choices and wide sets
    of characters, repeated a counted number of times, that are entered anew while an earlier entry is still alive.
    before: the characters that may stand just before this part; None where it may begin anywhere.
    looped: the part is inside a repetition.
    """
    match node:
        case Chars():
            again = looped and before is not None and not disjoint(before, _ranges(node))
            return 1 if again or not _one_letter(node) else 0
        case Repeat():
            return _breadth_of_repeat(node, before, looped)
        case Choice(options):
            earlier = EVERYTHING if before is None else before
            return max(1, sum(breadth(option, earlier, looped) for option in options))
        case Sequence(parts):
            total = 0
            for part in parts:
                total += breadth(part, before, looped)
                before = _after(part, before)
            return total
        case _:
            return sum(breadth(child, before, looped) for child in children(node))


def _breadth_of_repeat(repeat: Repeat, before: Ranges | None, looped: bool) -> int:
    part = repeat.part
    while isinstance(part, Group):
        part = part.part
    always_begun = before is None and max(repeat.least, repeat.most or 1) <= _MOST_ALWAYS_BEGUN
    if isinstance(part, Chars) and (always_begun or (before is not None and disjoint(before, _ranges(part)))):
        return 1  # it is always begun, or never begun twice: how long it has gone on says everything
    inner = breadth(part, EVERYTHING if before is None else union(before, _ends(part)), looped or repeat.most != 1)
    once = inner if repeat.least == repeat.most else max(inner, 1)
    return once * max(repeat.least, repeat.most or 1, 1)


def _one_letter(chars: Chars) -> bool:
    if chars.properties or chars.negated or not chars.ranges:
        return False
    first = chr(chars.ranges[0][0]).casefold()
    size = sum(high - low + 1 for low, high in chars.ranges)
    return size <= 4 and all(
        chr(code).casefold() == first for low, high in chars.ranges for code in range(low, high + 1)
    )


def _ranges(chars: Chars) -> Ranges:
    if chars.properties:
        return EVERYTHING
    return complement(chars.ranges) if chars.negated else chars.ranges


def _may_be_empty(node: Node) -> bool:
    match node:
        case Chars():
            return False
        case Edge() | Look() | Reference():
            return True
        case Repeat():
            return node.least == 0 or _may_be_empty(node.part)
        case Choice(options):
            return any(_may_be_empty(option) for option in options)
        case _:
            return all(_may_be_empty(child) for child in children(node))


def _ends(node: Node) -> Ranges:
    """The characters that the part may end with."""
    match node:
        case Chars():
            return _ranges(node)
        case Reference():
            return EVERYTHING
        case Edge() | Look():
            return NOTHING
        case Sequence(parts):
            found: Ranges = NOTHING
            for part in reversed(parts):
                found = union(found, _ends(part))
                if not _may_be_empty(part):
                    break
            return found
        case _:
            return union(*(_ends(child) for child in children(node)))


def _after(part: Node, before: Ranges | None) -> Ranges:
    """What may stand before whatever follows the part."""
    if part is Edge.TEXT_START:
        return NOTHING
    if not _may_be_empty(part):
        return _ends(part)
    return EVERYTHING if before is None else union(_ends(part), before)
