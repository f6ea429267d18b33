"""The hooks in force where an agent works, and the machine that runs them."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from hookline.engine.book import Book
from hookline.engine.limits import Counts
from hookline.hosts.bridge.call import Place
from hookline.hosts.bridge.sessions import Sessions
from hookline.project import Source, Trust, Watched, find, load_all, state_file
from hookline.runners.here import Here

_MOST_BOOKS: Final = 64
_MOST_PLACES: Final = 16
_FRESH: Final = 0.1  # seconds for which a look at the files counts


@dataclass(frozen=True, slots=True)
class Where:
    """A session's directory, whose session it is, and the dialects whose files are left to the agent."""

    directory: Path
    place: Place
    without: frozenset[str] = frozenset()

    def sources(self) -> list[Source]:
        found = find(self.directory, self.place.home, self.place.config)
        return [source for source in found if source.dialect not in self.without]

    def trust(self) -> Trust:
        return Trust(state_file(self.place.home, self.place.state))


class Engine(Protocol):
    @property
    def here(self) -> Here: ...
    async def book(self, where: Where) -> Book: ...
    def sessions(self, place: Place) -> Sessions: ...


class Cold:
    """For one call, in a process that ends with it."""

    def __init__(self) -> None:
        self.here = Here(Counts(), warm=False)

    async def book(self, where: Where) -> Book:
        return load_all(where.sources(), where.trust())

    def sessions(self, place: Place) -> Sessions:
        return Sessions(place.kept / "sessions")


class Warm:
    """Keeps what the last calls needed. Files are looked at for each call, so a change counts for the next one."""

    def __init__(self) -> None:
        self.here = Here(Counts())
        self._books: OrderedDict[Where, _Kept] = OrderedDict()
        self._sessions: OrderedDict[Place, Sessions] = OrderedDict()
        self._threads = ThreadPoolExecutor(4, "hookline-read")

    async def book(self, where: Where) -> Book:
        kept = self._books.get(where)
        if kept is None:
            kept = self._books[where] = _Kept(where)
            _shorten(self._books, _MOST_BOOKS)
        self._books.move_to_end(where)
        return await kept.book(self._threads)

    def sessions(self, place: Place) -> Sessions:
        known = self._sessions.get(place)
        if known is None:
            known = self._sessions[place] = Sessions(place.kept / "sessions")
            known.sweep()
            _shorten(self._sessions, _MOST_PLACES)
        self._sessions.move_to_end(place)
        return known

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class _Kept:
    """One directory's hooks. Callers who come during a look share it; those who come later want another."""

    def __init__(self, where: Where) -> None:
        self._where = where
        self._watched: Watched | None = None
        self._looked = float("-inf")
        self._looking: asyncio.Future[Watched] | None = None

    async def book(self, threads: ThreadPoolExecutor) -> Book:
        loop = asyncio.get_running_loop()
        if self._watched is not None and loop.time() - self._looked < _FRESH:
            return self._watched.book
        if self._looking is None:
            self._looking = loop.run_in_executor(threads, self._look)
            self._looking.add_done_callback(partial(self._done, loop.time()))
        return (await asyncio.shield(self._looking)).book

    def _look(self) -> Watched:
        if self._watched is None:
            return Watched(self._where.sources, self._where.trust())
        self._watched.look()
        return self._watched

    def _done(self, begun: float, done: asyncio.Future[Watched]) -> None:
        self._looking = None
        if not done.cancelled() and done.exception() is None:
            self._watched, self._looked = done.result(), begun


def _shorten(held: OrderedDict[Where, _Kept] | OrderedDict[Place, Sessions], most: int) -> None:
    while len(held) > most:
        held.popitem(last=False)
