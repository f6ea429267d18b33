"""Parts of a file that cannot be read although the rest can: what stands in their place."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from hookline.config.problem import Problem


@dataclass(frozen=True, slots=True)
class Spoilt:
    """In the place of a value that nobody can read."""

    problem: Problem


class Torn(dict[str, Any]):
    """A mapping whose keys contradict each other: nobody can tell which of two values was meant.

    It keeps the shape of what was written, so that a file is recognised by it, but a Reader takes nothing out of it.
    """

    def __init__(self, value: dict[str, Any], problems: Iterable[Problem]) -> None:
        super().__init__(value)
        self.problems = tuple(problems)


def own_damage(value: Any) -> Sequence[Problem]:
    if type(value) is Torn:
        return value.problems
    return (value.problem,) if type(value) is Spoilt else ()


def damage_in(value: Any) -> tuple[Problem, ...]:
    """Of the value and of everything in it, each problem once."""
    found: dict[Problem, None] = {}
    seen: set[int] = set()
    waiting = [value]
    while waiting:
        each = waiting.pop()
        found |= dict.fromkeys(own_damage(each))
        if isinstance(each, (dict, list)) and id(each) not in seen:
            seen.add(id(each))
            waiting += each.values() if isinstance(each, dict) else each
    return tuple(found)
