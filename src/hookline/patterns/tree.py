"""What a pattern says, whichever syntax it was written in."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from hookline.patterns.charset import Ranges


class BadPattern(ValueError):
    """why: what is wrong, in words for the author; position: where in the source, if it is at one place."""

    def __init__(self, why: str, position: int | None = None) -> None:
        super().__init__(why if position is None else f"{why}, at character {position + 1}")
        self.why = why
        self.position = position


@dataclass(frozen=True, slots=True)
class Chars:
    """One character of a set. `properties` are written `\\p{Name}` or `\\P{Name}`, as RE2 and regex both read them."""

    ranges: Ranges
    properties: tuple[str, ...] = ()
    negated: bool = False


class Edge(Enum):
    TEXT_START = "start"
    TEXT_END = "end"
    LAST_LINE_END = "last line's end"  # Python's `$`: the text's end, or before a newline there
    WORD = "word"
    NOT_WORD = "not word"


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    options: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    part: Node
    least: int
    most: int | None
    lazy: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    part: Node
    number: int


@dataclass(frozen=True, slots=True)
class Look:
    part: Node
    ahead: bool
    negative: bool


@dataclass(frozen=True, slots=True)
class Reference:
    """The text of whichever of these groups took part."""

    groups: tuple[int, ...]
    any_case: bool
    unset_is_empty: bool


Node = Chars | Edge | Sequence | Choice | Repeat | Group | Look | Reference

EMPTY = Sequence(())


def sequence(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Sequence(tuple(parts))


def choice(options: list[Node]) -> Node:
    return options[0] if len(options) == 1 else Choice(tuple(options))


def children(node: Node) -> tuple[Node, ...]:
    match node:
        case Sequence(parts):
            return parts
        case Choice(options):
            return options
        case Repeat(part=part) | Group(part=part) | Look(part=part):
            return (part,)
        case _:
            return ()
