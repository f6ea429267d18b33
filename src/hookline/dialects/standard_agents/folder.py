"""A folder of definitions: which files it has, what can be seen in them without running them, and what they define."""

from __future__ import annotations

import ast
import os
import stat
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hookline.config.problem import Problem, Severity
from hookline.dialects.dialect import Loaded
from hookline.dialects.standard_agents.compiled import hooks_of
from hookline.dialects.standard_agents.importing import run_once
from hookline.errors import HooklineError
from hookline.hooks.actions.python import told
from hookline.standard_agents.define import check_hook
from hookline.standard_agents.definitions import DefinitionError, Definitions

MOST_FILES: Final = 500
_MOST_BYTES: Final = 10_000_000
_TYPESCRIPT: Final = (".ts", ".tsx", ".mts", ".cts")
_READING: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)


class TooManyFiles(HooklineError):
    """More than is ever imported."""


@dataclass(frozen=True, slots=True)
class Files:
    python: tuple[Path, ...] = ()
    typescript: tuple[Path, ...] = ()


def files_in(folder: Path) -> Files:
    """Regular files, in the order of their paths; what is hidden or was compiled is left out. Raises TooManyFiles.

    A file that was named itself is the only one.
    """
    if folder.is_file():
        return Files((folder,))
    python: list[Path] = []
    typescript: list[Path] = []
    for file in _walked(folder):
        if file.suffix == ".py":
            python.append(file)
        elif file.suffix in _TYPESCRIPT and not file.name.endswith(".d.ts"):
            typescript.append(file)
        if len(python) + len(typescript) > MOST_FILES:
            raise TooManyFiles(f"{folder.name} has more than {MOST_FILES} files")
    return Files(tuple(sorted(python)), tuple(sorted(typescript)))


