"""Matching gets 100 ms per event: wall-clock time first, then CPU time, so that load alone never triggers a guard."""

from __future__ import annotations

from time import perf_counter, thread_time
from typing import Final

MATCH_SECONDS: Final = 0.1  # for all matching of one event
WALL_SECONDS: Final = MATCH_SECONDS / 4  # on a busy machine, next to nothing is matched in it


class MatchBudget:
    """A quarter of MATCH_SECONDS in wall-clock time, then the other three in the thread's CPU time.

    CPU time is too expensive to read before the wall-clock time has run out.
    """

    __slots__ = ("_ends", "deadline")

    def __init__(self, deadline: float | None = None) -> None:
        """deadline: of the wall-clock part, if it has already started."""
        self.deadline = perf_counter() + WALL_SECONDS if deadline is None else deadline
        self._ends: float | None = None  # in the thread's CPU time

    def extend(self) -> bool:
        """Sets a new deadline and returns True if the old one passed, but not because of matching."""
        now = perf_counter()
        if now <= self.deadline:
            return False
        remaining = self.remaining()
        if remaining is None:
            remaining = self._set_remaining(MATCH_SECONDS * 3 / 4)
        if remaining <= 0:
            return False
        self.deadline = now + remaining
        return True

    def is_overdrawn(self) -> bool:
        """True once matching used twice its budget. Until then, quick conditions are still decided."""
        if perf_counter() <= self.deadline + MATCH_SECONDS or self.extend():
            return False
        remaining = self.remaining()
        return remaining is not None and remaining < -MATCH_SECONDS

    def remaining(self) -> float | None:
        """The CPU time that is left; None while only the wall clock counts."""
        return None if self._ends is None else self._ends - thread_time()

    def resume(self, waited: float, remaining: float | None) -> None:
        """Continues after `waited` seconds of other work; `remaining` is what was left before it."""
        self.deadline += waited
        if remaining is not None:
            self._set_remaining(remaining)

    def _set_remaining(self, remaining: float) -> float:
        self._ends = thread_time() + remaining
        return remaining
