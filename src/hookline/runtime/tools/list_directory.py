from __future__ import annotations

import os
from typing import Any, Final

from hookline.hooks.tools import Kind
from hookline.runtime.tools.aside import Until, aside
from hookline.runtime.tools.below import Entry, entries
from hookline.runtime.tools.built_in import BuiltIn, takes, text
from hookline.runtime.tools.tool import Place
from hookline.runtime.tools.workspace import Workspace, printable

MOST_LISTED: Final = 2_000


async def _list(input: dict[str, Any], place: Place) -> str:
    def work(until: Until) -> str:
        with Workspace(place.workspace).directory(input.get("path", ".")) as (directory, _):
            listed, complete = entries(directory, MOST_LISTED)
            lines = [line_of(entry, directory) for entry in listed]
        return "\n".join([*lines, *([] if complete else [f"[only {MOST_LISTED:,} of its entries are listed]"])])

    return await aside(work)


def line_of(entry: Entry, directory: int) -> str:
    """`name/`, `name -> target` or `name  size`, on one line whatever the name holds."""
    name = printable(entry.name)
    if entry.is_directory:
        return f"{name}/"
    try:
        if entry.is_link:
            return f"{name} -> {printable(os.readlink(entry.name, dir_fd=directory))}"
        return f"{name}  {os.stat(entry.name, dir_fd=directory, follow_symlinks=False).st_size:,} bytes"
    except OSError:  # gone meanwhile
        return name


list_directory = BuiltIn(
    "list_directory",
    "Lists what is in a directory of the workspace; a name with a slash after it is a directory.",
    takes(path=text("The directory, relative to the workspace; the workspace itself if it is not given.")),
    Kind.LIST,
    _list,
)
