"""A folder of definitions: lists its files, checks them without running them, and loads what they define."""

from __future__ import annotations

import os
import stat
import traceback
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from hookline.config.problem import Problem, Severity
from hookline.dialects.dialect import LoadResult
from hookline.dialects.standard_agents.compiler import PathFormatter, hooks_of
from hookline.dialects.standard_agents.definition_lint import lint_definitions
from hookline.dialects.standard_agents.importer import import_files_once
from hookline.dialects.standard_agents.static_definitions import (
    StaticDefinitions,
    called_name,
    constant_argument,
    parse_source,
)
from hookline.errors import HooklineError
from hookline.hooks.actions.python_function import describe_exception
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import ast
from hookline.standard_agents.define import check_hook
from hookline.standard_agents.definitions import DefinitionError, Definitions, HookDefinition

MAX_FILES: Final = 500
_MAX_BYTES: Final = 10_000_000
_TYPESCRIPT_SUFFIXES: Final = (".ts", ".tsx", ".mts", ".cts")
_OPEN_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class FolderTooLargeError(HooklineError):
    """The folder has more than hookline ever imports."""


@dataclass(frozen=True, slots=True)
class FolderFiles:
    python: tuple[Path, ...] = ()
    typescript: tuple[Path, ...] = ()


def list_files(folder: Path) -> FolderFiles:
    """Regular files sorted by path, without hidden and compiled ones; for a single file, just that file.

    Raises FolderTooLargeError.
    """
    if folder.is_file():
        return FolderFiles((folder,))
    python: list[Path] = []
    typescript: list[Path] = []
    for file in _walk_folder(folder):
        if file.suffix == ".py":
            python.append(file)
        elif file.suffix in _TYPESCRIPT_SUFFIXES and not file.name.endswith(".d.ts"):
            typescript.append(file)
        if len(python) + len(typescript) > MAX_FILES:
            raise FolderTooLargeError(f"{folder.name} has more than {MAX_FILES} files")
    return FolderFiles(tuple(sorted(python)), tuple(sorted(typescript)))


def _walk_folder(folder: Path) -> Iterator[Path]:
    for directory, below, names in os.walk(folder):
        below[:] = sorted(
            name for name in below if not name.startswith(".") and name not in ("__pycache__", "node_modules")
        )
        for name in names:
            file = Path(directory, name)
            if not name.startswith(".") and _is_regular(file):
                yield file


