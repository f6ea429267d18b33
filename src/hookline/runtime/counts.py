"""How often a session's hooks have fired, for a store that other processes and machines read."""

from __future__ import annotations

from typing import Any

from hookline.engine.limits import Counts
from hookline.hooks.host import Clock


class StoredCounts(Counts):
    """Pauses are counted by a clock that begins anew with each machine; what is stored has the time of day."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self._clock = clock
        self._ahead = clock.wall() - clock.now()

    def saved(self, session: str) -> list[dict[str, Any]]:
        return [_moved(row, self._ahead) for row in super().saved(session)]

    def restore(self, session: str, saved: list[dict[str, Any]]) -> None:
        """What was stored by a clock that is ahead of ours has just been."""
        now = self._clock.now()
        rows = [_moved(row, -self._ahead) for row in saved]
        super().restore(session, [{**row, "last": _not_after(now, row["last"])} for row in rows])


def _moved(row: dict[str, Any], seconds: float) -> dict[str, Any]:
    return row if row["last"] is None else {**row, "last": row["last"] + seconds}


def _not_after(now: float, last: float | None) -> float | None:
    return None if last is None else min(last, now)
