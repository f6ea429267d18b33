"""Reads a file or text into a document, or returns the problems that prevent it.

The `read_*` functions return either a document or at least one problem, never both. The `salvage_*` functions return
both if only parts of the file are unreadable. No content of a file raises an exception.
"""

from __future__ import annotations

import os
import stat
from enum import StrEnum
from pathlib import PurePath
from typing import Any, TypeAlias

from hookline.config.document import Document, SourceMap, SourceText, UnreadableError, problems_of
from hookline.config.problem import NO_LINE, Problem
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import lazy_pattern

MAX_FILE_BYTES = 10_000_000

ReadResult: TypeAlias = tuple[Document | None, tuple[Problem, ...]]

_FRONT_MATTER = lazy_pattern(r"---[ \t]*+(?:\r\n|\n|\r)")
_FRONT_MATTER_END = lazy_pattern(r"[\r\n](?:---|\.\.\.)[ \t]*+(?=[\r\n]|\Z)")
_LINE_END = lazy_pattern(rb"\r\n|\n|\r")
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_BINARY", 0)


class FileFormat(StrEnum):
    JSON = "json"
    """With // and /* */ comments and trailing commas."""
    YAML = "yaml"
    FRONT_MATTER = "front_matter"
    """The YAML between the leading `---` lines of a Markdown file; `{}` if there is none."""
    TOML = "toml"
    PROGRAM = "program"
    """A program that is itself the hook: `{"program": text}`."""


_FORMAT_BY_SUFFIX = {
    ".json": FileFormat.JSON,
    ".jsonc": FileFormat.JSON,
    ".json5": FileFormat.JSON,
    ".hook": FileFormat.JSON,  # of Kiro
    ".yaml": FileFormat.YAML,
    ".yml": FileFormat.YAML,
    ".md": FileFormat.FRONT_MATTER,
    ".toml": FileFormat.TOML,
}


_PROGRAM_FOLDERS = frozenset(((".clinerules", "hooks"), (".cline", "hooks"), ("Cline", "Hooks")))
"""The last two parts of the folders whose files are programs."""


def read_file(path: str | os.PathLike[str], shown_as: str | None = None) -> ReadResult:
    """Reads regular files only, so it never waits for a pipe or device. The path's suffix gives the format."""
    return _reject_damaged(salvage_file(path, shown_as))


def read_text(text: str | bytes, file: str, format: FileFormat | None = None) -> ReadResult:
    """Without a format, the file's suffix gives it, or else the first character."""
    return _reject_damaged(salvage_text(text, file, format))


def salvage_file(path: str | os.PathLike[str], shown_as: str | None = None) -> ReadResult:
    """Like `read_file`, but also returns what is left of a file with unreadable parts."""
    shown = str(path) if shown_as is None else shown_as
    data = _read_bytes(os.fspath(path), shown)
    if isinstance(data, Problem):
        return None, (data,)
    document, problems = salvage_text(data, shown, _format_of_name(os.fspath(path)))
    if document is None:
        return None, problems
    return replace(document, directory=os.path.dirname(os.path.abspath(path))), problems


def salvage_text(text: str | bytes, file: str, format: FileFormat | None = None) -> ReadResult:
    """Like `read_text`, but also returns what is left of a text with unreadable parts."""
    size = len(text) if isinstance(text, bytes) else len(text.encode("utf-8", "surrogatepass"))
    if size > MAX_FILE_BYTES:
        return None, (_too_large_problem(file),)
    if isinstance(text, bytes):
        try:
            text = text.decode("utf-8")
        except UnicodeDecodeError as error:
            return None, (_not_utf8_problem(error, file),)
    has_mark = text.startswith("\ufeff")
    text = text.removeprefix("\ufeff")
    document, problems = _parse_source(SourceText(file, text), format or _format_of_name(file) or _format_of_text(text))
    if document is not None and has_mark:
        document = replace(document, has_byte_order_mark=True)
    return document, problems


def _reject_damaged(reading: ReadResult) -> ReadResult:
    return (None, reading[1]) if reading[1] else reading