def _is_regular(file: Path) -> bool:
    try:
        return stat.S_ISREG(os.stat(file).st_mode)
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class DefinitionsFolder:
    path: Path  # of the folder, or of one file in it
    display_name: str  # as messages show it

    @property
    def directory(self) -> Path:
        return self.path.parent if self.path.is_file() else self.path

    def display_path(self, file: str) -> str:
        shown = Path(self.display_name).parent if self.path.is_file() else Path(self.display_name)
        try:
            return str(shown / Path(file).relative_to(self.directory))
        except ValueError:
            return file

    def check(self) -> tuple[Problem, ...]:
        """The problems that can be found without importing anything."""
        if not self.path.exists():
            return (
                self._folder_problem("no-folder", "this folder does not exist.", "Name a folder with Python files."),
            )
        try:
            files = list_files(self.path)
        except FolderTooLargeError as too_many:
            return (self._folder_problem("too-large", f"{too_many}.", "Name a folder with your definitions alone."),)
        found = [self._typescript_warning(file) for file in files.typescript]
        if not files.python:
            what = "there is no Python file in this folder, so it defines nothing."
            found.append(self._folder_problem("empty-folder", what, severity=Severity.WARNING))
        return (*found, *self._check_sources(files.python))

    def load_definitions(self) -> tuple[Definitions, tuple[Problem, ...]]:
        """Runs the folder's files, or returns the definitions that are still in use if no file has changed since.

        So the tools and hooks of one folder share the state of its modules. Call it only for a trusted folder.
        """
        seen = self.check()
        if any(problem.code in ("no-folder", "too-large") and problem.file == self.display_name for problem in seen):
            return Definitions(), seen
        definitions, failed = import_files_once(
            self.directory, list_files(self.path).python, list_files(self.directory).python
        )
        known = {(problem.file, problem.line) for problem in seen}
        found = [*map(self._import_problem, failed, failed.values()), *self._unfinished_hook_problems(definitions)]
        new = [problem for problem in found if (problem.file, problem.line) not in known]
        return definitions, (*seen, *new)

    def read_definitions(self) -> StaticDefinitions:
        """What the files define, without running them; nothing of a file that is not Python."""
        found, left = StaticDefinitions(), _MAX_BYTES
        try:
            for file in list_files(self.path).python:
                try:
                    source = _read_bytes(file, left)
                    left -= len(source)
                    found.add_file(file, parse_source(source, file))
                except (SyntaxError, ValueError, RecursionError, MemoryError, OSError):
                    found.knows_all_hooks = found.knows_all_lists = False
        except FolderTooLargeError:
            found.knows_all_hooks = found.knows_all_lists = False
        return found

    def _check_sources(self, files: Iterable[Path]) -> Iterator[Problem]:
        left = _MAX_BYTES
        seen: dict[str, tuple[Path, int]] = {}
        for file in files:
            try:
                source = _read_bytes(file, left)
                left -= len(source)
                tree = parse_source(source, file)
            except FolderTooLargeError as too_much:
                yield self._folder_problem("too-large", f"{too_much}.")
                return
            except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
                yield self._import_problem(file, error)
            else:
                yield from self._check_definitions(file, tree, seen)

    def _check_definitions(self, file: Path, tree: ast.AST, seen: dict[str, tuple[Path, int]]) -> Iterator[Problem]:
        """Finds what `define_hook` would refuse, where its hook and id are constants."""
        plain = _calls_with_plain_function(tree)
        for call in sorted(_define_hook_calls(tree), key=lambda call: call.lineno):
            hook, id = constant_argument(call, "hook", 0), constant_argument(call, "id", 1)
            try:
                check_hook("filter_messages" if hook is None else hook, "an_id" if id is None else id)
            except DefinitionError as error:
                yield self._problem_at(file, call.lineno, "bad-definition", str(error))
            if _is_given_no_function(call):
                text = f"the hook {id}: execute is missing or cannot be called. Write execute=an async function."
                yield self._problem_at(file, call.lineno, "bad-definition", text)
            elif call in plain and hook not in (None, "after_system_message"):
                text = f"the hook {id}: execute is not an async function. Write async def."
                yield self._problem_at(file, call.lineno, "bad-definition", text)
        modules = {each.stem if each.is_file() else each.name for each in self.directory.iterdir()}
        for line, text in lint_definitions(tree, modules):
            yield self._problem_at(file, line, "bad-definition", text)
        for call in _define_hook_calls(*_unconditional_nodes(tree)):
            id = constant_argument(call, "id", 1)
            if isinstance(id, str) and (first := seen.setdefault(id, (file, call.lineno))) != (file, call.lineno):
                where = f"{self.display_path(str(first[0]))}:{first[1]}"
                text = f"the hook {id} is defined twice, first in {where}. Give one of them another id."
                yield self._problem_at(file, call.lineno, "bad-definition", text)

    def _import_problem(self, file: Path, error: BaseException) -> Problem:
        if isinstance(error, SyntaxError) and error.lineno is not None:
            at = Path(error.filename or file)
            return self._problem_at(at, max(error.lineno, 1), "syntax-error", f"this is not Python: {error.msg}.")
        at, line = self._error_location(file, error)
        if isinstance(error, DefinitionError):
            return self._problem_at(
                at,
                line,
                "bad-definition",
                str(error).replace(str(self.directory), self.display_path(str(self.directory))),
            )
        return self._problem_at(at, line, "cannot-import", f"importing it raised {describe_exception(error)}.")

    def _error_location(self, file: Path, error: BaseException) -> tuple[Path, int]:
        """The innermost frame in a file of the folder."""
        frames = traceback.extract_tb(error.__traceback__)
        for frame in reversed(frames):
            if Path(frame.filename).is_relative_to(self.directory) and frame.lineno:
                return Path(frame.filename), frame.lineno
        return file, 1

    def _unfinished_hook_problems(self, definitions: Definitions) -> Iterator[Problem]:
        for id, place in definitions.unfinished.items():
            text = f"the hook {id}: execute is missing."
            yield self._problem_at(
                Path(place.file), place.line, "bad-definition", text, "Decorate a function, or write execute=."
            )

    def _typescript_warning(self, file: Path) -> Problem:
        hint = "Write it in Python: from hookline.standard_agents import define_hook."
        return self._problem_at(file, 1, "not-loaded", "TypeScript files are not loaded.", hint, Severity.WARNING)

    def _problem_at(
        self, file: Path, line: int, code: str, what: str, hint: str = "", severity: Severity = Severity.ERROR
    ) -> Problem:
        return Problem(code, self.display_path(str(file)), line, what, hint, severity)

    def _folder_problem(self, code: str, what: str, hint: str = "", severity: Severity = Severity.ERROR) -> Problem:
        return Problem(code, self.display_name, 1, f"{self.display_name}: {what}", hint, severity)


