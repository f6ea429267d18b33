"""One hook file as it was read, before trust is checked."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity, errors_of
from hookline.config.reader import salvage_file
from hookline.dialects.dialect import (
    CONFIG_LOCATIONS,
    DIALECT_NAMES,
    Capability,
    Dialect,
    ExtendableDialect,
    FolderDialect,
    LoadResult,
    NamedFolder,
    get_dialect,
    recognise_dialect,
)
from hookline.errors import HooklineError
from hookline.hooks.hook import Hook
from hookline.hooks.record_settings import RecordSettings
from hookline.lazy_dataclasses import dataclass, field, replace
from hookline.lazy_imports import lazy_class, lazy_module
from hookline.project.sources import Source, SourceLayer
from hookline.project.usual_conditions import is_usual

if TYPE_CHECKING:
    from hookline.hooks.actions.run_program import RunProgram
    from hookline.project import condition_lint
    from hookline.project.packs import PackFile
else:
    condition_lint = lazy_module("hookline.project.condition_lint")
    RunProgram = lazy_class("hookline.hooks.actions.run_program", "RunProgram")


@dataclass(frozen=True, slots=True)
class CodeFolder:
    """A folder of code that a file names. Importing it adds its hooks to those of the file."""

    dialect: FolderDialect
    path: Path
    display_path: str
    line: int = 1  # of the file that names it

    def files(self) -> tuple[Path, ...]:
        """Raises HooklineError if there are more files than may be imported."""
        return self.dialect.files(self.path)


def read_folders(folders: Sequence[CodeFolder]) -> LoadResult:
    """The hooks of the folders that one file names, as far as they can be read without importing anything."""
    return _join([dialect.read_folders(each) for dialect, each in _by_dialect(folders)])


def import_folders(folders: Sequence[CodeFolder]) -> LoadResult:
    """Runs the code of the folders that one file names."""
    return _join([dialect.import_folders(each) for dialect, each in _by_dialect(folders)])


def _by_dialect(folders: Sequence[CodeFolder]) -> list[tuple[FolderDialect, list[tuple[Path, str]]]]:
    found: dict[str, tuple[FolderDialect, list[tuple[Path, str]]]] = {}
    for folder in folders:
        found.setdefault(folder.dialect.name, (folder.dialect, []))[1].append((folder.path, folder.display_path))
    return list(found.values())


def _join(loaded: Sequence[LoadResult]) -> LoadResult:
    hooks = tuple(hook for each in loaded for hook in each.hooks)
    return LoadResult(hooks, tuple(problem for each in loaded for problem in each.problems))


@dataclass(frozen=True, slots=True)
class ParsedFile:
    source: Source
    hooks: tuple[Hook, ...] = ()
    problems: tuple[Problem, ...] = ()
    dialect: str | None = None  # None: it could not be read
    text: str = ""
    folders: tuple[CodeFolder, ...] = ()
    capabilities: tuple[Capability, ...] = ()
    has_readable_hooks: bool = True
    closes_on_problem: bool = False
    record: RecordSettings | None = None
    packs: tuple[PackFile, ...] = ()  # the packs that it extends, and those that they extend
    document: Document | None = field(default=None, compare=False, repr=False)  # if the caller reads more than hooks

    @property
    def is_valid(self) -> bool:
        return not self.errors

    @property
    def errors(self) -> list[Problem]:
        return errors_of(self.problems)

    @property
    def is_unreadable(self) -> bool:
        """True if nobody can say which hooks the file has. A file of another program has no problems."""
        return not self.is_valid and (self.dialect is None or not self.has_readable_hooks)


def read_source(source: Source, *, with_document: bool = False) -> ParsedFile:
    """Never raises: an unreadable or wrong file becomes problems. Imports nothing.

    A document is large: keep it only for as long as something else is read from it.
    """
    folder = _code_folder(source)
    if folder is not None:
        problems = (*folder.dialect.check(folder.path, folder.display_path), *read_folders([folder]).problems)
        return ParsedFile(source, problems=problems, dialect=folder.dialect.name, folders=(folder,))
    unnamed = _unnamed_folder_problem(source)
    if unnamed is not None:
        return ParsedFile(source, problems=(unnamed,))
    document, problems = salvage_file(source.path, source.display_path)
    if document is None and source.run_by:
        return ParsedFile(source)
    if document is None:
        return ParsedFile(source, problems=problems)
    parsed = parse_document(document, source)
    return replace(parsed, document=document) if with_document else parsed


def parse_document(
    document: Document, source: Source, *, must_exist: bool = True, pack_texts: Mapping[str, str] | None = None
) -> ParsedFile:
    """With `must_exist=False`, folders of code count even if they are gone. With `pack_texts`, these are its packs."""
    dialect = _choose_dialect(document, source)
    if isinstance(dialect, Problem):
        return ParsedFile(source, problems=(*document.syntax_problems, dialect))
    if dialect is None:
        return ParsedFile(source)
    loaded, packs = _load(dialect, document, source, pack_texts)
    if source.run_by:
        loaded = _leave_to_agent(loaded, source.run_by)
    folders, problems = _find_folders(loaded.folders, source, must_exist)
    wrong = (*_check_named_dialect(document, source, dialect, loaded), *_check_own_keys(document, source, loaded))
    active = [hook for hook in loaded.hooks if hook.enabled]
    unusual = [hook for hook in active if not is_usual(hook.when)]
    dead = [problem for hook in unusual for problem in condition_lint.errors_in_condition(hook)]
    programs = [hook for hook in active if isinstance(hook.then, RunProgram)]
    if programs:
        from hookline.project.program_lint import blank_command_error

        dead += [problem for hook in programs if (problem := blank_command_error(hook)) is not None]
    if dead:
        from hookline.project.problem_lines import place_problems

        dead = place_problems(dead, document, loaded.hooks)
    found = (*loaded.problems, *wrong, *_downgrade_unrelated(document, loaded), *problems, *dead)
    all_problems = tuple(dict.fromkeys(found))
    return ParsedFile(
        source,
        loaded.hooks,
        all_problems,
        dialect.name,
        document.text,
        folders,
        loaded.capabilities,
        loaded.is_readable,
        loaded.closes_on_problem,
        loaded.record,
        packs,
    )


def _load(
    dialect: Dialect, document: Document, source: Source, pack_texts: Mapping[str, str] | None
) -> tuple[LoadResult, tuple[PackFile, ...]]:
    if not isinstance(dialect, ExtendableDialect) or not dialect.pack_references(document):
        return dialect.load(document), ()
    from hookline.project.packs import PackReader

    reader = PackReader(dialect, source, pack_texts)
    packs = reader.read(document)
    return dialect.load_extended(document, packs), reader.files


def _check_own_keys(document: Document, source: Source, loaded: LoadResult) -> list[Problem]:
    """A warning for each key with which a project's file decides what only the user's own file can decide."""
    if source.layer not in (SourceLayer.PROJECT, SourceLayer.LOCAL):
        return []
    used = {"on_problem": loaded.closes_on_problem, "record": loaded.record is not None}
    hint = "Write it into ~/.config/hookline/hookline.yaml."
    return [
        Problem(
            "ignored",
            document.file,
            document.key_line((key,)),
            f"{key} has no effect in a project's file: only your own file decides this.",
            hint,
            Severity.WARNING,
        )
        for key, is_used in used.items()
        if is_used
    ]


def _check_named_dialect(
    document: Document, source: Source, dialect: Dialect, loaded: LoadResult
) -> tuple[Problem, ...]:
    """A problem if the dialect that the user named reads nothing from a file that is plainly another's."""
    if source.dialect is None or source.layer is not SourceLayer.NAMED or loaded.hooks or loaded.problems:
        return ()
    if loaded.folders or loaded.capabilities or not document.value or dialect.recognises(document):
        return ()
    other = recognise_dialect(document)
    if isinstance(other, Problem):
        what = f"{dialect.name} reads no hooks from this file."
        return (Problem("no-hooks", document.file, 1, what, "Is it a file of another dialect?", Severity.WARNING),)
    what = f"{dialect.name} reads no hooks from this file: it is a file of {other.name}."
    return (Problem("wrong-dialect", document.file, 1, what, f"Write --dialect {other.name}."),)


