"""The tools that list, read, write, edit and delete files in the workspace."""

from __future__ import annotations

import os
import stat
from typing import Any, BinaryIO, Final

from hookline.hooks.tools import ToolKind
from hookline.runtime.tools.blocking import Deadline, run_blocking
from hookline.runtime.tools.file_content import is_text, read_content, replace_content
from hookline.runtime.tools.search import DirectoryEntry, list_entries
from hookline.runtime.tools.tool_definition import (
    BuiltInTool,
    ToolContext,
    integer_schema,
    object_schema,
    string_schema,
)
from hookline.runtime.tools.workspace import ToolError, WorkspacePath, printable_name, require_regular_file


async def _delete_file(input: dict[str, Any], context: ToolContext) -> str:
    def work(deadline: Deadline) -> str:
        with context.files.resolve(input["path"], follow=False) as target:
            found = target.lstat()
            if found is None or not stat.S_ISLNK(found.st_mode):
                require_regular_file(found, target.path)
            deadline.check()
            os.unlink(target.name, dir_fd=target.directory)
            return f"deleted {target.path}"

    return await run_blocking(work)


delete_file = BuiltInTool(
    "delete_file",
    "Deletes a file in the workspace. For a link, it deletes the link itself.",
    object_schema("path", path=string_schema("The file, relative to the workspace.")),
    ToolKind.WRITE,  # a hook that guards writing a file also guards deleting it
    _delete_file,
)


MAX_LISTED_ENTRIES: Final = 2_000


async def _list_directory(input: dict[str, Any], context: ToolContext) -> str:
    def work(deadline: Deadline) -> str:
        with context.files.directory(input.get("path", ".")) as (directory, _):
            listed, complete = list_entries(directory, MAX_LISTED_ENTRIES)
            lines = [format_entry(entry, directory) for entry in listed]
        return "\n".join([*lines, *([] if complete else [f"[only {MAX_LISTED_ENTRIES:,} of its entries are listed]"])])

    return await run_blocking(work)


def format_entry(entry: DirectoryEntry, directory: int) -> str:
    """`name/`, `name -> target` or `name  size`, on one line, whatever the name contains."""
    name = printable_name(entry.name)
    if entry.is_directory:
        return f"{name}/"
    try:
        if entry.is_link:
            return f"{name} -> {printable_name(os.readlink(entry.name, dir_fd=directory))}"
        return f"{name}  {os.stat(entry.name, dir_fd=directory, follow_symlinks=False).st_size:,} bytes"
    except OSError:  # it was removed in the meantime
        return name


list_directory = BuiltInTool(
    "list_directory",
    "Lists the entries of a directory in the workspace; names of directories end with a slash.",
    object_schema(path=string_schema("The directory, relative to the workspace; default: the workspace itself.")),
    ToolKind.LIST,
    _list_directory,
)


MAX_RETURNED_BYTES: Final = 1 << 20  # bytes
_MAX_READABLE_BYTES: Final = 256 << 20  # bytes of a file
_MAX_LINE_BYTES: Final = 100_000  # bytes of one line
_MAX_LINE_NUMBER: Final = 100_000_000


async def _read_file(input: dict[str, Any], context: ToolContext) -> str:
    first, limit = int(input.get("offset", 1)), input.get("limit")

    def work(deadline: Deadline) -> str:
        with context.files.resolve(input["path"]) as target, target.open() as file:
            return _LineReader(target, file, deadline).read(max(first, 1), None if limit is None else int(limit))

    return await run_blocking(work)


