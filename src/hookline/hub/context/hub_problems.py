"""What does not work at this hub now. The bus tells when a problem begins and when it is over."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any

from hookline.hub.bus.event_bus import LIVE
from hookline.hub.store.outage_log import OutageLog


class HubProblems:
    def __init__(
        self,
        hub: str,
        publish: Callable[..., Awaitable[None]],
        run_in_background: Callable[[Coroutine[Any, Any, None]], None],
    ) -> None:
        self._hub = hub
        self._publish = publish
        self._run_in_background = run_in_background
        self._problems: dict[str, dict[str, Any]] = {}

    def list(self) -> list[dict[str, Any]]:
        """Those that are not over, oldest first."""
        return sorted(self._problems.values(), key=lambda each: each["since"])

    def watch(self, part: str, outage: OutageLog) -> None:
        outage.on_change = partial(self.set, part)

    def set(self, part: str, text: str) -> None:
        """The last text of each part counts; "" says that its problem is over."""
        known = self._problems.pop(part, None)
        now = time.time()
        if text:
            since = now if known is None else known["since"]
            self._problems[part] = {"hub": self._hub, "part": part, "text": text, "since": since, "over": False}
            self._run_in_background(self.tell("problem", self._problems[part]))
        elif known is not None:
            self._run_in_background(self.tell("problem", {**known, "over": True}))

    def report(self, part: str, text: str) -> None:
        """Something that stays as it is, so it is told once and not listed."""
        told = {"hub": self._hub, "part": part, "text": text, "since": time.time(), "over": False}
        self._run_in_background(self.tell("problem", told))

    async def tell(self, type: str, payload: dict[str, Any]) -> None:
        await self._publish(type, payload, rooms=(LIVE,))
