"""The places that a tool call names: the paths in its input and in the commands of a shell, links resolved."""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from typing import Any, Final

from hookline.hooks.event import Event
from hookline.hooks.further_values import (
    EDIT_LISTS,
    ENDS,
    PATCHES,
    PATH_SOURCES,
    items_of,
    patched_files,
    paths_by_key,
    unnamed_paths,
)
from hookline.hooks.kind_guess import looks_like_path
from hookline.hooks.match_deadline import NO_DEADLINE, SLOW, in_time, pop_in_time
from hookline.hooks.path_spellings import (
    directory_fact,
    normalize_path,
    other_forms,
    real_directory,
    relative_to,
    resolve_links,
    under_real_project,
)
from hookline.hooks.readings import compute_once
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tool_name import guessed_kind, likely_kind
from hookline.hooks.tools import FIELD_NAMES, ToolKind, is_path_field
from hookline.shell.grammar import UNREAD as UNREAD_COMMANDS

WORKSPACE: Final = "workspace"
_PLACES: Final = "the places of a call"
_COMMAND: Final = ToolField(("command",))
_DIRECTORY_FIELDS: Final = ("cwd", *FIELD_NAMES[ToolKind.SHELL]["cwd"], "working_directory", "workingDirectory")
_PATH_SUFFIXES: Final = ("_path", "Path", "_file", "_dir", "_directory", "_folder", "_paths", "_files")
_LISTS: Final = PATH_SOURCES - frozenset(PATCHES) - frozenset(EDIT_LISTS)
_FILE_KINDS: Final = (ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT)
_GLOB_FIELDS: Final = ("pattern", *FIELD_NAMES[ToolKind.GLOB]["pattern"])


class UnreadPath(Enum):
    """Where a path that cannot be read may be. Each such path counts as both, outside and inside."""

    OUTSIDE = "outside"
    INSIDE = "inside"
    TOO_LONG_OUTSIDE = "outside, in a command that is too long to be read"
    TOO_LONG_INSIDE = "inside, in a command that is too long to be read"

    @property
    def is_outside(self) -> bool:
        return self in (UnreadPath.OUTSIDE, UnreadPath.TOO_LONG_OUTSIDE)

    @property
    def is_too_long(self) -> bool:
        return self in (UnreadPath.TOO_LONG_OUTSIDE, UnreadPath.TOO_LONG_INSIDE)


Place = str | UnreadPath
UNREAD: Final[tuple[Place, ...]] = (UnreadPath.OUTSIDE, UnreadPath.INSIDE)
_TOO_LONG: Final[tuple[Place, ...]] = (UnreadPath.TOO_LONG_OUTSIDE, UnreadPath.TOO_LONG_INSIDE)


def call_places(event: Event, deadline: float = NO_DEADLINE) -> tuple[Place, ...]:
    """Where the call's paths may lead. Each is a reading of its own. Raises UndecidedError."""
    return compute_once(event, _PLACES, _find_places, deadline)


def workspace_of(event: Event) -> str:
    """The directory of the session, as its host knows it; empty if it does not."""
    return directory_fact(event, "workspace") or directory_fact(event, "cwd")


def _find_places(event: Event, deadline: float) -> tuple[Place, ...]:
    tool = event.facts.get("tool")
    input = tool.get("input") if isinstance(tool, dict) else None
    if not isinstance(input, dict):
        return ()
    kind, project = likely_kind(tool, event), workspace_of(event)
    directory = directory_fact(event, "cwd") or project
    words = list(_path_words(input, kind, directory, deadline))
    if not words and kind in (ToolKind.WRITE, ToolKind.EDIT):
        words += ((directory, word) for word in in_time(unnamed_paths(input), deadline))
    if not words and kind in _FILE_KINDS and guessed_kind(tool, event) is None:
        words.append((directory, None))
    if kind is ToolKind.SHELL:
        words += _shell_words(event, directory, input, deadline)
    places: dict[Place, None] = {}
    for base, word in in_time(dict.fromkeys(words), deadline, SLOW):
        found = UNREAD if word is None else _TOO_LONG if word == UNREAD_COMMANDS else _resolve(base, word, project)
        places |= dict.fromkeys(found)
    return tuple(places)


_Word = tuple[str, str | None]  # the directory, and the path; None if it cannot be read


