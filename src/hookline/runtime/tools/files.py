from __future__ import annotations

import mimetypes
from typing import Any, Final

from hookline.hooks.tools import Kind
from hookline.runtime.tools.built_in import BuiltIn, takes, text
from hookline.runtime.tools.contents import MOST_WRITTEN, is_text
from hookline.runtime.tools.tool import Place
from hookline.runtime.tools.workspace import Refused
from hookline.runtime.tools.write_file import encoded

_LONGEST_PATH: Final = 1024
_MOST_FILES: Final = 10_000


async def _files(input: dict[str, Any], place: Place) -> Any:
    action, store, thread = input["action"], place.store, place.thread_id
    if action == "list":
        return await store.list_files(thread, _path(input) if input.get("path") else "")
    path = _path(input)
    if action == "read":
        return _text(path, await store.read_file(thread, path))
    if action == "delete":
        if not await store.delete_file(thread, path):
            raise _none(path)
        return f"deleted {path}"
    return await _write(input, path, place)


async def _write(input: dict[str, Any], path: str, place: Place) -> dict[str, Any]:
    if "content" not in input:
        raise Refused("content is missing")
    data = encoded(input["content"])
    if len(data) > MOST_WRITTEN:
        raise Refused(f"that is {len(data):,} bytes; at most {MOST_WRITTEN:,} are written")
    known = {each["path"] for each in await place.store.list_files(place.thread_id)}
    if len(known) >= _MOST_FILES and path not in known:
        raise Refused(f"the thread has {_MOST_FILES:,} files already; delete some")
    mime_type = mimetypes.guess_type(path)[0] or "text/plain"
    return await place.store.write_file(place.thread_id, path, data, mime_type)


def _text(path: str, data: bytes | None) -> str:
    if data is None:
        raise _none(path)
    if not is_text(data):
        raise Refused(f"{path} is not text ({len(data):,} bytes)")
    return data.decode("utf-8", "replace")


def _path(input: dict[str, Any]) -> str:
    """These are names in a store, not on a disk; they are spelt in one way only."""
    steps = [step for step in str(input.get("path", "")).split("/") if step not in ("", ".")]
    path = "/".join(steps)
    if not path:
        raise Refused("path is missing")
    if ".." in steps or not path.isprintable():
        raise Refused("that is no path of a file here")
    return path


def _none(path: str) -> Refused:
    return Refused(f"the thread has no file {path}")


files = BuiltIn(
    "files",
    "The files of this conversation, which are not in the workspace.",
    takes(
        "action",
        action=text("What to do.", enum=["read", "write", "list", "delete"]),
        path=text("The file; for list, where to look.", maxLength=_LONGEST_PATH),
        content=text("What the file is to hold; for write."),
    ),
    Kind.OTHER,
    _files,
)
