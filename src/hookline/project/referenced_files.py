"""The files of a project that its hooks name by path, however they spell it.

It errs on the side of too many: a file too much is only looked at again when it changes, while one that is missed could
be changed by anybody after the user accepted the hooks.

The words in what hooks do that could be paths, and those that stand for whatever files are found there.

A shell is read loosely here, and other languages as if they were shell: a word too many does no harm.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.hooks.actions.answer import TemplateAnswer
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.call_tool import CallTool
from hookline.hooks.actions.change import ChangeFacts
from hookline.hooks.actions.notify import Log, Notify
from hookline.hooks.actions.run_program import CommandTemplate
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import Outcome
from hookline.shell.programs import program_name
from hookline.shell.words import GLOB_BRACKETS, ShellToken, find_run_patterns

MAX_WORDS: Final = 50_000
_MAX_CHARACTERS: Final = 8_000_000  # of all words together
_MAX_BRACE_WORDS: Final = 256  # words that one word with braces may stand for
_MAX_PATH_LENGTH: Final = 4_096
_MAX_COMMAND_DEPTH: Final = 4  # a command in a command's quotes, and so on
_SHELLS: Final = frozenset(("sh", "bash", "dash", "zsh", "ksh", "fish", "eval", "su", "ssh", "watch", "parallel"))

_WORD_BREAK: Final = re.compile(r"""(?:\$\w+|[\s'"`;|&<>()${}=,:\[\]*?!#\\])+""")
_TOKEN: Final = re.compile(
    r"""(?P<operator>[;&|()`<>\n]+)
    |(?:[^\s;&|()`<>'"\\]++|\\.|'[^']*+'|"[^"\\]*+(?:\\.[^"\\]*+)*+"|['"\\])++""",
    re.DOTALL | re.VERBOSE,
)
_QUOTED: Final = re.compile(r"""'([^']*+)'|"([^"\\]*+(?:\\.[^"\\]*+)*+)"|\\(.)""", re.DOTALL)
_OUTPUT_REDIRECTION: Final = re.compile(
    r"""(?<![<=\-\\])(?:&|\d)?(?<![<=\-\\])>{1,2}\|?[ \t]*(?:"[^"$`\\]*"|'[^']*'|[\w./~+-]+)(?=[\s;&|)]|$)"""
)
"""A redirection: what a command writes is not what it runs."""
_VARIABLE: Final = re.compile(r"\{\{[^{}]*\}\}|\$\{[^{}]*\}|\$\w+|\$")
_BRACES: Final = re.compile(r"\{([^{}]*,[^{}]*)\}")
_REDUNDANT_SEPARATORS: Final = re.compile(r"(?<![^/])(?:\.?/)+(?!$)")  # ./ and // lead nowhere


class TooManyReferencesError(HooklineError):
    """More than can be watched, so such a file cannot be trusted."""


@dataclass(frozen=True, slots=True)
class FileReferences:
    words: tuple[str, ...] = ()  # each may be the path of a file, or of a directory from which another one leads on
    searched: tuple[str, ...] = ()  # directories and patterns of which every file counts
    beside: tuple[str, ...] = ()  # each may be the path of a file in the directory of the document itself


NO_REFERENCES: Final = FileReferences()


def find_references(hooks: Iterable[Hook], texts: Iterable[str] = (), prose: Iterable[str] = ()) -> FileReferences:
    """Of everything that these hooks do, of these texts, and of prose that counts for files beside it alone.

    Raises TooManyNames.
    """
    found = _ReferenceCollector()
    for text, is_command in dict.fromkeys(each for hook in hooks for each in _action_texts(hook.then)):
        for word, is_searched in _words_in_text(text, is_command):
            found.add(word, found.searched if is_searched else found.words)
    for given, held in ((texts, found.words), (prose, found.beside)):
        for text in given:
            for word, _ in _words_in_text(text, is_command=False):
                found.add(word, held)
                found.add(word.rstrip(".") or word, held)  # at the end of a sentence
    return FileReferences(tuple(found.words), tuple(found.searched), tuple(found.beside))


class _ReferenceCollector:
    def __init__(self) -> None:
        self.words, self.searched, self.beside = (dict[str, None]() for _ in range(3))
        self._words = self._characters = 0

    def add(self, word: str, held: dict[str, None]) -> None:
        if word in held:
            return
        held[word] = None
        self._words += 1
        self._characters += len(word)
        if self._words > MAX_WORDS or self._characters > _MAX_CHARACTERS:
            raise TooManyReferencesError(f"its commands have more than {MAX_WORDS} words")


def _words_in_text(text: str, is_command: bool) -> Iterator[tuple[str, bool]]:
    """Each word, and whether it is searched for files."""
    text = _OUTPUT_REDIRECTION.sub(" ", text)
    words = (text, *_WORD_BREAK.split(text))
    yield from ((word, False) for word in map(_normalize_word, words) if word)
    yield from _words_in_shell(text, is_command, _MAX_COMMAND_DEPTH)


def _words_in_shell(text: str, is_command: bool, depth: int) -> Iterator[tuple[str, bool]]:
    """What stands in quotes is a command where a shell gets it, or where it holds one: `"$(…)"`."""
    tokens = list(_tokenize(text))
    for_shell = False
    for token in tokens:
        if token.is_operator:
            for_shell = False
            continue
        for each in _expand_word(token.text):
            yield from ((word, False) for word in _split_word(each))
        if depth and any(char in token.text for char in " \t\n;"):
            holds = for_shell or "$(" in token.text or "`" in token.text
            yield from _words_in_shell(token.text, is_command and holds, depth - 1)
        for_shell = for_shell or program_name(token.text) in _SHELLS
    for found in find_run_patterns(tokens) if is_command else ():
        yield from ((word, True) for word in map(_normalize_word, _expand_word(found)) if word)


def _tokenize(text: str) -> Iterator[ShellToken]:
    for match in _TOKEN.finditer(text):
        operator = match["operator"] is not None
        yield ShellToken(match[0] if operator else _unquote(match[0]), operator)


def _unquote(word: str) -> str:
    return _QUOTED.sub(lambda match: next(group for group in match.groups() if group is not None), word)


def _split_word(word: str) -> Iterator[str]:
    """The word, and what stands around signs that also part names, as in --config=a,b:c."""
    for part in (word, *_VARIABLE.split(word)):
        value = part.partition("=")[2]
        for piece in (part, value, *(each for sign in "=:,@#!" if sign in part for each in part.split(sign))):
            yield from filter(None, (_normalize_word(piece),))
        yield from filter(None, (_normalize_word(each) for sign in ":," if sign in value for each in value.split(sign)))


def _normalize_word(word: str) -> str:
    """Empty where it cannot be a path."""
    word = _REDUNDANT_SEPARATORS.sub(lambda match: "/" if match.start() == 0 and match[0][0] == "/" else "", word)
    return word if len(word) <= _MAX_PATH_LENGTH and "\0" not in word else ""


def _expand_word(word: str) -> Iterator[str]:
    """The word itself, and the words that the shell makes of its braces. Raises TooManyNames."""
    yield word
    if _BRACES.search(word) is None:
        return
    made = list(islice(_expand_braces(word), _MAX_BRACE_WORDS + 1))
    if len(made) > _MAX_BRACE_WORDS:
        raise TooManyReferencesError(
            f"a word with braces in its commands stands for more than {_MAX_BRACE_WORDS} words"
        )
    yield from made


def _expand_braces(word: str) -> Iterator[str]:
    waiting = [word]
    while waiting:
        each = waiting.pop()
        braces = _BRACES.search(each)
        if braces is None:
            yield each
        else:
            waiting += [
                each[: braces.start()] + part + each[braces.end() :]
                for part in islice(braces[1].split(","), _MAX_BRACE_WORDS + 1)
            ]


def _action_texts(value: Any) -> Iterator[tuple[str, bool]]:
    """Every text in an action that could make something run, and whether it is a command."""
    waiting, seen = [(value, False)], set()
    while waiting:
        each, is_command = waiting.pop()
        if isinstance(each, str):
            yield each, is_command
        elif id(each) not in seen:
            seen.add(id(each))
            if isinstance(each, CommandTemplate) and each.argv:
                yield shlex.join(part.source for part in each.argv), True
            is_command = is_command or isinstance(each, (CommandTemplate, CallTool, ChangeFacts))
            waiting += [(part, is_command) for part in _child_values(each)]


def _child_values(value: Any) -> list[Any]:
    """All that is in it, but words for people and models: who is told of a file does not run it."""
    if isinstance(value, Outcome):
        return [value.changes]
    if isinstance(value, TemplateAnswer):
        return [value.outcome]
    if isinstance(value, (Log, Notify, AskModel)):
        return []
    if isinstance(value, Mapping):
        return [*value.keys(), *value.values()]
    if isinstance(value, (tuple, list, set, frozenset)):
        return list(value)
    if is_dataclass(value) and not isinstance(value, type):
        return [getattr(value, field.name) for field in fields(value) if not field.name.startswith("_")]
    return []


MAX_FILES: Final = 1_000
MAX_DISK_LOOKUPS: Final = 150_000  # at the disk, for all the words of one file
_MAX_DIRECTORIES: Final = 64
_GLOB_CHARACTERS: Final = re.compile(rf"[*?]|{GLOB_BRACKETS.pattern}")


def find_referenced_files(names: FileReferences, root: Path, directory: Path) -> tuple[Path, ...]:
    """The regular files inside `root` that a word means, from the root, from `directory` or from a directory that
    other words name, as in `cd tools && ./check`; and all files in the directories and patterns that are searched.
    Raises TooManyNames.
    """
    disk = _FileFinder(root)
    bases = dict.fromkeys(map(str, (root, directory)))
    done = 0
    while done < len(bases):
        base = list(bases)[done]
        done += 1
        for word in names.words:
            for way in _path_variants(word):
                bases.update(dict.fromkeys(disk.resolve_directory(os.path.join(base, way))))
        if len(bases) > _MAX_DIRECTORIES:
            raise TooManyReferencesError(f"its commands name more than {_MAX_DIRECTORIES} directories")
        for word in names.searched:
            disk.search(base, word)
    beside = _FileFinder(directory)
    for word in names.beside:
        beside.resolve_directory(os.path.join(directory, word))
    return tuple(sorted(map(Path, {**disk.files, **beside.files})))


def _path_variants(word: str) -> Iterator[str]:
    """The word itself. Of one that begins at the top, at a home or after a variable, also each of its ends."""
    yield word
    if word[0] in "/~":
        rest = word.partition("/")[2]
        while rest:
            yield rest
            rest = rest.partition("/")[2].lstrip("/")


class _FileFinder:
    """Looks for files inside of one project, and not for ever."""

    def __init__(self, root: Path) -> None:
        self.files: dict[str, None] = {}
        self._roots = (str(root), os.path.realpath(root))
        self._left = MAX_DISK_LOOKUPS
        self._walked: set[str] = set()

    def resolve_directory(self, path: str) -> tuple[str, ...]:
        """The path if it is that of a directory inside; that of a file is kept."""
        mode = self._stat_mode(path)
        if mode is None or not self._is_inside(path := _normalize_path(path)):
            return ()
        if stat.S_ISREG(mode):
            self._add_file(path)
        return (path,) if stat.S_ISDIR(mode) else ()

    def search(self, base: str, pattern: str) -> None:
        """Keeps every file that the pattern means from there, and those in the directories that it means."""
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
        waiting = [path]
        while waiting:
            path = waiting.pop()
            mode = self._stat_mode(path)
            if mode is not None and stat.S_ISREG(mode) and self._is_inside(_normalize_path(path)):
                self._add_file(_normalize_path(path))
            elif mode is not None and stat.S_ISDIR(mode) and (real := os.path.realpath(path)) not in self._walked:
                self._walked.add(real)
                waiting += [os.path.join(path, name) for name in self._list_names(path) if name != ".git"]

    def _list_names(self, path: str) -> list[str]:
        """Of a directory inside, or of the project's own."""
        if not self._is_inside(_normalize_path(path)) and os.path.realpath(path) != self._roots[1]:
            return []
        names = []
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    self._count_lookup()
                    names.append(entry.name)
        except OSError:
            return []
        return names

    def _add_file(self, path: str) -> None:
        self.files[path] = None
        if len(self.files) > MAX_FILES:
            raise TooManyReferencesError(f"its commands name more than {MAX_FILES} files")

    def _stat_mode(self, path: str) -> int | None:
        self._count_lookup()
        try:
            return os.stat(path).st_mode
        except (OSError, ValueError):
            return None

    def _count_lookup(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooManyReferencesError(f"its commands could name files at more than {MAX_DISK_LOOKUPS} places")

    def _is_inside(self, path: str) -> bool:
        return any(
            each.startswith(root.rstrip(os.sep) + os.sep)
            for root in self._roots
            for each in (path, os.path.realpath(path))
        )


def _normalize_path(path: str) -> str:
    """The system follows a link before the `..` after it."""
    return os.path.realpath(path) if ".." in path else os.path.normpath(path)


def _matches_step(name: str, step: str) -> bool:
    return fnmatchcase(name, GLOB_BRACKETS.sub("?", step))
