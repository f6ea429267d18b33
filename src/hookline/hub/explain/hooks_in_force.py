"""The hooks for a recorded event: those in force then, and today's."""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import Final

from hookline.engine.book import Book
from hookline.errors import HooklineError
from hookline.hosts.hooks_now import load_hooks_now
from hookline.hub.store.book_table import BookTable
from hookline.record.hooks_then import load_hook_files
from hookline.record.record_reader import Record
from hookline.runtime.settings import Settings

_MAX_BOOKS: Final = 64
_FRESH_SECONDS: Final = 2.0  # files that were read this lately are not read again


class HooksInForce:
    def __init__(self, books: BookTable, settings: Callable[[], Settings]) -> None:
        self._books = books
        self._settings = settings
        self._then: OrderedDict[str, Book] = OrderedDict()
        self._now: OrderedDict[tuple[str, str], tuple[float, Book]] = OrderedDict()

    async def then(self, record: Record) -> Book:
        """Those that were in force; none if their texts are not here."""
        hash = str(record.get("hooks", ""))
        if hash not in self._then:
            try:
                files = await self._books.files(hash)
                self._then[hash] = await asyncio.to_thread(load_hook_files, files)
            except HooklineError:
                return Book()
        self._then.move_to_end(hash)
        while len(self._then) > _MAX_BOOKS:
            self._then.popitem(last=False)
        return self._then[hash]

    async def now(self, record: Record) -> Book:
        """Those of the files in the directory in which the agent worked, on this machine."""
        facts = record.get("facts")
        place = facts.get("cwd") if isinstance(facts, dict) else None
        return await self.of_directory(str(record.get("host", "")), place if isinstance(place, str) else "")

    async def of_directory(self, host: str, directory: str) -> Book:
        key = (host, directory)
        read_at, book = self._now.get(key, (0.0, Book()))
        if time.monotonic() - read_at > _FRESH_SECONDS:
            book = await asyncio.to_thread(self._load, host, directory)
            self._now[key] = (time.monotonic(), book)
        self._now.move_to_end(key)
        while len(self._now) > _MAX_BOOKS:
            self._now.popitem(last=False)
        return book

    def _load(self, host: str, directory: str) -> Book:
        settings = self._settings()
        place = Path(directory) if directory.startswith("/") and "\0" not in directory else Path("/")
        found = settings.trust.sources(place, settings.home, settings.env_path("XDG_CONFIG_HOME"))
        return load_hooks_now(host, found, settings.trust)
