"""Loads and caches the hooks of the directories in which agents work."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol

from hookline.engine.book import Book
from hookline.engine.decision import Decision
from hookline.engine.limits import FireCounts
from hookline.engine.nested_calls import Decider
from hookline.errors import HooklineError, UnavailableError
from hookline.hooks.host import Host
from hookline.hooks.protocols import May
from hookline.hosts.agents.agent import DialectLayer, is_native
from hookline.hosts.bridge.call_deduplicator import CallDeduplicator, DecideCallback, SharedDecisions
from hookline.hosts.bridge.protocol import AgentCall, UserDirectories
from hookline.hosts.bridge.session_state import SessionStore
from hookline.lazy_dataclasses import dataclass, replace
from hookline.project import BookWatcher, Source, Trust, load_all, trust_file_path
from hookline.runners.local_host import LocalHost

_MAX_BOOKS: Final = 64
_MAX_SESSION_STORES: Final = 16
_POLL_INTERVAL: Final = 0.2  # seconds between two checks of the files
_FRESH_SECONDS: Final = 0.5  # seconds for which a check is valid
_IN_USE_SECONDS: Final = 60.0  # seconds after a call

log = logging.getLogger("hookline")


class CacheKey(NamedTuple):
    """A directory, its user, and the config layers that the agent runs itself."""

    directory: Path
    directories: UserDirectories
    excluded_layers: frozenset[DialectLayer] = frozenset()
    unread_files: tuple[str, ...] = ()  # of those layers, which the agent does not read
    run_by: str = ""  # the agent, if it ignores some hooks of those layers

    def sources(self) -> list[Source]:
        found = self.trust().sources(self.directory, self.directories.home, self.directories.config)
        if self.run_by:
            return [replace(each, run_by=self.run_by) if self._is_excluded(each) else each for each in found]
        return [source for source in found if not self._is_excluded(source)]

    def _is_excluded(self, source: Source) -> bool:
        return is_native(source, self.excluded_layers, self.unread_files)

    def trust(self) -> Trust:
        return Trust(trust_file_path(self.directories.home, self.directories.state))


@dataclass(frozen=True, slots=True)
class ReadableFiles:
    """What a model may read before it answers: the files of the workspace, where hooks allow it."""

    workspace: Path
    facts: dict[str, Any]  # of the session
    decider: Decider
    host: Host


class UserModel(Protocol):
    async def __call__(self, call: AgentCall, prompt: str, files: ReadableFiles | None = None) -> str:
        """Asks the model that the caller's user has named for hooks. Raises UnavailableError if there is none."""


async def no_model(call: AgentCall, prompt: str, files: ReadableFiles | None = None) -> str:
    raise UnavailableError("needs a model, and there is none here")


class Engine(Protocol):
    @property
    def local_host(self) -> LocalHost: ...
    @property
    def ask_model(self) -> UserModel: ...
    async def book(self, where: CacheKey) -> Book: ...
    def session_store(self, place: UserDirectories) -> SessionStore: ...
    async def decide_once(self, call: AgentCall, decide: DecideCallback) -> SharedDecisions:
        """Returns what `decide` returns, or the decisions of the same call if it already came through the agent's other entry."""


class LoadOnce:
    """Loads the hooks for one call, in a process that ends with it."""

    def __init__(self, ask_model: UserModel = no_model) -> None:
        self.local_host = LocalHost(FireCounts(), warm=False)
        self.ask_model = ask_model

    async def book(self, where: CacheKey) -> Book:
        return load_all(where.sources(), where.trust())

    def session_store(self, place: UserDirectories) -> SessionStore:
        return SessionStore(place.hookline_state / "sessions")

    async def decide_once(self, call: AgentCall, decide: DecideCallback) -> SharedDecisions:
        return SharedDecisions(await decide())


class GivenHooks(LoadOnce):
    """Has the hooks already: those of a command that runs them, and no others."""

    def __init__(self, book: Book, ask_model: UserModel = no_model) -> None:
        super().__init__(ask_model)
        self._book = book

    async def book(self, where: CacheKey) -> Book:
        return self._book


