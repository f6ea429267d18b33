"""A file or text → a document, or the problems that keep it from being one.

Whoever reads gets either a document or at least one error, never both. Whoever salvages gets both where only parts of
the file cannot be read. Nobody gets an exception for what somebody wrote.
"""

from __future__ import annotations

import os
import re
import stat
from enum import StrEnum
from typing import Any, TypeAlias

from hookline.config.damage import own_damage
from hookline.config.document import Document, Places
from hookline.config.json_reader import read_json
from hookline.config.problem import Problem
from hookline.config.source import Source, Unreadable

LARGEST = 10_000_000
"""Bytes."""

Reading: TypeAlias = tuple[Document | None, tuple[Problem, ...]]

_FRONT_MATTER = re.compile(r"---[ \t]*+(?:\r\n|\n|\r)")
_FRONT_MATTER_END = re.compile(r"[\r\n](?:---|\.\.\.)[ \t]*+(?=[\r\n]|\Z)")
_LINE_END = re.compile(rb"\r\n|\n|\r")
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


class Kind(StrEnum):
    JSON = "json"
    """With // and /* */ comments and trailing commas."""
    YAML = "yaml"
    FRONT_MATTER = "front_matter"
    """The YAML between the leading `---` lines of a Markdown file; `{}` where there is none."""


_KIND_OF_ENDING = {
    ".json": Kind.JSON,
    ".jsonc": Kind.JSON,
    ".json5": Kind.JSON,
    ".yaml": Kind.YAML,
    ".yml": Kind.YAML,
    ".md": Kind.FRONT_MATTER,
}


def read_file(path: str | os.PathLike[str], shown_as: str | None = None) -> Reading:
    """Reads regular files only, so it never waits for a pipe or device. The kind is told by the path's ending."""
    return _only_whole(salvage_file(path, shown_as))


def read_text(text: str | bytes, file: str, kind: Kind | None = None) -> Reading:
    """Without a kind, the file's ending tells it, or else the first character."""
    return _only_whole(salvage_text(text, file, kind))


def salvage_file(path: str | os.PathLike[str], shown_as: str | None = None) -> Reading:
    """As `read_file`, and what is left of a file of which some parts cannot be read."""
    shown = str(path) if shown_as is None else shown_as
    data = _bytes_of(os.fspath(path), shown)
    if isinstance(data, Problem):
        return None, (data,)
    return salvage_text(data, shown, _kind_of_name(os.fspath(path)))


def salvage_text(text: str | bytes, file: str, kind: Kind | None = None) -> Reading:
    """As `read_text`, and what is left of a text of which some parts cannot be read."""
    size = len(text) if isinstance(text, bytes) else len(text.encode("utf-8", "surrogatepass"))
    if size > LARGEST:
        return None, (_too_large(file),)
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            return None, (_not_utf8(error, file),)
    text = text.removeprefix("\ufeff")
    return _read(Source(file, text), kind or _kind_of_name(file) or _kind_of_text(text))


def _only_whole(reading: Reading) -> Reading:
    return (None, reading[1]) if reading[1] else reading


def _read(source: Source, kind: Kind) -> Reading:
    try:
        value, root_at, places = _value(source, kind)
    except Unreadable:
        return None, tuple(sorted(source.problems))
    problems = tuple(sorted(source.problems))
    if own_damage(value):
        return None, problems
    if value is None:
        value = {}
    return Document(source.file, source.text, value, source.marks(root_at, places), problems), problems


def _value(source: Source, kind: Kind) -> tuple[Any, int, Places]:
    if kind is Kind.JSON:
        return read_json(source)
    from hookline.config.yaml_reader import read_yaml  # PyYAML costs 15 ms, and a JSON file does not need it

    start, end = 0, len(source.text)
    if kind is Kind.FRONT_MATTER:
        start, end = _front_matter(source)
    return read_yaml(source, start, end)


def _front_matter(source: Source) -> tuple[int, int]:
    opening = _FRONT_MATTER.match(source.text)
    if opening is None:
        return 0, 0
    closing = _FRONT_MATTER_END.search(source.text, opening.end() - 1)
    if closing is None:
        source.stop("front-matter", 0, "The front matter that begins here never ends.", "End it with a line of ---.")
    return opening.end(), closing.start() + 1


def _kind_of_name(name: str) -> Kind | None:
    return _KIND_OF_ENDING.get(os.path.splitext(name)[1].lower())


def _kind_of_text(text: str) -> Kind:
    return Kind.JSON if text.lstrip()[:1] in ("{", "[") else Kind.YAML


def _bytes_of(path: str, shown: str) -> bytes | Problem:
    try:
        return _read_regular(path)
    except _Refused as refusal:
        return Problem(refusal.code, shown, 1, refusal.what, refusal.hint)
    except FileNotFoundError:
        if os.path.islink(path):
            return Problem("no-file", shown, 1, "This link points to a file that does not exist.")
        return Problem("no-file", shown, 1, "This file does not exist.")
    except PermissionError:
        return Problem("no-permission", shown, 1, "This file may not be read by the current user.")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return Problem("cannot-read", shown, 1, f"This file cannot be read: {reason}.")


class _Refused(Exception):
    def __init__(self, code: str, what: str, hint: str = "") -> None:
        self.code, self.what, self.hint = code, what, hint


def _read_regular(path: str) -> bytes:
    _refuse_special(os.stat(path))
    descriptor = os.open(path, _FLAGS)
    with open(descriptor, "rb", closefd=True) as file:
        _refuse_special(os.fstat(descriptor))  # again, because the path may lead elsewhere by now
        return file.read(LARGEST + 1)


def _refuse_special(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise _Refused("not-a-file", "This is a directory.", "Name a file.")
    if not stat.S_ISREG(status.st_mode):
        raise _Refused("not-a-file", "This is a pipe, socket or device.", "Name a regular file.")


def _too_large(file: str) -> Problem:
    return Problem(
        "too-large", file, 1, f"The file is larger than {LARGEST // 1_000_000} MB.", "Split it into several."
    )


def _not_utf8(error: UnicodeDecodeError, file: str) -> Problem:
    line = len(_LINE_END.findall(error.object, 0, error.start)) + 1
    what = f"Byte {error.start} (0x{error.object[error.start]:02X}) is not UTF-8."
    return Problem("not-utf8", file, line, what, "Save the file as UTF-8.")