def _parse_source(source: SourceText, format: FileFormat) -> ReadResult:
    try:
        value, source_map = _parse_value(source, format)
    except UnreadableError:
        return None, tuple(sorted(source.problems))
    problems = tuple(sorted(source.problems))
    if problems_of(value):
        return None, problems
    if value is None:
        value = {}
    return Document(source.file, source.text, value, source_map, problems), problems


def _parse_value(source: SourceText, format: FileFormat) -> tuple[Any, SourceMap]:
    if format is FileFormat.JSON:
        source.refuse_control_characters(0, len(source.text))
        from hookline.config.jsonc import parse_json

        return parse_json(source)
    if format is FileFormat.PROGRAM:
        return {"program": source.text}, SourceMap(source.starts)
    if format is FileFormat.TOML:
        from hookline.config.toml import parse_toml  # few files are TOML

        return parse_toml(source)
    start, end = 0, len(source.text)
    if format is FileFormat.FRONT_MATTER:
        start, end = _front_matter_span(source)
    return _parse_yaml(source, start, end)


def _parse_yaml(source: SourceText, start: int, end: int) -> tuple[Any, SourceMap]:
    from hookline.config.plain_yaml import parse_plain_yaml

    plain = parse_plain_yaml(source, start, end)
    if plain is not None:
        return plain
    from hookline.config.yaml import parse_yaml  # PyYAML takes 11 ms to import

    return parse_yaml(source, start, end)


def _front_matter_span(source: SourceText) -> tuple[int, int]:
    opening = _FRONT_MATTER.match(source.text)
    if opening is None:
        return 0, 0
    closing = _FRONT_MATTER_END.search(source.text, opening.end() - 1)
    if closing is None:
        source.fail("front-matter", 0, "The front matter is never closed.", "End it with a line of ---.")
    return opening.end(), closing.start() + 1


def is_program_file(name: str | os.PathLike[str]) -> bool:
    """Whether the file is not a document but a program that is itself a hook."""
    return PurePath(name).parts[-3:-1] in _PROGRAM_FOLDERS


def _format_of_name(name: str) -> FileFormat | None:
    if is_program_file(name):
        return FileFormat.PROGRAM
    return _FORMAT_BY_SUFFIX.get(os.path.splitext(name)[1].lower())


def _format_of_text(text: str) -> FileFormat:
    return FileFormat.JSON if text.lstrip()[:1] in ("{", "[") else FileFormat.YAML


def _read_bytes(path: str, shown: str) -> bytes | Problem:
    try:
        return _read_regular_file(path)
    except _SpecialFileError as refusal:
        return Problem(refusal.code, shown, 1, refusal.what, refusal.hint)
    except FileNotFoundError:
        if os.path.islink(path):
            return Problem("no-file", shown, 1, "This link points to a missing file.")
        return Problem("no-file", shown, NO_LINE, "This file does not exist.")
    except PermissionError:
        return Problem("no-permission", shown, 1, "You do not have permission to read this file.")
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        return Problem("cannot-read", shown, 1, f"This file cannot be read: {reason}.")


class _SpecialFileError(Exception):
    def __init__(self, code: str, what: str, hint: str = "") -> None:
        self.code, self.what, self.hint = code, what, hint


def _read_regular_file(path: str) -> bytes:
    _refuse_special_file(os.stat(path))
    descriptor = os.open(path, _OPEN_FLAGS)
    with open(descriptor, "rb", closefd=True) as file:
        _refuse_special_file(os.fstat(descriptor))  # again: the path may point elsewhere by now
        return file.read(MAX_FILE_BYTES + 1)


def _refuse_special_file(status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise _SpecialFileError("not-a-file", "This is a directory.", "Name a file.")
    if not stat.S_ISREG(status.st_mode):
        raise _SpecialFileError("not-a-file", "This is a pipe, socket or device.", "Name a regular file.")


def _too_large_problem(file: str) -> Problem:
    return Problem(
        "too-large",
        file,
        1,
        f"The file is larger than {MAX_FILE_BYTES // 1_000_000} MB.",
        "Split it into several files.",
    )


def _not_utf8_problem(error: UnicodeDecodeError, file: str) -> Problem:
    line = len(_LINE_END.findall(error.object, 0, error.start)) + 1
    what = f"Byte {error.start} (0x{error.object[error.start]:02X}) is not UTF-8."
    return Problem("not-utf8", file, line, what, "Save the file as UTF-8.")
