"""The hooks in force, asked about one proxy's calls: its session, from the first message to the last."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from hookline.engine.account import Decision
from hookline.engine.book import Book
from hookline.errors import MustWait
from hookline.hooks.event import Event
from hookline.hooks.outcome import Audience
from hookline.runners.here import Here

_log = logging.getLogger("hookline")

HOST: Final = "mcp"
_TIME_FOR_THE_END: Final = timedelta(seconds=5)


@dataclass(frozen=True, slots=True)
class Place:
    """Whose session it is, and where."""

    session: str
    user: str
    directory: Path


class Judge:
    def __init__(self, book: Callable[[], Book], place: Place) -> None:
        self._book = book
        self._place = place
        self._calls = 0
        self._begun: asyncio.Future[None] | None = None

    def begin(self) -> None:
        """The session starts. Calls wait for its hooks; everything else passes meanwhile."""
        self._begun = asyncio.ensure_future(self._start())

    async def end(self) -> None:
        """Whatever its hooks still do must not keep a client waiting that wants us gone."""
        if self._begun is not None and not self._begun.done():
            self._begun.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(_TIME_FOR_THE_END.total_seconds()):
                await self._book().decide(self.event("session.end"))
        host = self._book().host
        if isinstance(host, Here):
            await host.drain(_TIME_FOR_THE_END)

    def event(self, name: str, tool: dict[str, Any] | None = None) -> Event:
        place = str(self._place.directory)
        facts: dict[str, Any] = {
            "host": {"name": HOST},
            "session": {"id": self._place.session, "tool_calls": self._calls},
            "user": {"name": self._place.user},
            "cwd": place,
            "workspace": place,
            "time": datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z"),
        }
        return Event(name, facts if tool is None else {**facts, "tool": tool})

    def count_call(self) -> None:
        self._calls += 1

    def decided_now(self, event: Event) -> Decision | None:
        """None if it has to be waited for."""
        if self._begun is not None and not self._begun.done():
            return None
        try:
            return self._book().decide_now(event)
        except MustWait:
            return None

    async def decided(self, event: Event) -> Decision:
        if self._begun is not None:
            await asyncio.shield(self._begun)
        return await self._book().decide(event)

    async def _start(self) -> None:
        decision = await self._book().decide(self.event("session.start"))
        for note in decision.notes:
            if note.audience is Audience.AGENT:
                _log.info("a note for the agent at the session's start has no place here: %s", note.text)
            else:
                _log.info("%s", note.text)
