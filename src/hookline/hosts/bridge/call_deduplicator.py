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
from hookline.errors import MustWait
from hookline.hosts.bridge.protocol import AgentCall
from hookline.lazy_dataclasses import dataclass

ENTRY_VARIABLE: Final = "HOOKLINE_ENTRY"
"""Set by a project's entry, so that it can be distinguished from the user's."""
_ENTRY_VARIABLE: Final = ENTRY_VARIABLE.encode()
_MAX_AGE: Final = 60.0  # seconds between the two calls: some agents run their hooks one after the other
_MAX_CALLS: Final = 256
_MAX_PAYLOAD: Final = 1_000_000  # bytes; a larger payload is decided each time it comes

DecideCallback = Callable[[], Awaitable[list[Decision]]]
CallKey = tuple[Path, str, str, bytes, str, tuple[bytes | None, ...]]
_PLACES: Final = tuple(f"{agent}_PROJECT_DIR".encode() for agent in ("CLAUDE", "COPILOT", "CURSOR", "GEMINI", "QWEN"))
"""They choose the hooks. An agent that calls the launcher itself, from elsewhere, must not decide its next call."""


@dataclass(frozen=True, slots=True)
class SharedDecisions:
    decisions: list[Decision]
    is_repeat: bool = False  # the other entry's call got these decisions too


@dataclass(slots=True)
class _SharedCall:
    entries: set[bytes]
    decisions: asyncio.Future[list[Decision]]
    begun: float


class CallDeduplicator:
    def __init__(self) -> None:
        self._known: OrderedDict[CallKey, _SharedCall] = OrderedDict()

    async def run(self, call: AgentCall, decide: DecideCallback) -> SharedDecisions:
        if len(call.payload) > _MAX_PAYLOAD:
            return SharedDecisions(await decide())
        key, entry = _call_key(call), call.environment.get(_ENTRY_VARIABLE, b"")
        shared = self._find_other(key, entry)
        if shared is not None:
            shared.entries.add(entry)
            decisions = await _await_decisions(shared)
            if decisions is not None:
                return SharedDecisions(decisions, is_repeat=True)
        shared = self._remember(key, entry)
        try:
            decided = await decide()
        except BaseException:
            shared.decisions.cancel()
            raise
        shared.decisions.set_result(decided)
        return SharedDecisions(decided)

    def run_now(self, call: AgentCall, decide: Callable[[], list[Decision]]) -> SharedDecisions:
        """Raises MustWait if the other call is still being decided, or if `decide` does; nothing is remembered then."""
        if len(call.payload) > _MAX_PAYLOAD:
            return SharedDecisions(decide())
        key, entry = _call_key(call), call.environment.get(_ENTRY_VARIABLE, b"")
        shared = self._find_other(key, entry)
        if shared is not None and not shared.decisions.done():
            raise MustWait("the same call is being decided")
        if shared is not None and not shared.decisions.cancelled():
            shared.entries.add(entry)
            return SharedDecisions(shared.decisions.result(), is_repeat=True)
        decided = decide()
        self._remember(key, entry).decisions.set_result(decided)
        return SharedDecisions(decided)

    def _find_other(self, key: CallKey, entry: bytes) -> _SharedCall | None:
        """The same call, if it came through the other entry and not long ago."""
        shared = self._known.get(key)
        if shared is None or entry in shared.entries or time.monotonic() - shared.begun >= _MAX_AGE:
            return None
        return shared

    def _remember(self, key: CallKey, entry: bytes) -> _SharedCall:
        shared = _SharedCall({entry}, asyncio.get_running_loop().create_future(), time.monotonic())
        self._evict_old()
        self._known[key] = shared
        return shared

    def _evict_old(self) -> None:
        old = time.monotonic() - _MAX_AGE
        while self._known and (len(self._known) >= _MAX_CALLS or next(iter(self._known.values())).begun < old):
            self._known.popitem(last=False)


def _call_key(call: AgentCall) -> CallKey:
    payload, places = hashlib.sha256(call.payload.strip()).digest(), tuple(map(call.environment.get, _PLACES))
    return call.user_directories.home, call.agent, call.event, payload, call.cwd, places


async def _await_decisions(shared: _SharedCall) -> list[Decision] | None:
    """None if the other call was cancelled or failed."""
    try:
        return await asyncio.shield(shared.decisions)
    except asyncio.CancelledError:
        if shared.decisions.cancelled():
            return None
        raise