def _leave_to_agent(loaded: LoadResult, agent: str) -> LoadResult:
    """Without the hooks that the agent runs itself, and without the problems, which are not ours then."""
    return LoadResult(tuple(hook for hook in loaded.hooks if agent in hook.ignored_by))


def _downgrade_unrelated(document: Document, loaded: LoadResult) -> list[Problem]:
    """Syntax problems outside the hooks become warnings."""
    if not document.syntax_problems:
        return []
    related = set(loaded.problems)
    return [replace(each, severity=Severity.WARNING) for each in document.syntax_problems if each not in related]


def _code_folder(source: Source) -> CodeFolder | None:
    """The source as a folder of code, if its dialect reads code."""
    if source.dialect is None:
        return None
    try:
        dialect = get_dialect(source.dialect)
    except KeyError:
        return None
    if not isinstance(dialect, FolderDialect) or not dialect.accepts(source.path):
        return None
    return CodeFolder(dialect, Path(os.path.abspath(source.path)), source.display_path)


def _unnamed_folder_problem(source: Source) -> Problem | None:
    """Code is imported only if its dialect is named."""
    if source.dialect is not None or not (source.path.suffix == ".py" or source.path.is_dir()):
        return None
    for name in DIALECT_NAMES:
        dialect = get_dialect(name)
        if isinstance(dialect, FolderDialect) and dialect.accepts(source.path) and _has_code(dialect, source.path):
            what = "this is code, which hookline runs only if you name its dialect."
            hint = f"Add --dialect {name}, or write {name}: and its folder into a hookline.yaml."
            return Problem("not-a-file", source.display_path, 1, what, hint)
    return None


