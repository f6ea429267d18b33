from __future__ import annotations

import stat
from collections.abc import Callable, Generator
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

from hookline.hooks.tools import Kind
from hookline.patterns.pattern import BadPattern, Pattern, Undecided, pattern
from hookline.runtime.tools.aside import Until, aside
from hookline.runtime.tools.below import Walked, files_below
from hookline.runtime.tools.built_in import BuiltIn, takes, text
from hookline.runtime.tools.contents import is_text, whole
from hookline.runtime.tools.glob import glob_pattern, matches
from hookline.runtime.tools.tool import Place
from hookline.runtime.tools.workspace import Refused, Spot, Workspace, printable

MOST_FOUND: Final = 500
_LARGEST: Final = 5 << 20  # bytes of a file that is searched
_LONGEST_SHOWN: Final = 400  # characters of a line
_LINES_AT_ONCE: Final = 256  # between two looks at the clock
_SECONDS: Final = 20.0


@dataclass(slots=True)
class _Search:
    wanted: Pattern
    until: Until
    found: list[str] = field(default_factory=list)
    walked: Walked = field(default_factory=Walked)
    left_out: int = 0  # files
    undecided: int = 0  # lines

    @property
    def full(self) -> bool:
        return len(self.found) >= MOST_FOUND

    def through(self, spot: Spot) -> None:
        try:
            data, _ = whole(spot, self.until, _LARGEST)
        except (Refused, OSError):  # no plain file, too large, gone
            self.left_out += 1
            return
        if is_text(data):
            self._lines(spot.path, data.decode("utf-8", "replace"))

    def told(self) -> str:
        notes = [f"these are the first {MOST_FOUND}"] if self.full else []
        if not self.full and (self.until.over or not self.walked.all):
            notes.append(f"not everything was searched: {self.walked.files:,} files were")
        notes += [f"{self.left_out} files are too large, or cannot be read"] if self.left_out else []
        notes += [f"{self.undecided} lines could not be decided in time"] if self.undecided else []
        return "\n".join([*(self.found or ["no line matches"]), *(f"[{note}]" for note in notes)])

    def _lines(self, path: str, content: str) -> None:
        for number, line in enumerate(content.split("\n"), 1):
            if self.full or (number % _LINES_AT_ONCE == 0 and self.until.over):
                return
            if self._in(line.removesuffix("\r")):
                self.found.append(f"{printable(path)}:{number}:{_cut(line)}")

    def _in(self, line: str) -> bool:
        try:
            return self.wanted.search(line)
        except Undecided:
            self.undecided += 1
            return False


async def _grep(input: dict[str, Any], place: Place) -> str:
    wanted, fits = _pattern(input["pattern"]), _fitting(input.get("glob"))

    def work(until: Until) -> str:
        search = _Search(wanted, until)
        with closing(_files(Workspace(place.workspace), input.get("path", "."), search)) as spots:
            for spot in spots:
                if search.full or until.over:
                    break
                if fits(spot):
                    search.through(spot)
        return search.told()

    return await aside(work, _SECONDS)


def _files(workspace: Workspace, path: str, search: _Search) -> Generator[Spot, None, None]:
    with workspace.at(path) as spot:
        found = spot.look()
        if found is not None and not stat.S_ISDIR(found.st_mode):
            search.walked.files = 1
            yield spot
            return
    with workspace.directory(path) as (directory, start):
        yield from files_below(directory, start, search.until, search.walked)


def _pattern(source: str) -> Pattern:
    try:
        return pattern(source)
    except BadPattern as error:
        raise Refused(f"the pattern cannot be read: {error}") from None


def _fitting(glob: str | None) -> Callable[[Spot], bool]:
    if glob is None:
        return lambda spot: True
    wanted = glob_pattern(glob)
    if "/" in glob:
        return lambda spot: matches(wanted, spot.path)
    return lambda spot: matches(wanted, spot.name)


def _cut(line: str) -> str:
    line = line.removesuffix("\r")
    return line if len(line) <= _LONGEST_SHOWN else f"{line[:_LONGEST_SHOWN]}…"


grep = BuiltIn(
    "grep",
    "Searches the workspace's text files, line by line, for a regular expression (RE2's syntax, and look-around).",
    takes(
        "pattern",
        pattern=text("The regular expression. (?i) before it ignores case."),
        path=text("A directory or file to search; the workspace if it is not given."),
        glob=text("Only files like this: *.py by name, src/**/*.py by path."),
    ),
    Kind.GREP,
    _grep,
)