def _walked(folder: Path) -> Iterator[Path]:
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
class Folder:
    path: Path  # of the folder, or of one file in it
    shown: str  # as messages show it

    @property
    def directory(self) -> Path:
        return self.path.parent if self.path.is_file() else self.path

    def show(self, file: str) -> str:
        shown = Path(self.shown).parent if self.path.is_file() else Path(self.shown)
        try:
            return str(shown / Path(file).relative_to(self.directory))
        except ValueError:
            return file

    def look(self) -> tuple[Problem, ...]:
        """What is wrong as far as reading tells; nothing is imported."""
        if not self.path.exists():
            return (self._problem("no-folder", "there is no such folder.", "Name a folder with Python files."),)
        try:
            files = files_in(self.path)
        except TooManyFiles as too_many:
            return (self._problem("too-large", f"{too_many}.", "Name a folder with your definitions alone."),)
        found = [self._not_loaded(file) for file in files.typescript]
        if not files.python:
            what = "there is no Python file in this folder, so it defines nothing."
            found.append(self._problem("empty-folder", what, severity=Severity.WARNING))
        return (*found, *self._read(files.python))

    def imported(self) -> Loaded:
        """Runs the folder's files: only for a folder that is trusted."""
        definitions, problems = self.defined()
        loaded = hooks_of(definitions, self.show)
        return Loaded(loaded.hooks, tuple(dict.fromkeys((*problems, *loaded.problems))))

    def defined(self) -> tuple[Definitions, tuple[Problem, ...]]:
        """Runs the folder's files, unless what they defined is still in use and they are as they were then: tools and
        hooks of one folder share what its modules hold. Only for a folder that is trusted.
        """
        seen = self.look()
        if any(problem.code in ("no-folder", "too-large") and problem.file == self.shown for problem in seen):
            return Definitions(), seen
        definitions, failed = run_once(self.directory, files_in(self.path).python, files_in(self.directory).python)
        known = {(problem.file, problem.line) for problem in seen}
        ran = [*map(self._failed, failed, failed.values()), *self._unfinished(definitions)]
        new = [problem for problem in ran if (problem.file, problem.line) not in known]
        return definitions, (*seen, *new)

    def _read(self, files: Iterable[Path]) -> Iterator[Problem]:
        left = _MOST_BYTES
        seen: dict[str, tuple[Path, int]] = {}
        for file in files:
            try:
                source = _bytes_of(file, left)
                left -= len(source)
                tree = ast.parse(source, str(file))
            except TooManyFiles as too_much:
                yield self._problem("too-large", f"{too_much}.")
                return
            except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
                yield self._failed(file, error)
            else:
                yield from self._defined(file, tree, seen)

    def _defined(self, file: Path, tree: ast.AST, seen: dict[str, tuple[Path, int]]) -> Iterator[Problem]:
        """What `define_hook` would refuse, where its hook and its id stand there as they are."""
        for call in sorted(_calls_in(tree), key=lambda call: call.lineno):
            hook, id = _constant(call, "hook", 0), _constant(call, "id", 1)
            try:
                check_hook("filter_messages" if hook is None else hook, "an_id" if id is None else id)
            except DefinitionError as error:
                yield self._at(file, call.lineno, "bad-definition", str(error))
        for call in _calls_in(*_always_run(tree)):
            id = _constant(call, "id", 1)
            if isinstance(id, str) and (first := seen.setdefault(id, (file, call.lineno))) != (file, call.lineno):
                where = f"{self.show(str(first[0]))}:{first[1]}"
                text = f"the hook {id} is defined twice, first in {where}. Give one of them another id."
                yield self._at(file, call.lineno, "bad-definition", text)

    def _failed(self, file: Path, error: BaseException) -> Problem:
        if isinstance(error, SyntaxError) and error.lineno is not None:
            at = Path(error.filename or file)
            return self._at(at, max(error.lineno, 1), "syntax-error", f"this is not Python: {error.msg}.")
        at, line = self._raised_at(file, error)
        if isinstance(error, DefinitionError):
            return self._at(
                at, line, "bad-definition", str(error).replace(str(self.directory), self.show(str(self.directory)))
            )
        return self._at(at, line, "cannot-import", f"importing it raised {told(error)}.")

    def _raised_at(self, file: Path, error: BaseException) -> tuple[Path, int]:
        """The last line of the folder's own that was running."""
        frames = traceback.extract_tb(error.__traceback__)
        for frame in reversed(frames):
            if Path(frame.filename).is_relative_to(self.directory) and frame.lineno:
                return Path(frame.filename), frame.lineno
        return file, 1

    def _unfinished(self, definitions: Definitions) -> Iterator[Problem]:
        for id, place in definitions.unfinished.items():
            text = f"the hook {id}: execute is missing."
            yield self._at(
                Path(place.file), place.line, "bad-definition", text, "Decorate a function, or write execute=."
            )

    def _not_loaded(self, file: Path) -> Problem:
        hint = "Write it in Python: from hookline.standard_agents import define_hook."
        return self._at(file, 1, "not-loaded", "TypeScript files are not loaded.", hint, Severity.WARNING)

    def _at(
        self, file: Path, line: int, code: str, what: str, hint: str = "", severity: Severity = Severity.ERROR
    ) -> Problem:
        return Problem(code, self.show(str(file)), line, what, hint, severity)

    def _problem(self, code: str, what: str, hint: str = "", severity: Severity = Severity.ERROR) -> Problem:
        return Problem(code, self.shown, 1, f"{self.shown}: {what}", hint, severity)


def _bytes_of(file: Path, most: int) -> bytes:
    with open(os.open(file, _READING), "rb") as opened:
        data = opened.read(most + 1)
    if len(data) > most:
        raise TooManyFiles(f"the files of {file.parent.name} have more than {_MOST_BYTES // 1_000_000} MB")
    return data


def _calls_in(*trees: ast.AST) -> Iterator[ast.Call]:
    """The calls of define_hook."""
    for tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and _called(node) == "define_hook":
                yield node


def _always_run(tree: ast.AST) -> Iterator[ast.AST]:
    """What stands at the top and under no condition: an id may stand twice where only one of the two is reached."""
    for node in getattr(tree, "body", ()):
        if isinstance(node, (ast.Expr, ast.Assign, ast.AnnAssign)):
            yield node
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from node.decorator_list


def _called(call: ast.Call) -> str:
    if isinstance(call.func, ast.Attribute):
        return call.func.attr
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _constant(call: ast.Call, name: str, position: int) -> object:
    """None where it is anything else than a constant."""
    given = [keyword.value for keyword in call.keywords if keyword.arg == name] or call.args[position : position + 1]
    return given[0].value if given and isinstance(given[0], ast.Constant) else None
