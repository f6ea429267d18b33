"""The hooks for a recorded event: the ones in force then, today's, or those of named files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from hookline.cli.context import load_book, sources, trust
from hookline.config.problem import Problem, refuse_errors
from hookline.engine.book import Book
from hookline.errors import HooklineError
from hookline.record.hooks_then import load_hook_files, read_hook_files
from hookline.record.record_reader import Record
from hookline.record.segment import RecordDirectory


class RecordedHooks:
    """Loads each set of hooks once."""

    def __init__(self, directory: RecordDirectory, files: Sequence[str] = ()) -> None:
        self._directory = directory
        self._then: dict[str, Book] = {}
        self._now: dict[tuple[str, str], Book] = {}
        self._named = load_book(files, None, importing=False) if files else None
        if self._named is not None:
            refuse_errors(self._named.problems)

    def now(self, record: Record) -> Book:
        """The hooks that would decide today: the named files, or those of the directory in which the agent worked."""
        if self._named is not None:
            return self._named
        facts = record.get("facts")
        place = facts.get("cwd") if isinstance(facts, dict) else None
        key = (str(record.get("host", "")), place if isinstance(place, str) else "")
        if key not in self._now:
            self._now[key] = _load_now(*key)
        return self._now[key]

    def problems(self) -> list[Problem]:
        """Of today's hooks that were asked: a file that was changed since it was trusted decides as it did before."""
        books = self._now.values() if self._named is None else (self._named,)
        return [problem for book in books for problem in book.problems]

    def then(self, record: Record) -> Book:
        """The hooks that were in force; none if their texts are not kept any more."""
        digest = str(record.get("hooks", ""))
        if digest not in self._then:
            try:
                self._then[digest] = load_hook_files(read_hook_files(self._directory, digest))
            except HooklineError:
                self._then[digest] = Book()
        return self._then[digest]


def _load_now(host: str, directory: str) -> Book:
    from hookline.hosts.hooks_now import load_hooks_now

    return load_hooks_now(host, sources(Path(directory or "/")), trust())
