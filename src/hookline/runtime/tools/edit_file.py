from __future__ import annotations

from typing import Any

from hookline.hooks.tools import Kind
from hookline.runtime.tools.aside import Until, aside
from hookline.runtime.tools.built_in import BuiltIn, takes, text
from hookline.runtime.tools.contents import replace, whole
from hookline.runtime.tools.tool import Place
from hookline.runtime.tools.workspace import Refused, Spot, Workspace
from hookline.runtime.tools.write_file import encoded


async def _edit(input: dict[str, Any], place: Place) -> str:
    old, new = encoded(input["old_string"]), encoded(input["new_string"])
    if not old:
        raise Refused("old_string is empty; write_file writes a whole file")
    if old == new:
        raise Refused("old_string and new_string are the same")

    def work(until: Until) -> str:
        with Workspace(place.workspace).at(input["path"]) as spot:
            return _edited(spot, old, new, bool(input.get("replace_all")), until)

    return await aside(work)


def _edited(spot: Spot, old: bytes, new: bytes, everywhere: bool, until: Until) -> str:
    before, version = whole(spot, until)
    count = before.count(old)
    if count == 0:
        hint = "; its lines end in CR LF" if b"\r\n" in before and b"\n" in old else ""
        raise Refused(f"old_string is not in {spot.path}{hint}")
    if count > 1 and not everywhere:
        raise Refused(f"old_string is in {spot.path} {count} times; write more of what is around it, or replace_all")
    replace(spot, before.replace(old, new), until, unless_changed=version)
    return f"edited {spot.path} ({count} {'place' if count == 1 else 'places'})"


edit_file = BuiltIn(
    "edit_file",
    "Replaces a text in a file of the workspace. The text must be there exactly once, unless all are to be replaced.",
    takes(
        "path",
        "old_string",
        "new_string",
        path=text("The file, relative to the workspace."),
        old_string=text("What stands there now, exactly, spaces and line ends included."),
        new_string=text("What is to stand there."),
        replace_all={"type": "boolean", "description": "Replace it wherever it is."},
    ),
    Kind.EDIT,
    _edit,
)
