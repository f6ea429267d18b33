from __future__ import annotations

from itertools import islice
from typing import Any, Final

from hookline.hooks.tools import Kind
from hookline.patterns.globs import path_glob
from hookline.patterns.pattern import BadPattern, Pattern, Undecided
from hookline.runtime.tools.aside import Until, aside
from hookline.runtime.tools.below import Walked, files_below
from hookline.runtime.tools.built_in import BuiltIn, takes, text
from hookline.runtime.tools.tool import Place
from hookline.runtime.tools.workspace import Refused, Workspace, printable

MOST_FOUND: Final = 1_000
_SECONDS: Final = 20.0


def glob_pattern(glob: str) -> Pattern:
    """Raises Refused."""
    try:
        return path_glob(glob)
    except BadPattern as error:
        raise Refused(f"the glob cannot be read: {error}") from None


def matches(glob: Pattern, path: str) -> bool:
    try:
        return glob.search(path)
    except Undecided:
        return False


async def _glob(input: dict[str, Any], place: Place) -> str:
    workspace, under = Workspace(place.workspace), input.get("path", ".")
    wanted = glob_pattern(workspace.relative(input["pattern"]))

    def work(until: Until) -> str:
        walked = Walked()
        with workspace.directory(under) as (directory, start):
            skip = 0 if input["pattern"].startswith("/") or not start else len(start) + 1
            paths = (spot.path for spot in files_below(directory, start, until, walked))
            found = [printable(path) for path in islice((p for p in paths if matches(wanted, p[skip:])), MOST_FOUND)]
        if len(found) == MOST_FOUND:
            return "\n".join([*found, f"[these are the first {MOST_FOUND:,}]"])
        notes = [] if walked.all else [f"[not every file was looked at: {walked.files:,} were]"]
        return "\n".join([*found, *notes]) or "no file matches"

    return await aside(work, _SECONDS)


glob = BuiltIn(
    "glob",
    "Finds files of the workspace by a glob: `*` stays within a directory, `**/` is any number of them.",
    takes(
        "pattern",
        pattern=text("Like src/**/*.py."),
        path=text("The directory to look in and to write the pattern from; the workspace if it is not given."),
    ),
    Kind.GLOB,
    _glob,
)
