"""The end of the time for matching, so that no fact is large enough to delay a decision.

Whoever walks through the items of a fact walks through `in_time`. What is raised then leaves the condition undecided: a
guard holds, any other hook counts as its on_error says.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import Final, TypeVar

from hookline.errors import UndecidedError

NO_DEADLINE: Final = math.inf
SLOW: Final = 16
"""For items that take microseconds each: how many of them come between two looks at the clock."""
_QUICK: Final = 256

_T = TypeVar("_T")


def in_time(items: Iterable[_T], deadline: float, every: int = _QUICK) -> Iterable[_T]:
    """The items. Raises UndecidedError once the deadline has passed, but never for a few items: they cost little."""
    if deadline == NO_DEADLINE or (isinstance(items, (tuple, list, dict)) and len(items) < every):
        return items
    return _check_between(items, deadline, every)


def _check_between(items: Iterable[_T], deadline: float, every: int) -> Iterator[_T]:
    for number, item in enumerate(items, 1):
        if number % every == 0 and perf_counter() > deadline:
            raise UndecidedError
        yield item


def pop_in_time(todo: list[_T], deadline: float) -> Iterator[_T]:
    """Takes the last item until none is left, those that are added meanwhile included. Raises like in_time."""
    number = 0
    while todo:
        number += 1
        if number % _QUICK == 0 and perf_counter() > deadline:
            raise UndecidedError
        yield todo.pop()
