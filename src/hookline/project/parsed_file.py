"""What one file says, before anyone asked whether it is trusted."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity
from hookline.config.reader import salvage_file
from hookline.dialects.dialect import (
    Capability,
    Dialect,
    FolderDialect,
    LoadResult,
    NamedFolder,
    get_dialect,
    recognise_dialect,
)
from hookline.hooks.hook import Hook
from hookline.project.sources import Source, SourceLayer


@dataclass(frozen=True, slots=True)
class CodeFolder:
    """A folder of code whose hooks belong to a file's, once it is imported."""

    dialect: FolderDialect
    path: Path
    display_path: str
    line: int = 1  # of the file that names it

    def files(self) -> tuple[Path, ...]:
        """Raises HooklineError where there are more than it would ever import."""
        return self.dialect.files(self.path)

    def import_hooks(self) -> LoadResult:
        return self.dialect.import_folder(self.path, self.display_path)


@dataclass(frozen=True, slots=True)
class ParsedFile:
    source: Source
    hooks: tuple[Hook, ...] = ()
    problems: tuple[Problem, ...] = ()
    dialect: str | None = None  # None: nobody could read it
    text: str = ""
    folders: tuple[CodeFolder, ...] = ()
    capabilities: tuple[Capability, ...] = ()

    @property
    def is_valid(self) -> bool:
        return all(problem.severity is not Severity.ERROR for problem in self.problems)


def read_source(source: Source) -> ParsedFile:
    """Never raises for what a file says, or for a file that cannot be read. Imports nothing."""
    folder = _code_folder(source)
    if folder is not None:
        seen = folder.dialect.check(folder.path, folder.display_path)
        return ParsedFile(source, problems=seen, dialect=folder.dialect.name, folders=(folder,))
    document, problems = salvage_file(source.path, source.display_path)
    return ParsedFile(source, problems=problems) if document is None else parse_document(document, source)


def parse_document(document: Document, source: Source) -> ParsedFile:
    spoken = _choose_dialect(document, source)
    if isinstance(spoken, Problem):
        return ParsedFile(source, problems=(*document.syntax_problems, spoken))
    if spoken is None:
        return ParsedFile(source)
    loaded = spoken.load(document)
    folders, problems = _find_folders(loaded.folders, source)
    told = tuple(dict.fromkeys((*loaded.problems, *_downgrade_unrelated(document, loaded), *problems)))
    return ParsedFile(source, loaded.hooks, told, spoken.name, document.text, folders, loaded.capabilities)


def _downgrade_unrelated(document: Document, loaded: LoadResult) -> list[Problem]:
    """Damage that the dialect did not come upon: no hook suffers from it, so the file is none the worse for us."""
    if not document.syntax_problems:
        return []
    harmful = set(loaded.problems)
    return [replace(each, severity=Severity.WARNING) for each in document.syntax_problems if each not in harmful]


def _code_folder(source: Source) -> CodeFolder | None:
    """Code that stands for itself, where its dialect reads such."""
    if source.dialect is None:
        return None
    try:
        spoken = get_dialect(source.dialect)
    except KeyError:
        return None
    if not isinstance(spoken, FolderDialect) or not spoken.accepts(source.path):
        return None
    return CodeFolder(spoken, Path(os.path.abspath(source.path)), source.display_path)


def _find_folders(named: tuple[NamedFolder, ...], source: Source) -> tuple[tuple[CodeFolder, ...], tuple[Problem, ...]]:
    found: list[CodeFolder] = []
    problems: list[Problem] = []
    for each in named:
        spoken = get_dialect(each.dialect)
        path = Path(os.path.abspath(source.path.parent / each.path))
        shown = os.path.join(os.path.dirname(source.display_path), each.path)
        if source.project is not None and not path.is_relative_to(source.project):
            what = f"the folder {each.path} is outside of the project."
            problems.append(
                Problem("outside-project", source.display_path, each.line, what, "Name a folder inside of it.")
            )
        elif not path.is_dir():
            what = f"there is no folder {each.path} beside this file."
            problems.append(
                Problem("no-folder", source.display_path, each.line, what, "Name a folder with Python files.")
            )
        elif isinstance(spoken, FolderDialect):
            found.append(CodeFolder(spoken, path, shown, each.line))
            problems += spoken.check(path, shown)
    return tuple(found), tuple(problems)


def _choose_dialect(document: Document, source: Source) -> Dialect | Problem | None:
    """None if another program's file merely stands where a dialect's may stand."""
    if source.dialect is None:
        return recognise_dialect(document)
    try:
        spoken = get_dialect(source.dialect)
    except KeyError as unknown:
        return Problem("unknown-dialect", document.file, 1, str(unknown.args[0]))
    by_place = source.layer is not SourceLayer.NAMED
    return None if by_place and not spoken.recognises(document) else spoken
