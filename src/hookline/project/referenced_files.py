"""Finds the files of a project that its hooks run, in any spelling.

It finds too many rather than too few. An extra file is only checked again when it changes; a missed one could be changed
after the user trusted the hooks. Shell is therefore read loosely, and other languages as if they were shell.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from hookline.errors import HooklineError
from hookline.hooks.actions.answer import TemplateAnswer
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.actions.hold import HoldCall
from hookline.hooks.actions.notify import Log, Notify
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import Outcome
from hookline.hooks.templates import ShellTemplate, Template
from hookline.hooks.tools import ToolKind, kind_of_name
from hookline.lazy_dataclasses import dataclass, field_names, replace
from hookline.lazy_imports import lazy_class, lazy_module, lazy_pattern, shlex
from hookline.shell.run_patterns import GLOB_BRACKETS

if TYPE_CHECKING:
    from hookline.hooks.actions.ask_model import AskModel
    from hookline.hooks.actions.call_tool import CallTool
    from hookline.hooks.actions.change import ChangeFacts
    from hookline.hooks.actions.program_result import ResultParser
    from hookline.hooks.actions.run_program import CommandTemplate
    from hookline.shell import file_words
else:
    AskModel = lazy_class("hookline.hooks.actions.ask_model", "AskModel")
    CallTool = lazy_class("hookline.hooks.actions.call_tool", "CallTool")
    ChangeFacts = lazy_class("hookline.hooks.actions.change", "ChangeFacts")
    ResultParser = lazy_class("hookline.hooks.actions.program_result", "ResultParser")
    CommandTemplate = lazy_class("hookline.hooks.actions.run_program", "CommandTemplate")
    file_words = lazy_module("hookline.shell.file_words")

OPEN_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
"""To read such a file. Opening a pipe does not wait for its other end."""
MAX_WORDS: Final = 50_000
MAX_FILES: Final = 1_000
MAX_DISK_LOOKUPS: Final = 150_000  # for all the words of one file
_MAX_DIRECTORIES: Final = 64
_MAX_CHARACTERS: Final = 8_000_000  # of all words together
_MAX_BRACE_WORDS: Final = 256  # that one word with braces may expand to
_MAX_PATH_LENGTH: Final = 4_096
_FILE_TOOLS: Final = frozenset(
    (ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT, ToolKind.LIST, ToolKind.GLOB, ToolKind.GREP)
)
"""Kinds of tools that read or write the files in their input, and run none of them."""
_FILE_CALL: Final = lazy_pattern(r"""callTool\(\s*(['"`])([\w.]+)\1\s*,\s*\{[^{}]*\}\s*\)""")
_VARIABLE: Final = lazy_pattern(r"\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$\w+|\$")
_GLOB_CHARACTERS: Final = lazy_pattern(rf"[*?]|{GLOB_BRACKETS.pattern}")
_BRACES: Final = lazy_pattern(r"\{([^{}]*,[^{}]*)\}")
_REDUNDANT_SEPARATORS: Final = lazy_pattern(r"(?<![^/])(?:\.?/)+(?!$)")  # ./ and // do not change a path


class TooManyReferencesError(HooklineError):
    """The hooks name more files than can be watched, so their file cannot be trusted."""


@dataclass(frozen=True, slots=True)
class FileReferences:
    words: tuple[str, ...] = ()  # each may be the path of a file, or of a directory that other words are relative to
    searched: tuple[str, ...] = ()  # directories and patterns; every file in them counts
    beside: tuple[str, ...] = ()  # each may be the path of a file next to the document itself


NO_REFERENCES: Final = FileReferences()


def find_references(hooks: Iterable[Hook], texts: Iterable[str] = (), prose: Iterable[str] = ()) -> FileReferences:
    """The references in the hooks' actions, in `texts`, and in `prose`, which can only name files next to it.

    Raises TooManyReferencesError.
    """
    found = _ReferenceCollector()
    for text, is_command in dict.fromkeys(each for hook in hooks for each in _action_texts(hook.then)):
        found.add_words(
            file_words.find_file_words(text) if is_command else file_words.find_code_words(_without_file_calls(text))
        )
    for given, target in ((texts, found.words), (prose, found.beside)):
        for text in given:
            for word in file_words.find_code_words(text):
                for part in _split_word(word.text):
                    found.add(part, target)
                    found.add(part.rstrip(".") or part, target)  # at the end of a sentence
    return found.references()


def references_of_words(words: Iterable[file_words.FileWord]) -> FileReferences:
    """Raises TooManyReferencesError."""
    found = _ReferenceCollector()
    found.add_words(words)
    return found.references()


class _ReferenceCollector:
    def __init__(self) -> None:
        self.words, self.searched, self.beside = (dict[str, None]() for _ in range(3))
        self._word_count = self._character_count = 0

    def add(self, word: str, target: dict[str, None]) -> None:
        if not word or word in target:
            return
        target[word] = None
        self._word_count += 1
        self._character_count += len(word)
        if self._word_count > MAX_WORDS or self._character_count > _MAX_CHARACTERS:
            raise TooManyReferencesError(f"its commands have more than {MAX_WORDS} words")

    def add_words(self, words: Iterable[file_words.FileWord]) -> None:
        for word in words:
            for each in _expand_word(word.text):
                if word.is_searched:
                    self.add(_normalize_word(each), self.searched)
                for part in () if word.is_searched else _split_word(each):
                    self.add(part, self.words)

    def references(self) -> FileReferences:
        return FileReferences(tuple(self.words), tuple(self.searched), tuple(self.beside))


def _split_word(word: str) -> Iterator[str]:
    """The word, and its pieces around separators, as in --config=a,b:c."""
    for part in (word, *_VARIABLE.split(word)):
        value = part.partition("=")[2]
        for piece in (part, value, *(each for sign in "=:,@#!" if sign in part for each in part.split(sign))):
            yield from filter(None, (_normalize_word(piece),))
        yield from filter(None, (_normalize_word(each) for sign in ":," if sign in value for each in value.split(sign)))


def _normalize_word(word: str) -> str:
    """Empty if the word cannot be a path."""
    word = _REDUNDANT_SEPARATORS.sub(lambda match: "/" if match.start() == 0 and match[0][0] == "/" else "", word)
    return word if len(word) <= _MAX_PATH_LENGTH and "\0" not in word else ""


def _expand_word(word: str) -> Iterator[str]:
    """The word itself, and what its braces expand to. Raises TooManyReferencesError."""
    yield word
    if _BRACES.search(word) is None:
        return
    expanded = list(islice(_expand_braces(word), _MAX_BRACE_WORDS + 1))
    if len(expanded) > _MAX_BRACE_WORDS:
        raise TooManyReferencesError(
            f"a word with braces in its commands expands to more than {_MAX_BRACE_WORDS} words"
        )
    yield from expanded


def _expand_braces(word: str) -> Iterator[str]:
    queue = [word]
    while queue:
        each = queue.pop()
        braces = _BRACES.search(each)
        if braces is None:
            yield each
        else:
            queue += [
                each[: braces.start()] + part + each[braces.end() :]
                for part in islice(braces[1].split(","), _MAX_BRACE_WORDS + 1)
            ]


def _action_texts(value: Any) -> Iterator[tuple[str, bool]]:
    """Every text in an action that could make something run, and whether it is a command."""
    queue, seen = [(value, False)], set()
    while queue:
        each, is_command = queue.pop()
        if isinstance(each, str):
            yield each, is_command
        elif id(each) not in seen:
            seen.add(id(each))
            if isinstance(each, CommandTemplate) and each.argv:
                yield shlex.join(part.source for part in each.argv), True
            is_command = is_command or isinstance(each, (CommandTemplate, CallTool, ChangeFacts))
            queue += [(part, is_command) for part in _child_values(each)]


def _without_file_calls(script: str) -> str:
    """The script without its calls of tools that only read or write a file."""
    return _FILE_CALL.sub(lambda call: " " if kind_of_name(call[2]) in _FILE_TOOLS else call[0], script)


def _child_values(value: Any) -> list[Any]:
    """All parts of it except text for people and models: naming a file there does not run it."""
    if isinstance(value, Outcome):
        return [value.changes]
    if isinstance(value, TemplateAnswer):
        return [value.outcome]
    if isinstance(value, (Template, ShellTemplate)):
        return [value.source]
    if isinstance(value, (ResultParser, InvalidAction, HoldCall)):
        return []
    if isinstance(value, (Log, Notify, AskModel)) or (isinstance(value, CallTool) and _only_handles_files(value)):
        return []
    if isinstance(value, CommandTemplate) and value.argv:  # read as one command
        value = replace(value, argv=())
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, (tuple, list, set, frozenset)):
        return list(value)
    return [getattr(value, name) for name in field_names(value) if not name.startswith("_")]


def _only_handles_files(call: CallTool) -> bool:
    """Whether the tool reads or writes the files that its input names, and runs none of them."""
    return kind_of_name(call.tool) in _FILE_TOOLS


def find_referenced_files(
    references: FileReferences,
    root: Path,
    directory: Path,
    expected: Iterable[Path] = (),
    working_directories: Iterable[str] = (),
) -> tuple[Path, ...]:
    """The regular files inside `root` that the references name. Raises TooManyReferencesError.

    A word may be relative to `root`, to `directory`, to a working directory, or to a directory that another word names,
    as in `cd tools && ./check`. All files in searched directories and patterns count. The `expected` files count as if
    they existed, whatever is in their place. If a working directory is outside of `root`, the files there count too.
    """
    disk = _FileFinder(root, expected)
    working = dict.fromkeys(map(os.path.normpath, working_directories))
    inside = [each for each in working if disk.is_inside(each)]
    bases = dict.fromkeys(map(str, (root, directory, *inside)))
    done = 0
    while done < len(bases):
        base = list(bases)[done]
        done += 1
        for word in references.words:
            for way in _path_variants(word):
                bases.update(dict.fromkeys(disk.resolve_directory(os.path.join(base, way))))
        if len(bases) > _MAX_DIRECTORIES:
            raise TooManyReferencesError(f"its commands name more than {_MAX_DIRECTORIES} directories")
        for word in references.searched:
            disk.search(base, word)
    beside = _FileFinder(directory, expected)
    for word in references.beside:
        beside.resolve_directory(os.path.join(directory, word))
    outside = [each for each in working if each not in bases and os.path.realpath(each) != os.path.realpath(root)]
    elsewhere = (path for each in outside for path in _files_from(each, references.words))
    return tuple(sorted(map(Path, {**disk.files, **beside.files, **dict.fromkeys(elsewhere)})))


def _files_from(directory: str, words: Iterable[str]) -> Iterator[str]:
    for word in words:
        for way in () if os.path.isabs(word) and os.path.exists(word) else _path_variants(word):
            path = os.path.normpath(os.path.join(directory, way))
            if not os.path.isabs(way) and os.path.isfile(path):
                yield path


def _path_variants(word: str) -> Iterator[str]:
    """The word itself; if it is absolute, starts at a home directory or follows a variable, also each of its trailing parts."""
    yield word
    if word[0] in "/~":
        rest = word.partition("/")[2]
        while rest:
            yield rest
            rest = rest.partition("/")[2].lstrip("/")


class _FileFinder:
    """Finds files inside one project, with a limited number of disk lookups."""

    def __init__(self, root: Path, expected: Iterable[Path] = ()) -> None:
        self.files: dict[str, None] = {}
        self._expected = frozenset(map(str, expected))
        self._expected_names = _names_by_directory(self._expected, str(root))
        self._roots = (str(root), os.path.realpath(root))
        self._prefixes = tuple(each.rstrip(os.sep) + os.sep for each in self._roots)
        self._lookups_left = MAX_DISK_LOOKUPS
        self._walked: set[str] = set()

    def resolve_directory(self, path: str) -> tuple[str, ...]:
        """The path, if it is a directory inside the project. A file is added to `files`."""
        mode = self._stat_mode(path)
        if mode is None or not self.is_inside(path := self._normalize(path)):
            return ()
        if stat.S_ISREG(mode):
            self._add_file(path)
        return (path,) if stat.S_ISDIR(mode) else ()

    def search(self, base: str, pattern: str) -> None:
        """Adds every file that the pattern matches from `base`, and all files in the directories that it matches."""
        paths = ["/" if pattern.startswith("/") else base]
        for step in filter(None, pattern.split("/")):
            if step == "**":
                break
            if _GLOB_CHARACTERS.search(step):
                paths = [
                    os.path.join(path, name)
                    for path in paths
                    for name in self._list_names(path)
                    if _matches_step(name, step)
                ]
            else:
                paths = [os.path.join(path, step) for path in paths]
        for path in paths:
            self._walk(path)

    def _walk(self, path: str) -> None:
        queue = [path]
        while queue:
            path = queue.pop()
            mode = self._stat_mode(path)
            if mode is not None and stat.S_ISREG(mode) and self.is_inside(self._normalize(path)):
                self._add_file(self._normalize(path))
            elif mode is not None and stat.S_ISDIR(mode) and (real := os.path.realpath(path)) not in self._walked:
                self._walked.add(real)
                queue += [os.path.join(path, name) for name in self._list_names(path) if name != ".git"]

    def _list_names(self, path: str) -> list[str]:
        """The names in a directory inside the project, or in its root."""
        if not self.is_inside(_normalize_path(path)) and os.path.realpath(path) != self._roots[1]:
            return []
        names = list(self._expected_names.get(os.path.normpath(path), ()))
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    self._count_lookup()
                    names.append(entry.name)
        except OSError:
            pass
        return list(dict.fromkeys(names))

    def _add_file(self, path: str) -> None:
        self.files[path] = None
        if len(self.files) > MAX_FILES:
            raise TooManyReferencesError(f"its commands name more than {MAX_FILES} files")

    def _stat_mode(self, path: str) -> int | None:
        self._count_lookup()
        if self._expected:
            normal = os.path.normpath(path)
            if normal in self._expected:
                return stat.S_IFREG
            if normal in self._expected_names:
                return stat.S_IFDIR
        try:
            return os.stat(path).st_mode
        except (OSError, ValueError):
            return None

    def _normalize(self, path: str) -> str:
        normal = os.path.normpath(path)
        return normal if normal in self._expected else _normalize_path(path)

    def _count_lookup(self) -> None:
        self._lookups_left -= 1
        if self._lookups_left < 0:
            raise TooManyReferencesError(f"its commands could name files in more than {MAX_DISK_LOOKUPS} places")

    def is_inside(self, path: str) -> bool:
        return path.startswith(self._prefixes) or os.path.realpath(path).startswith(self._prefixes)


def _names_by_directory(paths: Iterable[str], root: str) -> dict[str, dict[str, None]]:
    """What is in each directory above the paths, up to the root."""
    names: dict[str, dict[str, None]] = {}
    for path in paths:
        while path != root and len(path) > len(root):
            directory, name = os.path.split(path)
            names.setdefault(directory, {})[name] = None
            path = directory
    return names


def _normalize_path(path: str) -> str:
    """The operating system follows a link before the `..` after it."""
    return os.path.realpath(path) if ".." in path else os.path.normpath(path)


def _matches_step(name: str, step: str) -> bool:
    return fnmatchcase(name, GLOB_BRACKETS.sub("?", step))
