from __future__ import annotations

from typing import Any

from hookline.hooks.tools import Kind
from hookline.runtime.tools.aside import Until, aside
from hookline.runtime.tools.built_in import BuiltIn, takes, text
from hookline.runtime.tools.contents import replace
from hookline.runtime.tools.tool import Place
from hookline.runtime.tools.workspace import Refused, Workspace


def encoded(content: str) -> bytes:
    """Raises Refused for text that UTF-8 has no word for."""
    try:
        return content.encode("utf-8")
    except UnicodeEncodeError:
        raise Refused("the text has lone surrogates, which no file can hold as UTF-8") from None


async def _write(input: dict[str, Any], place: Place) -> str:
    data = encoded(input["content"])

    def work(until: Until) -> str:
        with Workspace(place.workspace).at(input["path"], make=True) as spot:
            new = replace(spot, data, until)
            return f"{'created' if new else 'replaced'} {spot.path} ({len(data):,} bytes)"

    return await aside(work)


write_file = BuiltIn(
    "write_file",
    "Writes a file of the workspace, in place of what it held before. Directories on the way are made.",
    takes(
        "path",
        "content",
        path=text("The file, relative to the workspace."),
        content=text("All that the file is to hold."),
    ),
    Kind.WRITE,
    _write,
)
