"""The hooks in force where an agent works, and the machine that runs them."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from hookline.engine.book import Book
from hookline.engine.limits import Counts
from hookline.errors import HooklineError
from hookline.hosts.agent import Files
from hookline.hosts.bridge.call import Call, Place
from hookline.hosts.bridge.sessions import Sessions
from hookline.hosts.bridge.twins import Deciding, Shared, Twins
from hookline.project import Source, Trust, Watched, find, load_all, state_file
from hookline.runners.here import Here

_MOST_BOOKS: Final = 64
_MOST_PLACES: Final = 16
_LOOK: Final = 0.2  # seconds between two looks at the files
_FRESH: Final = 0.5  # seconds for which a look counts
_IN_USE: Final = 60.0  # seconds after a call

log = logging.getLogger("hookline")


@dataclass(frozen=True, slots=True)
class Where:
    """A session's directory, whose session it is, and the files that are left to the agent."""

    directory: Path
    place: Place
    without: frozenset[Files] = frozenset()

    def sources(self) -> list[Source]:
        found = find(self.directory, self.place.home, self.place.config)
        return [source for source in found if (source.dialect, source.layer) not in self.without]

    def trust(self) -> Trust:
        return Trust(state_file(self.place.home, self.place.state))


class Engine(Protocol):
    @property
    def here(self) -> Here: ...
    async def book(self, where: Where) -> Book: ...
    def sessions(self, place: Place) -> Sessions: ...
    async def once(self, call: Call, decide: Deciding) -> Shared:
        """What `decide` says; or what it has just said of the same call, which came by another entry of the agent."""


class Cold:
    """For one call, in a process that ends with it."""

    def __init__(self) -> None:
        self.here = Here(Counts(), warm=False)

    async def book(self, where: Where) -> Book:
        return load_all(where.sources(), where.trust())

    def sessions(self, place: Place) -> Sessions:
        return Sessions(place.kept / "sessions")

    async def once(self, call: Call, decide: Deciding) -> Shared:
        return Shared(await decide())


class Warm:
    """Keeps what the last calls needed, and keeps looking at the files: a change counts within half a second."""

    def __init__(self) -> None:
        self.here = Here(Counts())
        self._books: OrderedDict[Where, _Kept] = OrderedDict()
        self._sessions: OrderedDict[Place, Sessions] = OrderedDict()
        self._threads = ThreadPoolExecutor(4, "hookline-read")
        self._twins = Twins()

    async def once(self, call: Call, decide: Deciding) -> Shared:
        return await self._twins.once(call, decide)

    async def book(self, where: Where) -> Book:
        kept = self._books.get(where)
        if kept is None:
            kept = self._books[where] = _Kept(where, self._threads)
            _shorten(self._books, _MOST_BOOKS)
        self._books.move_to_end(where)
        return await kept.book()

    def sessions(self, place: Place) -> Sessions:
        known = self._sessions.get(place)
        if known is None:
            known = self._sessions[place] = Sessions(place.kept / "sessions")
            known.sweep()
            _shorten(self._sessions, _MOST_PLACES)
        self._sessions.move_to_end(place)
        return known

    async def keep_looking(self) -> None:
        """Where agents are at work, so that none of their calls has to wait for it. Never ends by itself."""
        while True:
            await asyncio.sleep(_LOOK)
            for kept in [each for each in self._books.values() if each.in_use]:
                try:
                    await kept.look()
                except (OSError, HooklineError) as error:
                    log.debug("a look at the files failed: %s", error)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class _Kept:
    """One directory's hooks. Whoever comes during a look shares it."""

    def __init__(self, where: Where, threads: ThreadPoolExecutor) -> None:
        self._where = where
        self._threads = threads
        self._watched: Watched | None = None
        self._looked = self._used = float("-inf")
        self._looking: asyncio.Future[Book] | None = None

    @property
    def in_use(self) -> bool:
        return time.monotonic() - self._used < _IN_USE

    async def book(self) -> Book:
        self._used = time.monotonic()
        if self._watched is not None and self._used - self._looked < _FRESH:
            return self._watched.book
        return await self.look()

    async def look(self) -> Book:
        if self._looking is None:
            self._looking = asyncio.get_running_loop().run_in_executor(self._threads, self._look)
            self._looking.add_done_callback(self._done)
        return await asyncio.shield(self._looking)

    def _look(self) -> Book:
        begun = time.monotonic()
        if self._watched is None:
            self._watched = Watched(self._where.sources, self._where.trust())
        else:
            self._watched.look()
        self._looked = begun
        return self._watched.book

    def _done(self, done: asyncio.Future[Book]) -> None:
        self._looking = None


def _shorten(held: OrderedDict[Where, _Kept] | OrderedDict[Place, Sessions], most: int) -> None:
    while len(held) > most:
        held.popitem(last=False)
