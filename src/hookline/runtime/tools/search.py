"""The tools `glob` and `grep`, and the walk through files that they share.

Links are not followed, and `.git` is left out.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Generator, Iterator
from contextlib import closing
from itertools import islice
from typing import Any, Final

from hookline.hooks.tools import ToolKind
from hookline.lazy_dataclasses import dataclass, field
from hookline.patterns.matchers import path_glob
from hookline.patterns.pattern import BadPattern, Pattern, UndecidedError, pattern
from hookline.runtime.tools.blocking import Deadline, run_blocking
from hookline.runtime.tools.file_content import is_text, read_content
from hookline.runtime.tools.tool_definition import BuiltInTool, ToolContext, object_schema, string_schema
from hookline.runtime.tools.workspace import ToolError, Workspace, WorkspacePath, open_directory, printable_name

MAX_WALKED_FILES: Final = 100_000
_MAX_DIRECTORY_ENTRIES: Final = 50_000  # entries of one directory
_MAX_WALK_DEPTH: Final = 64
_SKIPPED_DIRECTORIES: Final = frozenset({".git"})


@dataclass(slots=True)
class WalkStats:
    """How much was searched."""

    files: int = 0
    is_complete: bool = True


@dataclass(frozen=True, slots=True)
class DirectoryEntry:
    name: str
    is_directory: bool
    is_link: bool


def list_entries(directory: int, limit: int = _MAX_DIRECTORY_ENTRIES) -> tuple[list[DirectoryEntry], bool]:
    """The entries of a directory, sorted by name, and False if there are more."""
    with os.scandir(directory) as found:
        listed = [
            DirectoryEntry(each.name, each.is_dir(follow_symlinks=False), each.is_symlink())
            for each in islice(found, limit + 1)
        ]
    return sorted(listed[:limit], key=lambda entry: entry.name), len(listed) <= limit


def walk_files(directory: int, start: str, deadline: Deadline, walked: WalkStats) -> Iterator[WorkspacePath]:
    """Each path is valid only until the next one is requested."""
    yield from _walk_directory(directory, f"{start}/" if start else "", deadline, walked, 0)


def _walk_directory(
    directory: int, start: str, deadline: Deadline, walked: WalkStats, depth: int
) -> Iterator[WorkspacePath]:
    listed, complete = list_entries(directory)
    walked.is_complete &= complete and depth < _MAX_WALK_DEPTH
    for entry in listed:
        if deadline.is_over or walked.files >= MAX_WALKED_FILES:
            walked.is_complete = False
            return
        if not entry.is_directory:
            walked.files += 1
            yield WorkspacePath(directory, entry.name, start + entry.name)
        elif entry.name not in _SKIPPED_DIRECTORIES and depth < _MAX_WALK_DEPTH:
            yield from _walk_subdirectory(
                WorkspacePath(directory, entry.name, start + entry.name), deadline, walked, depth
            )


def _walk_subdirectory(
    target: WorkspacePath, deadline: Deadline, walked: WalkStats, depth: int
) -> Iterator[WorkspacePath]:
    try:
        inner = open_directory(target.name, target.directory)
    except OSError:  # it was removed, or is not readable
        walked.is_complete = False
        return
    try:
        yield from _walk_directory(inner, f"{target.path}/", deadline, walked, depth + 1)
    finally:
        os.close(inner)


MAX_GLOB_MATCHES: Final = 1_000
_GLOB_SECONDS: Final = 20.0


def parse_glob(glob: str) -> Pattern:
    """Raises ToolError."""
    try:
        return path_glob(glob)
    except BadPattern as error:
        raise ToolError(f"invalid glob: {error}") from None


def glob_matches(glob: Pattern, path: str) -> bool:
    try:
        return glob.search(path)
    except UndecidedError:
        return False


async def _find_files(input: dict[str, Any], context: ToolContext) -> str:
    workspace, under = context.files, input.get("path", ".")
    wanted = parse_glob(workspace.relative_path(input["pattern"]))

    def work(deadline: Deadline) -> str:
        walked = WalkStats()
        with workspace.directory(under) as (directory, start):
            skip = 0 if input["pattern"].startswith("/") or not start else len(start) + 1
            paths = (target.path for target in walk_files(directory, start, deadline, walked))
            found = [
                printable_name(path)
                for path in islice((p for p in paths if glob_matches(wanted, p[skip:])), MAX_GLOB_MATCHES)
            ]
        if len(found) == MAX_GLOB_MATCHES:
            return "\n".join([*found, f"[only the first {MAX_GLOB_MATCHES:,} files are shown]"])
        notes = [] if walked.is_complete else [f"[search incomplete: only {walked.files:,} files were checked]"]
        return "\n".join([*found, *notes]) or "no file matches"

    return await run_blocking(work, _GLOB_SECONDS)


glob = BuiltInTool(
    "glob",
    "Finds files in the workspace by a glob: `*` stays within a directory, `**/` matches any number of directories.",
    object_schema(
        "pattern",
        pattern=string_schema("The glob, for example src/**/*.py."),
        path=string_schema("The directory to search; the pattern is relative to it. Default: the workspace."),
    ),
    ToolKind.GLOB,
    _find_files,
)


MAX_GREP_MATCHES: Final = 500
_MAX_SEARCHED_BYTES: Final = 5 << 20  # bytes of a file that is searched
_MAX_LINE_LENGTH: Final = 400  # characters of a line
_LINES_PER_CHECK: Final = 256  # lines between two checks of the deadline
_GREP_SECONDS: Final = 20.0


@dataclass(slots=True)
class _LineSearch:
    pattern: Pattern
    deadline: Deadline
    found: list[str] = field(default_factory=list)
    walked: WalkStats = field(default_factory=WalkStats)
    skipped_files: int = 0  # files
    undecided_lines: int = 0  # lines

    @property
    def is_full(self) -> bool:
        return len(self.found) >= MAX_GREP_MATCHES

    def search_file(self, target: WorkspacePath) -> None:
        try:
            data, _ = read_content(target, self.deadline, _MAX_SEARCHED_BYTES)
        except (ToolError, OSError):  # not a regular file, too large, or removed
            self.skipped_files += 1
            return
        if is_text(data):
            self._search_lines(target.path, data.decode("utf-8", "replace"))

    def format_result(self) -> str:
        notes = [f"only the first {MAX_GREP_MATCHES} matches are shown"] if self.is_full else []
        if not self.is_full and (self.deadline.is_over or not self.walked.is_complete):
            notes.append(f"search incomplete: only {self.walked.files:,} files were searched")
        notes += [f"{self.skipped_files} files were skipped: too large or unreadable"] if self.skipped_files else []
        notes += [f"{self.undecided_lines} lines could not be decided in time"] if self.undecided_lines else []
        return "\n".join([*(self.found or ["no line matches"]), *(f"[{note}]" for note in notes)])

    def _search_lines(self, path: str, content: str) -> None:
        for number, line in enumerate(content.split("\n"), 1):
            if self.is_full or (number % _LINES_PER_CHECK == 0 and self.deadline.is_over):
                return
            if self._matches(line.removesuffix("\r")):
                self.found.append(f"{printable_name(path)}:{number}:{_shorten_line(line)}")

    def _matches(self, line: str) -> bool:
        try:
            return self.pattern.search(line)
        except UndecidedError:
            self.undecided_lines += 1
            return False


async def _search_files(input: dict[str, Any], context: ToolContext) -> str:
    wanted, fits = _parse_pattern(input["pattern"]), _build_path_filter(input.get("glob"))

    def work(deadline: Deadline) -> str:
        search = _LineSearch(wanted, deadline)
        with closing(_files_to_search(context.files, input.get("path", "."), search)) as targets:
            for target in targets:
                if search.is_full or deadline.is_over:
                    break
                if fits(target):
                    search.search_file(target)
        return search.format_result()

    return await run_blocking(work, _GREP_SECONDS)


def _files_to_search(workspace: Workspace, path: str, search: _LineSearch) -> Generator[WorkspacePath, None, None]:
    with workspace.resolve(path) as target:
        found = target.lstat()
        if found is not None and not stat.S_ISDIR(found.st_mode):
            search.walked.files = 1
            yield target
            return
    with workspace.directory(path) as (directory, start):
        yield from walk_files(directory, start, search.deadline, search.walked)


def _parse_pattern(source: str) -> Pattern:
    try:
        return pattern(source)
    except BadPattern as error:
        raise ToolError(f"invalid pattern: {error}") from None


def _build_path_filter(glob: str | None) -> Callable[[WorkspacePath], bool]:
    if glob is None:
        return lambda target: True
    wanted = parse_glob(glob)
    if "/" in glob:
        return lambda target: glob_matches(wanted, target.path)
    return lambda target: glob_matches(wanted, target.name)


def _shorten_line(line: str) -> str:
    line = line.removesuffix("\r")
    return line if len(line) <= _MAX_LINE_LENGTH else f"{line[:_MAX_LINE_LENGTH]}…"


grep = BuiltInTool(
    "grep",
    "Searches the workspace's text files, line by line, for a regular expression (RE2 syntax plus look-around).",
    object_schema(
        "pattern",
        pattern=string_schema("The regular expression. Start it with (?i) to ignore case."),
        path=string_schema("The directory or file to search; default: the workspace."),
        glob=string_schema("Searches only matching files: *.py matches the name, src/**/*.py (with a slash) the path."),
    ),
    ToolKind.GREP,
    _search_files,
)
