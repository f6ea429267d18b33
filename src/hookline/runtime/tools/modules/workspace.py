"""`workspace.*`: where the agent works, at a glance."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Final

from hookline.hooks.host import ToolResult
from hookline.hooks.tools import Kind
from hookline.runtime.tools.aside import Until, aside
from hookline.runtime.tools.bash import cut
from hookline.runtime.tools.below import Walked, entries, files_below
from hookline.runtime.tools.built_in import BuiltIn, takes, text, whole_number
from hookline.runtime.tools.git import changes
from hookline.runtime.tools.list_directory import line_of
from hookline.runtime.tools.tool import Place
from hookline.runtime.tools.workspace import Refused, Workspace, open_directory, printable

MOST_LINES: Final = 1_000
_USUAL_DEPTH: Final = 3
_SECONDS: Final = 10.0


async def _info(input: dict[str, Any], place: Place) -> dict[str, Any]:
    def work(until: Until) -> dict[str, Any]:
        workspace, walked = Workspace(place.workspace), Walked()
        with workspace.directory(".") as (directory, _):
            size = sum(1 for _ in files_below(directory, "", until, walked))
        return {"path": str(workspace.root), "files": size, "all_counted": walked.all}

    return await aside(work, _SECONDS)


@dataclass(slots=True)
class _Tree:
    until: Until
    lines: list[str] = field(default_factory=list)

    def branch(self, directory: int, depth: int, indent: str = "") -> bool:
        """False if something was left out."""
        listed, complete = entries(directory, MOST_LINES)
        for entry in listed:
            if len(self.lines) >= MOST_LINES or self.until.over:
                return False
            self.lines.append(indent + line_of(entry, directory))
            if entry.is_directory and entry.name != ".git" and depth > 1:
                complete &= self._deeper(directory, entry.name, depth - 1, f"{indent}  ")
        return complete

    def _deeper(self, directory: int, name: str, depth: int, indent: str) -> bool:
        try:
            inner = open_directory(name, directory)
        except OSError:  # gone, or not ours to read
            return False
        try:
            return self.branch(inner, depth, indent)
        finally:
            os.close(inner)


async def _tree(input: dict[str, Any], place: Place) -> str:
    def work(until: Until) -> str:
        tree = _Tree(until)
        with Workspace(place.workspace).directory(input.get("path", ".")) as (directory, _):
            complete = tree.branch(directory, int(input.get("depth", _USUAL_DEPTH)))
        return "\n".join([*tree.lines, *([] if complete else ["[there is more]"])])

    return await aside(work, _SECONDS)


async def _changes(input: dict[str, Any], place: Place) -> ToolResult:
    told = await changes(place)
    if told is None:
        raise Refused("the workspace is not in a git repository")
    return ToolResult(cut("\n".join(printable(line) for line in told.split("\n"))))


ACTIONS = (
    BuiltIn("workspace.info", "Where the workspace is, and how many files it has.", takes(), Kind.OTHER, _info),
    BuiltIn(
        "workspace.tree",
        "The directories and files of the workspace, as a tree.",
        takes(
            path=text("Where to begin; the workspace if it is not given."),
            depth=whole_number(f"How deep to go; {_USUAL_DEPTH} if not given.", 1, 20),
        ),
        Kind.LIST,
        _tree,
    ),
    BuiltIn("workspace.changes", "What git status says of the workspace.", takes(), Kind.OTHER, _changes),
)
