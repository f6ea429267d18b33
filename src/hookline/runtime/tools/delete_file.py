from __future__ import annotations

import os
import stat
from typing import Any

from hookline.hooks.tools import Kind
from hookline.runtime.tools.aside import Until, aside
from hookline.runtime.tools.built_in import BuiltIn, takes, text
from hookline.runtime.tools.tool import Place
from hookline.runtime.tools.workspace import Workspace, check_plain


async def _delete(input: dict[str, Any], place: Place) -> str:
    def work(until: Until) -> str:
        with Workspace(place.workspace).at(input["path"], follow=False) as spot:
            found = spot.look()
            if found is None or not stat.S_ISLNK(found.st_mode):
                check_plain(found, spot.path)
            until.check()
            os.unlink(spot.name, dir_fd=spot.directory)
            return f"deleted {spot.path}"

    return await aside(work)


delete_file = BuiltIn(
    "delete_file",
    "Deletes a file of the workspace. Of a link, the link itself goes.",
    takes("path", path=text("The file, relative to the workspace.")),
    Kind.WRITE,  # whoever guards what a file holds guards that it is there
    _delete,
)
