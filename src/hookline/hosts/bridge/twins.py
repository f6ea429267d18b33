"""One event that an agent tells by two entries, the user's and the project's, is decided once.

Both callers get the same decision, for nobody knows to which of them the agent listens. Two equal calls by the same
entry are two events.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hookline.engine.account import Decision
from hookline.hosts.bridge.call import Call

ENTRY: Final = "HOOKLINE_ENTRY"
"""The variable in which a project's entry says that it is one."""
_LONGEST: Final = 60.0  # seconds between the two: some agents run their hooks one after the other
_MOST: Final = 256
_LARGEST: Final = 1_000_000  # bytes of a payload; a larger one is decided as often as it comes

Deciding = Callable[[], Awaitable[list[Decision]]]
Key = tuple[Path, str, str, bytes]


@dataclass(frozen=True, slots=True)
class Shared:
    decisions: list[Decision]
    again: bool = False  # the other caller has heard it too


@dataclass(slots=True)
class _Twin:
    entries: set[str]
    decisions: asyncio.Future[list[Decision]]
    begun: float


class Twins:
    def __init__(self) -> None:
        self._known: OrderedDict[Key, _Twin] = OrderedDict()

    async def once(self, call: Call, decide: Deciding) -> Shared:
        if len(call.payload) > _LARGEST:
            return Shared(await decide())
        digest = hashlib.sha256(call.payload.strip()).digest()
        key, entry = (call.place.home, call.agent, call.event, digest), call.variable(ENTRY)
        twin = self._known.get(key)
        if twin is not None and entry not in twin.entries and time.monotonic() - twin.begun < _LONGEST:
            twin.entries.add(entry)
            heard = await _heard(twin)
            if heard is not None:
                return Shared(heard, again=True)
        return Shared(await self._first(key, entry, decide))

    async def _first(self, key: Key, entry: str, decide: Deciding) -> list[Decision]:
        twin = _Twin({entry}, asyncio.get_running_loop().create_future(), time.monotonic())
        self._forget()
        self._known[key] = twin
        try:
            decided = await decide()
        except BaseException:
            twin.decisions.cancel()
            raise
        twin.decisions.set_result(decided)
        return decided

    def _forget(self) -> None:
        old = time.monotonic() - _LONGEST
        while self._known and (len(self._known) >= _MOST or next(iter(self._known.values())).begun < old):
            self._known.popitem(last=False)


async def _heard(twin: _Twin) -> list[Decision] | None:
    """None where the other caller went away or failed."""
    try:
        return await asyncio.shield(twin.decisions)
    except asyncio.CancelledError:
        if twin.decisions.cancelled():
            return None
        raise
