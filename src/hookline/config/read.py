"""A file or text → a document, or the problems that keep it from being one.

Either a document comes back, or at least one error; never both, and never an exception for what somebody wrote.
"""

from __future__ import annotations

import os
import re
import stat
from enum import StrEnum
from typing import Any, TypeAlias

from hookline.config.document import Document, Places
from hookline.config.json_reader import read_json
from hookline.config.problem import Problem
from hookline.config.source import Source, Unreadable

LARGEST = 10_000_000
"""Bytes."""

Reading: TypeAlias = tuple[Document | None, tuple[Problem, ...]]

_FRONT_MATTER = re.compile(r"---[ \t]*+(?:\r\n|\n|\r)")
_FRONT_MATTER_END = re.compile(r"^(?:---|\.\.\.)[ \t]*+$", re.MULTILINE)
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
    shown = str(path) if shown_as is None else shown_as
    try:
        data = _bytes_of(os.fspath(path))
    except _NotReadable as reason:
        return None, (Problem(reason.code, shown, 1, reason.what, reason.hint),)
    return read_text(data, shown, _kind_of_name(os.fspath(path)))


def read_text(text: str | bytes, file: str, kind: Kind | None = None) -> Reading:
    """Without a kind, the file's ending tells it, or else the first character."""
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


def _read(source: Source, kind: Kind) -> Reading:
    try:
        value, root_at, places = _value(source, kind)
    except Unreadable:
        return None, tuple(sorted(source.problems))
    if source.problems:
        return None, tuple(sorted(source.problems))
    return Document(source.file, source.text, value, source.marks(root_at, places)), ()


def _value(source: Source, kind: Kind) -> tuple[Any, int, Places]:
    if kind is Kind.JSON:
        return read_json(source)
    from hookline.config.yaml_reader import read_yaml  # PyYAML costs 15 ms, and a JSON file does not need it

    start, end = 0, len(source.text)
    if kind is Kind.FRONT_MATTER:
        start, end = _front_matter(source)
    value, root_at, places = read_yaml(source, start, end)
    return ({} if value is None else value), root_at, places


def _front_matter(source: Source) -> tuple[int, int]:
    opening = _FRONT_MATTER.match(source.text)
    if opening is None:
        return 0, 0
    for closing in _line_matches(source.text, opening.end()):
        return opening.end(), closing
    source.stop("front-matter", 0, "The front matter that begins here never ends.", "End it with a line of ---.")


def _kind_of_name(name: str) -> Kind | None:
    return _KIND_OF_ENDING.get(os.path.splitext(name)[1].lower())


def _kind_of_text(text: str) -> Kind:
    return Kind.JSON if text.lstrip()[:1] in ("{", "[") else Kind.YAML
