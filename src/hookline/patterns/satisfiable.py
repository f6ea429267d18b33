"""Whether a pattern can match any text at all: `a^b` and `a$b` cannot."""

from __future__ import annotations

from hookline.lazy_dataclasses import dataclass, replace
from hookline.patterns.syntax_tree import (
    ALL_CHARACTERS,
    Alternation,
    Boundary,
    CharacterSet,
    Group,
    LookAround,
    RegexNode,
    Repeat,
    Sequence,
)


@dataclass(frozen=True, slots=True)
class _Position:
    """A place that a match may have come to."""

    is_after_text: bool = False
    is_at_end: bool = False


_Positions = frozenset[_Position]


def can_match(tree: RegexNode) -> bool:
    """False only if no text matches. It looks at the anchors and at empty sets, so True does not promise a match."""
    return bool(_advance(tree, frozenset((_Position(),))))


def _advance(node: RegexNode, start: _Positions) -> _Positions:
    """Where a match of the node that begins at one of these positions may end."""
    match node:
        case CharacterSet(ranges, properties, negated):
            if not properties and (ranges == ALL_CHARACTERS if negated else not ranges):
                return frozenset()
            return frozenset(_Position(is_after_text=True) for each in start if not each.is_at_end)
        case Boundary.TEXT_START:
            return frozenset(each for each in start if not each.is_after_text)
        case Boundary.TEXT_END:
            return frozenset(replace(each, is_at_end=True) for each in start)
        case Sequence(parts):
            for part in parts:
                start = _advance(part, start)
            return start
        case Alternation(options):
            return frozenset(each for option in options for each in _advance(option, start))
        case Repeat(part, least, most):
            return _repeat(part, least, most, start)
        case Group(part):
            return _advance(part, start)
        case LookAround(part=Sequence(parts=nothing), negative=True) if not nothing:
            return frozenset()
        case _:  # look-around and back-references: taken as possible
            return start


def _repeat(part: RegexNode, least: int, most: int | None, start: _Positions) -> _Positions:
    """Positions are known after two rounds: a third one reaches no other."""
    reached = start if least == 0 else frozenset[_Position]()
    for round in range(1, 3 if most is None else min(most, 2) + 1):
        start = _advance(part, start)
        if round >= min(least, 2):
            reached |= start
    return reached
