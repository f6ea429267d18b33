"""Decides an event once if the agent sends it through two entries, the user's and the project's.

Both callers get the same decision, because agents differ in which one they obey. Two equal calls through the same
entry are two events.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

from hookline.engine.decision import Decision
from hookline.hosts.bridge.protocol import AgentCall
from hookline.lazy_dataclasses import dataclass

ENTRY_VARIABLE: Final = "HOOKLINE_ENTRY"
"""Set by a project's entry, so that it can be distinguished from the user's."""
_MAX_AGE: Final = 60.0  # seconds between the two calls: some agents run their hooks one after the other
_MAX_CALLS: Final = 256
_MAX_PAYLOAD: Final = 1_000_000  # bytes; a larger payload is decided each time it comes

DecideCallback = Callable[[], Awaitable[list[Decision]]]
CallKey = tuple[Path, str, str, bytes]


@dataclass(frozen=True, slots=True)
class SharedDecisions:
    decisions: list[Decision]
    is_repeat: bool = False  # the other entry's call got these decisions too


@dataclass(slots=True)
class _SharedCall:
    entries: set[str]
    decisions: asyncio.Future[list[Decision]]
    begun: float


class CallDeduplicator:
    def __init__(self) -> None:
        self._known: OrderedDict[CallKey, _SharedCall] = OrderedDict()

    async def run(self, call: AgentCall, decide: DecideCallback) -> SharedDecisions:
        if len(call.payload) > _MAX_PAYLOAD:
            return SharedDecisions(await decide())
        digest = hashlib.sha256(call.payload.strip()).digest()
        key, entry = (call.user_directories.home, call.agent, call.event, digest), call.variable(ENTRY_VARIABLE)
        shared = self._known.get(key)
        if shared is not None and entry not in shared.entries and time.monotonic() - shared.begun < _MAX_AGE:
            shared.entries.add(entry)
            decisions = await _await_decisions(shared)
            if decisions is not None:
                return SharedDecisions(decisions, is_repeat=True)
        return SharedDecisions(await self._run_first(key, entry, decide))

    async def _run_first(self, key: CallKey, entry: str, decide: DecideCallback) -> list[Decision]:
        shared = _SharedCall({entry}, asyncio.get_running_loop().create_future(), time.monotonic())
        self._evict_old()
        self._known[key] = shared
        try:
            decided = await decide()
        except BaseException:
            shared.decisions.cancel()
            raise
        shared.decisions.set_result(decided)
        return decided

    def _evict_old(self) -> None:
        old = time.monotonic() - _MAX_AGE
        while self._known and (len(self._known) >= _MAX_CALLS or next(iter(self._known.values())).begun < old):
            self._known.popitem(last=False)


async def _await_decisions(shared: _SharedCall) -> list[Decision] | None:
    """None if the other call was cancelled or failed."""
    try:
        return await asyncio.shield(shared.decisions)
    except asyncio.CancelledError:
        if shared.decisions.cancelled():
            return None
        raise
