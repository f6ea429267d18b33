"""How often each hook ran, whether it decided something or not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final, NamedTuple

from hookline.hub.store.decision_table import DecisionTable
from hookline.hub.store.record_line import searched_name
from hookline.record.record_reader import Record

_MAX_RECORDS: Final = 100_000  # that are read when somebody asks for the first time
_MAX_HOOKS: Final = 10_000  # names come from hosts


class Fires(NamedTuple):
    ran: int
    last: float | None

    def as_json(self) -> dict[str, Any]:
        return {"fires": self.ran, "last_fire": self.last}


NEVER: Final = Fires(0, None)


class HookFires:
    """Of the last 100,000 decisions in which a hook took part, and of all later ones: each record is read once."""

    def __init__(self, decisions: DecisionTable) -> None:
        self._decisions = decisions
        self._fires: dict[str, Fires] = {}  # by a hook's name as it is searched
        self._read_until = 0
        self._reading = asyncio.Lock()

    async def count(self) -> CountedFires:
        async with self._reading:
            newest, left = self._read_until, _MAX_RECORDS
            async for found in self._decisions.with_hooks(after=self._read_until):
                await asyncio.to_thread(self._add, [each.record for each in found])
                newest, left = max(newest, found[0].sequence), left - len(found)
                if left <= 0:
                    break
            self._read_until = newest
        return CountedFires(self._fires)

    def _add(self, records: Iterable[Record]) -> None:
        for record in records:
            hooks = [record, *record.get("trace", ())]
            at = min(datetime.fromisoformat(record["at"]).timestamp(), time.time())  # a host's clock may be ahead
            for name in {searched_name(each.get("hook")) for each in hooks} - {""}:
                if name in self._fires or len(self._fires) < _MAX_HOOKS:
                    ran, last = self._fires.get(name, NEVER)
                    self._fires[name] = Fires(ran + 1, max(at, last or 0.0))


class CountedFires:
    def __init__(self, fires: dict[str, Fires]) -> None:
        self._fires = fires

    def of(self, hook: str) -> Fires:
        """Of all hooks with this id."""
        return self._fires.get(searched_name(hook), NEVER)