class HookCache:
    """Caches hooks by directory and checks their files: a change takes effect within half a second."""

    def __init__(self, ask_model: UserModel = no_model) -> None:
        self.local_host = LocalHost(FireCounts())
        self.ask_model = ask_model
        self._books: OrderedDict[CacheKey, _CachedBook] = OrderedDict()
        self._sessions: OrderedDict[UserDirectories, SessionStore] = OrderedDict()
        self._threads = ThreadPoolExecutor(4, "hookline-read")
        self._deduplicator = CallDeduplicator()
        self._asking: OrderedDict[int, tuple[Book, bool]] = OrderedDict()

    def may_ask(self, book: Book) -> bool:
        """Whether a hook of the book may want a person to look at a tool call."""
        known = self._asking.get(id(book))
        if known is None or known[0] is not book:
            found = any(hook.event == "tool.before" and hook.may & May.ASK for hook in book.hooks)
            known = self._asking[id(book)] = (book, found)
            _evict_oldest(self._asking, _MAX_BOOKS)
        return known[1]

    async def decide_once(self, call: AgentCall, decide: DecideCallback) -> SharedDecisions:
        return await self._deduplicator.run(call, decide)

    def decide_once_now(self, call: AgentCall, decide: Callable[[], list[Decision]]) -> SharedDecisions:
        """Like `decide_once`. Raises MustWait if that would have to wait."""
        return self._deduplicator.run_now(call, decide)

    def fresh_book(self, where: CacheKey) -> Book | None:
        """The hooks of a directory whose files have just been checked, as `poll_files` does for those in use."""
        kept = self._books.get(where)
        if kept is None:
            return None
        self._books.move_to_end(where)
        return kept.fresh_book()

    async def book(self, where: CacheKey) -> Book:
        kept = self._books.get(where)
        if kept is None:
            kept = self._books[where] = _CachedBook(where, self._threads)
            _evict_oldest(self._books, _MAX_BOOKS)
        self._books.move_to_end(where)
        return await kept.book()

    def session_store(self, place: UserDirectories) -> SessionStore:
        known = self._sessions.get(place)
        if known is None:
            known = self._sessions[place] = SessionStore(place.hookline_state / "sessions")
            known.delete_old()
            _evict_oldest(self._sessions, _MAX_SESSION_STORES)
        self._sessions.move_to_end(place)
        return known

    async def poll_files(self) -> None:
        """Checks the files of directories in use, so that no call has to wait for it. Runs until cancelled."""
        while True:
            await asyncio.sleep(_POLL_INTERVAL)
            for kept in [each for each in self._books.values() if each.is_in_use]:
                try:
                    await kept.refresh()
                except (OSError, HooklineError) as error:
                    log.debug("checking the config files failed: %s", error)

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class _CachedBook:
    """The hooks of one directory. Callers that arrive during a check share it."""

    def __init__(self, where: CacheKey, threads: ThreadPoolExecutor) -> None:
        self._where = where
        self._threads = threads
        self._watched: BookWatcher | None = None
        self._last_check = self._used = float("-inf")
        self._looking: asyncio.Future[Book] | None = None

    @property
    def is_in_use(self) -> bool:
        return time.monotonic() - self._used < _IN_USE_SECONDS

    async def book(self) -> Book:
        return self.fresh_book() or await self.refresh()

    def fresh_book(self) -> Book | None:
        self._used = time.monotonic()
        if self._watched is not None and self._used - self._last_check < _FRESH_SECONDS:
            return self._watched.book
        return None

    async def refresh(self) -> Book:
        if self._looking is None:
            self._looking = asyncio.get_running_loop().run_in_executor(self._threads, self._reload)
            self._looking.add_done_callback(self._clear_refresh)
        return await asyncio.shield(self._looking)

    def _reload(self) -> Book:
        begun = time.monotonic()
        if self._watched is None:
            self._watched = BookWatcher(self._where.sources, self._where.trust())
        else:
            self._watched.refresh()
        self._last_check = begun
        return self._watched.book

    def _clear_refresh(self, done: asyncio.Future[Book]) -> None:
        self._looking = None


def _evict_oldest(cache: OrderedDict[Any, Any], most: int) -> None:
    while len(cache) > most:
        cache.popitem(last=False)