def _has_code(dialect: FolderDialect, path: Path) -> bool:
    try:
        return bool(dialect.files(path))
    except HooklineError:  # too many files
        return True


def _find_folders(
    named: tuple[NamedFolder, ...], source: Source, must_exist: bool
) -> tuple[tuple[CodeFolder, ...], tuple[Problem, ...]]:
    found: list[CodeFolder] = []
    problems: list[Problem] = []
    for each in named:
        dialect = get_dialect(each.dialect)
        path = Path(os.path.abspath(source.path.parent / each.path))
        shown = os.path.join(os.path.dirname(source.display_path), each.path)
        if source.project is not None and not path.is_relative_to(source.project):
            what = f"the folder {each.path} is outside the project."
            problems.append(
                Problem("outside-project", source.display_path, each.line, what, "Name a folder inside the project.")
            )
        elif must_exist and not path.is_dir():
            what = f"there is no folder {each.path} next to this file."
            problems.append(
                Problem("no-folder", source.display_path, each.line, what, "Name a folder with Python files.")
            )
        elif isinstance(dialect, FolderDialect):
            found.append(CodeFolder(dialect, path, shown, each.line))
            problems += dialect.check(path, shown) if path.is_dir() else ()
    problems += read_folders([each for each in found if each.path.is_dir()]).problems
    return tuple(found), tuple(dict.fromkeys(problems))


def _choose_dialect(document: Document, source: Source) -> Dialect | Problem | None:
    """None if the file belongs to another program and only has the name of a dialect's file."""
    if source.dialect is None:
        return recognise_dialect(document)
    try:
        dialect = get_dialect(source.dialect)
    except KeyError as unknown:
        return Problem("unknown-dialect", document.file, 1, str(unknown.args[0]))
    names = [place.pattern for place in CONFIG_LOCATIONS[dialect.name] if place.is_common_name]
    is_found = source.layer is not SourceLayer.NAMED and any(source.path.match(name) for name in names)
    return None if is_found and not dialect.recognises(document) else dialect