def read_folders(folders: Sequence[DefinitionsFolder]) -> LoadResult:
    """The hooks of the folders as far as they can be read without running anything, and problems between them."""
    read = [folder.read_definitions() for folder in folders]
    format_path = _path_formatter(folders)
    loaded = hooks_of(*(each.definitions for each in read), format_path=format_path)
    unsure = set()
    if not all(each.knows_all_hooks for each in read):
        unsure.add("unknown-hook")
    if not all(each.knows_all_lists for each in read):
        unsure.add("never-listed")
    problems = [problem for problem in loaded.problems if problem.code not in unsure]
    twice = _ids_defined_twice([each.definitions for each in read], format_path)
    return LoadResult(loaded.hooks, (*twice, *problems))


def import_folders(folders: Sequence[DefinitionsFolder]) -> LoadResult:
    """Runs the folders' files; they may list each other's hooks. Call it only for trusted folders."""
    imported = [folder.load_definitions() for folder in folders]
    definitions, format_path = [each for each, _ in imported], _path_formatter(folders)
    loaded = hooks_of(*definitions, format_path=format_path)
    found = (*(problem for _, each in imported for problem in each), *_ids_defined_twice(definitions, format_path))
    return LoadResult(loaded.hooks, tuple(dict.fromkeys((*found, *loaded.problems))))


def _path_formatter(folders: Sequence[DefinitionsFolder]) -> PathFormatter:
    def format_path(file: str) -> str:
        return next((name for folder in folders if (name := folder.display_path(file)) != file), file)

    return format_path


def _ids_defined_twice(parts: Sequence[Definitions], format_path: PathFormatter) -> Iterator[Problem]:
    """Within one folder, a second definition is refused where it is made."""
    first: dict[str, HookDefinition] = {}
    for hook in (hook for part in parts for hook in part.hooks.values()):
        known = first.setdefault(hook.id, hook)
        if known is not hook:
            where = f"{format_path(known.place.file)}:{known.place.line}"
            text = f"the hook {hook.id} is defined twice, first in {where}. Give one of them another id."
            yield Problem("bad-definition", format_path(hook.place.file), hook.place.line, text)


def _read_bytes(file: Path, most: int) -> bytes:
    with open(os.open(file, _OPEN_FLAGS), "rb") as opened:
        data = opened.read(most + 1)
    if len(data) > most:
        raise FolderTooLargeError(f"the files of {file.parent.name} have more than {_MAX_BYTES // 1_000_000} MB")
    return data


def _is_given_no_function(call: ast.Call) -> bool:
    """True if `execute` is written as a constant, such as None."""
    given = [each.value for each in call.keywords if each.arg == "execute"] or call.args[2:3]
    return bool(given) and isinstance(given[0], ast.Constant)


def _define_hook_calls(*trees: ast.AST) -> Iterator[ast.Call]:
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and called_name(node) == "define_hook":
                yield node


def _unconditional_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """The statements at module level outside any `if`: an id may occur twice if only one definition is reached."""
    for node in getattr(tree, "body", ()):
        if isinstance(node, (ast.Expr, ast.Assign, ast.AnnAssign)):
            yield node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from node.decorator_list


def _calls_with_plain_function(tree: ast.AST) -> list[ast.Call]:
    """The calls of define_hook that decorate a function without `async`, with no other decorator to change that."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and len(node.decorator_list) == 1)
    return [each for node in functions for each in node.decorator_list if isinstance(each, ast.Call)]