def _path_words(input: Mapping[str, Any], kind: ToolKind, directory: str, deadline: float) -> Iterator[_Word]:
    """The paths of the fields. A tool that works in a directory names that one if it names no other."""
    if kind in (ToolKind.LIST, ToolKind.GLOB, ToolKind.GREP) and not any(is_path_field(name) for name in input):
        yield directory, "."
    yield from ((directory, word) for word in _paths_in(input, kind, deadline))
    for name in _GLOB_FIELDS if kind is ToolKind.GLOB else ():
        if isinstance(input.get(name), str):
            folders = [path for path in _paths_in(input, kind, deadline) if isinstance(path, str)] or [""]
            yield from ((posixpath.join(directory, folder), input[name]) for folder in folders)


def _paths_in(input: Mapping[str, Any], kind: ToolKind, deadline: float) -> Iterator[str | None]:
    """The values of the fields that are named like paths, at any depth."""
    todo: list[Any] = [input]
    for part in pop_in_time(todo, deadline):
        if isinstance(part, Mapping):
            for name, value in in_time(part.items(), deadline):
                if kind is ToolKind.SHELL and name in _DIRECTORY_FIELDS:
                    continue
                if isinstance(name, str) and _is_path_name(name, value, kind):
                    yield from in_time(paths_by_key(name, value) or _texts(value, is_end=name in ENDS), deadline)
                elif name == "changes":
                    yield from paths_by_key(name, value)
                todo.append(value)
        elif isinstance(part, (list, tuple)):
            todo += part
    if kind in (ToolKind.EDIT, ToolKind.WRITE):
        yield from in_time((path for name in PATCHES for path in patched_files(input.get(name))), deadline)


def _is_path_name(name: str, value: Any, kind: ToolKind) -> bool:
    if name in ENDS and not name.endswith(_PATH_SUFFIXES):
        return kind in (ToolKind.WRITE, ToolKind.EDIT)
    if name == "include":
        return kind is ToolKind.READ
    return is_path_field(name) or name in _LISTS or name.endswith(_PATH_SUFFIXES) or looks_like_path(name, value)


def _texts(value: Any, *, is_end: bool) -> Iterator[str | None]:
    for item in items_of(value):
        if isinstance(item, (str, os.PathLike)):
            text = os.fspath(item)
            yield text if isinstance(text, str) else os.fsdecode(text)
        elif not isinstance(item, (Mapping, list, tuple)) and not (is_end and isinstance(item, (int, float))):
            yield None


def _shell_words(event: Event, directory: str, input: Mapping[str, Any], deadline: float) -> Iterator[_Word]:
    """The directory in which the shell runs, and what its commands name."""
    from hookline.shell.path_words import find_path_words  # the parser takes time to load
    from hookline.shell.run_commands import read_commands

    given = [input[name] for name in _DIRECTORY_FIELDS if input.get(name) not in (None, "")]
    known = [posixpath.join(directory, os.path.expanduser(each)) for each in given if isinstance(each, str)]
    if len(known) < len(given):
        yield directory, None
    texts = dict.fromkeys(text for reading in _COMMAND.readings(event, deadline) for text in reading)
    for start in known or [directory]:
        yield start, "."
        for text in in_time(texts, deadline, SLOW):
            read = read_commands(text)
            yield from find_path_words(read, start, os.path.isdir)
            if any(UNREAD_COMMANDS in command.words[0] for command in read.commands):
                yield start, UNREAD_COMMANDS


def _resolve(directory: str, given: str, project: str) -> Iterable[Place]:
    """The place itself, and where it leads if it is a link: a program may follow it, or replace it."""
    if not given:
        return ()
    forms = [given, *other_forms(given, directory)]
    if given.startswith("~+"):
        forms.append(directory + given[2:])
    found: dict[Place, None] = {}
    for form in forms[1:] if len(forms) > 1 and "/proc/" in given else forms:  # it would be our own process
        joined = posixpath.join(directory, form)
        place = normalize_path(joined)
        if not place.startswith("/") or "\0" in place:
            return UNREAD
        real = resolve_links(joined, place, project)
        if real is None:
            return UNREAD
        found[real] = None
        plain = under_real_project(place, project, relative_to(place, project))
        if real != plain:
            found[_real_entry(place)] = None
            found[os.path.realpath(place)] = None
    return found


def _real_entry(place: str) -> str:
    """The place without what it links to."""
    directory, name = posixpath.split(place)
    return posixpath.join(os.path.realpath(directory), name)


def real_place(directory: str, project: str) -> str:
    """A directory that a hook names, links resolved; empty if it is relative to a workspace that is unknown."""
    joined = project if directory == WORKSPACE else posixpath.join(project, os.path.expanduser(directory))
    return real_directory(normalize_path(joined)) if joined.startswith("/") else ""
