"""Loads one damaged file as every way to start does, and says whether its guard was lost unseen."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import hookline
from config_mutations import CALL, GUARDED, Target, differences
from hookline.config.problem import errors_of
from hookline.config.reader import salvage_text
from hookline.engine.book import Book
from hookline.errors import ConfigError
from hookline.hooks.outcome import Verdict
from hookline.project import Source, Trust, find_sources, load_all, trust_file_path
from hookline.project.lint import lint_hooks
from hookline.project.parsed_file import read_source


class Trial:
    """A directory with the target's file, which its user trusts."""

    def __init__(self, target: Target, root: Path) -> None:
        self._target = target
        self.project, self._home = root / "project", root / "home"
        self.file = self.project / target.name
        self.file.parent.mkdir(parents=True)
        self._home.mkdir()
        self._trust = Trust(trust_file_path(self._home))

    def failures(self, data: bytes, *, closely: bool = False) -> Iterator[str]:
        """What is wrong with how a file with this content is treated; closely: also asks the slower ways to start."""
        self.file.write_bytes(data)
        sources = [replace(source, project=None) for source in find_sources(self.project, self._home)]
        book = load_all(sources, self._trust)
        is_refused, is_found = bool(errors_of(book.problems)), _check_finds_errors(sources)
        if is_found and not is_refused:
            yield "check finds an error, but a session starts"
        if is_refused and not is_found:
            yield "a session refuses the file, but check finds no error"
        if not is_refused and not guards(book) and not self._is_another_guard(data):
            yield "the guard is lost, and nobody says so"
        if closely and is_refused and _starts(self.file, self._target.dialect):
            yield "load or session accepts the file"

    def _is_another_guard(self, data: bytes) -> bool:
        """Nothing of the guard is left, or it differs only in what is its author's own choice."""
        marks = (GUARDED.encode(), b"no-rm")
        if not any(mark in data for mark in marks):
            return True
        document, _ = salvage_text(data, self._target.name)
        if document is None:
            return False
        changed = list(differences(self._target.value, document.value))
        return bool(changed) and all(path in self._target.other_guards for path in changed)


def guards(book: Book) -> bool:
    return asyncio.run(book.decide(CALL)).verdict >= Verdict.ASK


def _check_finds_errors(sources: list[Source]) -> bool:
    files = [read_source(source) for source in sources]
    found = [problem for file in files for problem in file.problems]
    return bool(errors_of([*found, *lint_hooks([hook for file in files for hook in file.hooks])]))


def _starts(file: Path, dialect: str) -> bool:
    with suppress(ConfigError):
        hookline.load(file, dialect)
        return True
    with suppress(ConfigError):
        hookline.session(file.parent, config=file)
        return True
    return False
