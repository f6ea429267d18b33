"""`filesystem.*`: the files of the workspace, by the names that a module's actions have."""

from __future__ import annotations

from hookline.runtime.tools.delete_file import delete_file
from hookline.runtime.tools.edit_file import edit_file
from hookline.runtime.tools.glob import glob
from hookline.runtime.tools.grep import grep
from hookline.runtime.tools.list_directory import list_directory
from hookline.runtime.tools.read_file import read_file
from hookline.runtime.tools.write_file import write_file

ACTIONS = (
    read_file.called("filesystem.read"),
    write_file.called("filesystem.write"),
    edit_file.called("filesystem.edit"),
    list_directory.called("filesystem.list"),
    glob.called("filesystem.glob"),
    grep.called("filesystem.grep"),
    delete_file.called("filesystem.delete"),
)
