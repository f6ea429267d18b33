"""The tools that there are."""

from __future__ import annotations

from hookline.runtime.tools.bash import bash
from hookline.runtime.tools.edit_file import edit_file
from hookline.runtime.tools.fetch import fetch_tool
from hookline.runtime.tools.files import files
from hookline.runtime.tools.glob import glob
from hookline.runtime.tools.grep import grep
from hookline.runtime.tools.list_directory import list_directory
from hookline.runtime.tools.modules import filesystem, memory, workspace
from hookline.runtime.tools.read_file import read_file
from hookline.runtime.tools.runjs import runjs
from hookline.runtime.tools.storage import storage
from hookline.runtime.tools.tool import Tool
from hookline.runtime.tools.write_file import write_file


def built_in(private: tuple[str, ...] = ()) -> tuple[Tool, ...]:
    """private: hosts, or host:port, that `fetch` may reach though they are not public."""
    return (
        bash,
        read_file,
        write_file,
        edit_file,
        list_directory,
        glob,
        grep,
        fetch_tool(private),
        runjs,
        storage,
        files,
    )


def modules() -> tuple[Tool, ...]:
    """`module.action`, for apps that name their tools so."""
    return (*filesystem.ACTIONS, *memory.ACTIONS, *workspace.ACTIONS)
