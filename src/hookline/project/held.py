"""What one file says, before anyone asked whether it is trusted."""

from __future__ import annotations

from dataclasses import dataclass

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity
from hookline.config.read import read_file
from hookline.dialects.dialect import Dialect
from hookline.dialects.table import dialect, recognise
from hookline.hooks.hook import Hook
from hookline.project.sources import Layering, Source


@dataclass(frozen=True, slots=True)
class Held:
    source: Source
    hooks: tuple[Hook, ...] = ()
    problems: tuple[Problem, ...] = ()
    dialect: str | None = None  # None: nobody could read it
    text: str = ""

    @property
    def good(self) -> bool:
        return all(problem.severity is not Severity.ERROR for problem in self.problems)


def read(source: Source) -> Held:
    """Never raises for what a file says, or for a file that cannot be read."""
    document, problems = read_file(source.path, source.shown)
    return Held(source, problems=problems) if document is None else said_in(document, source)


def said_in(document: Document, source: Source) -> Held:
    spoken = _dialect_of(document, source)
    if isinstance(spoken, Problem):
        return Held(source, problems=(spoken,))
    if spoken is None:
        return Held(source)
    loaded = spoken.load(document)
    return Held(source, loaded.hooks, loaded.problems, spoken.name, document.text)


def _dialect_of(document: Document, source: Source) -> Dialect | Problem | None:
    """None if another program's file merely stands where a dialect's may stand."""
    if source.dialect is None:
        return recognise(document)
    try:
        spoken = dialect(source.dialect)
    except KeyError as unknown:
        return Problem("unknown-dialect", document.file, 1, str(unknown.args[0]))
    by_place = source.layer is not Layering.NAMED
    return None if by_place and not spoken.recognises(document) else spoken