class _LineReader:
    def __init__(self, target: WorkspacePath, file: BinaryIO, deadline: Deadline) -> None:
        self._path = target.path
        self._file = file
        self._deadline = deadline
        size = file.seek(0, 2)
        file.seek(0)
        if size > _MAX_READABLE_BYTES:
            raise ToolError(f"{target.path} has {size:,} bytes, too many to read; use grep or bash")
        if not is_text(file.peek(8192)):  # type: ignore[attr-defined]
            raise ToolError(f"{target.path} is not text ({size:,} bytes)")

    def read(self, first: int, limit: int | None) -> str:
        for number in range(1, first):
            if not self._next_line()[0]:
                raise ToolError(f"{self._path} has {number - 1} lines")
        lines: list[bytes] = []
        size, number, cut_lines = 0, first, 0
        while limit is None or len(lines) < limit:
            line, is_cut = self._next_line()
            if not line or size + len(line) > MAX_RETURNED_BYTES:
                return self._format_lines(lines, number if line else None, cut_lines)
            lines.append(line)
            size, number, cut_lines = size + len(line), number + 1, cut_lines + is_cut
        return self._format_lines(lines, number if self._next_line()[0] else None, cut_lines)

    def _next_line(self) -> tuple[bytes, bool]:
        """The next line and False, or the beginning of a long line and True. Empty at the end of the file."""
        self._deadline.check()
        line = self._file.readline(_MAX_LINE_BYTES)
        is_cut = len(line) == _MAX_LINE_BYTES and not line.endswith(b"\n")
        rest = line if is_cut else b""
        while rest and not rest.endswith(b"\n"):
            self._deadline.check()
            rest = self._file.readline(1 << 20)
        return (line + b"\n" if is_cut else line), is_cut

    def _format_lines(self, lines: list[bytes], next_line: int | None, cut_lines: int) -> str:
        text = b"".join(lines).decode("utf-8", "replace")
        notes = [] if next_line is None else [f"there is more: continue with offset {next_line}"]
        if cut_lines:
            notes.append(f"{cut_lines} lines were cut after {_MAX_LINE_BYTES:,} bytes")
        start = "" if not text or text.endswith("\n") else "\n"
        return f"{text}{start}[{'; '.join(notes)}]" if notes else text


read_file = BuiltInTool(
    "read_file",
    "Reads a text file in the workspace. A long file is returned in parts, with the offset to continue.",
    object_schema(
        "path",
        path=string_schema("The file, relative to the workspace."),
        offset=integer_schema("The first line to return, counted from 1.", 0, _MAX_LINE_NUMBER),
        limit=integer_schema("The maximum number of lines to return.", 1, _MAX_LINE_NUMBER),
    ),
    ToolKind.READ,
    _read_file,
)


def encode_text(content: str) -> bytes:
    """Raises ToolError for text that UTF-8 cannot encode."""
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolError("the text has lone surrogates, which UTF-8 cannot encode") from None


async def _write_file(input: dict[str, Any], context: ToolContext) -> str:
    data = encode_text(input["content"])

    def work(deadline: Deadline) -> str:
        with context.files.resolve(input["path"], make=True) as target:
            new = replace_content(target, data, deadline)
            return f"{'created' if new else 'replaced'} {target.path} ({len(data):,} bytes)"

    return await run_blocking(work)


write_file = BuiltInTool(
    "write_file",
    "Creates a file in the workspace, or replaces its content. Missing directories are created.",
    object_schema(
        "path",
        "content",
        path=string_schema("The file, relative to the workspace."),
        content=string_schema("The complete new content of the file."),
    ),
    ToolKind.WRITE,
    _write_file,
)


async def _edit_file(input: dict[str, Any], context: ToolContext) -> str:
    old, new = encode_text(input["old_string"]), encode_text(input["new_string"])
    if not old:
        raise ToolError("old_string is empty; use write_file to write a whole file")
    if old == new:
        raise ToolError("old_string and new_string are the same")

    def work(deadline: Deadline) -> str:
        with context.files.resolve(input["path"]) as target:
            return _replace_text(target, old, new, bool(input.get("replace_all")), deadline)

    return await run_blocking(work)


def _replace_text(target: WorkspacePath, old: bytes, new: bytes, everywhere: bool, deadline: Deadline) -> str:
    before, version = read_content(target, deadline)
    count = before.count(old)
    if count == 0:
        hint = "; its lines end in CR LF" if b"\r\n" in before and b"\n" in old else ""
        raise ToolError(f"old_string is not in {target.path}{hint}")
    if count > 1 and not everywhere:
        raise ToolError(f"old_string is in {target.path} {count} times; include more context, or set replace_all")
    replace_content(target, before.replace(old, new), deadline, unless_changed=version)
    return f"edited {target.path} ({count} {'place' if count == 1 else 'places'})"


edit_file = BuiltInTool(
    "edit_file",
    "Replaces text in a file in the workspace. The text must occur exactly once, unless replace_all is set.",
    object_schema(
        "path",
        "old_string",
        "new_string",
        path=string_schema("The file, relative to the workspace."),
        old_string=string_schema("The exact text to replace, including whitespace and line endings."),
        new_string=string_schema("The new text."),
        replace_all={"type": "boolean", "description": "Replace every occurrence."},
    ),
    ToolKind.EDIT,
    _edit_file,
)
