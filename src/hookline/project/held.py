"""What one file says, before anyone asked whether it is trusted."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity
from hookline.config.read import salvage_file
from hookline.dialects.dialect import Dialect, FolderDialect, Loaded, NamedFolder, Wanted
from hookline.dialects.table import dialect, recognise
from hookline.hooks.hook import Hook
from hookline.project.sources import Layering, Source


@dataclass(frozen=True, slots=True)
class HeldFolder:
    """A folder of code whose hooks belong to a file's, once it is imported."""

    spoken: FolderDialect
    path: Path
    shown: str
    line: int = 1  # of the file that names it

    def files(self) -> tuple[Path, ...]:
        """Raises HooklineError where there are more than it would ever import."""
        return self.spoken.files(self.path)

    def imported(self) -> Loaded:
        return self.spoken.import_folder(self.path, self.shown)


@dataclass(frozen=True, slots=True)
class Held:
    source: Source
    hooks: tuple[Hook, ...] = ()
    problems: tuple[Problem, ...] = ()
    dialect: str | None = None  # None: nobody could read it
    text: str = ""
    folders: tuple[HeldFolder, ...] = ()
    wants: tuple[Wanted, ...] = ()

    @property
    def good(self) -> bool:
        return all(problem.severity is not Severity.ERROR for problem in self.problems)


def read(source: Source) -> Held:
    """Never raises for what a file says, or for a file that cannot be read. Imports nothing."""
    folder = _named_folder(source)
    if folder is not None:
        seen = folder.spoken.look(folder.path, folder.shown)
        return Held(source, problems=seen, dialect=folder.spoken.name, folders=(folder,))
    document, problems = salvage_file(source.path, source.shown)
    return Held(source, problems=problems) if document is None else said_in(document, source)


def said_in(document: Document, source: Source) -> Held:
    spoken = _dialect_of(document, source)
    if isinstance(spoken, Problem):
        return Held(source, problems=(*document.damage, spoken))
    if spoken is None:
        return Held(source)
    loaded = spoken.load(document)
    folders, problems = _folders(loaded.folders, source)
    told = tuple(dict.fromkeys((*loaded.problems, *_elsewhere(document, loaded), *problems)))
    return Held(source, loaded.hooks, told, spoken.name, document.text, folders, loaded.wants)


def _elsewhere(document: Document, loaded: Loaded) -> list[Problem]:
    """Damage that the dialect did not come upon: no hook suffers from it, so the file is none the worse for us."""
    if not document.damage:
        return []
    harmful = set(loaded.problems)
    return [replace(each, severity=Severity.WARNING) for each in document.damage if each not in harmful]


def _named_folder(source: Source) -> HeldFolder | None:
    """Code that stands for itself, where its dialect reads such."""
    if source.dialect is None:
        return None
    try:
        spoken = dialect(source.dialect)
    except KeyError:
        return None
    if not isinstance(spoken, FolderDialect) or not spoken.reads(source.path):
        return None
    return HeldFolder(spoken, Path(os.path.abspath(source.path)), source.shown)


def _folders(named: tuple[NamedFolder, ...], source: Source) -> tuple[tuple[HeldFolder, ...], tuple[Problem, ...]]:
    found: list[HeldFolder] = []
    problems: list[Problem] = []
    for each in named:
        spoken = dialect(each.dialect)
        path = Path(os.path.abspath(source.path.parent / each.path))
        shown = os.path.join(os.path.dirname(source.shown), each.path)
        if source.project is not None and not path.is_relative_to(source.project):
            what = f"the folder {each.path} is outside of the project."
            problems.append(Problem("outside-project", source.shown, each.line, what, "Name a folder inside of it."))
        elif not path.is_dir():
            what = f"there is no folder {each.path} beside this file."
            problems.append(Problem("no-folder", source.shown, each.line, what, "Name a folder with Python files."))
        elif isinstance(spoken, FolderDialect):
            found.append(HeldFolder(spoken, path, shown, each.line))
            problems += spoken.look(path, shown)
    return tuple(found), tuple(problems)


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
