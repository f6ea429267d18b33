"""The tools `files` and `storage`: files of a conversation, and values of an agent."""

from __future__ import annotations

import json
import mimetypes
from typing import Any, Final

from hookline.hooks.tools import ToolKind
from hookline.runtime.tools.file_content import MAX_FILE_BYTES, is_text
from hookline.runtime.tools.file_tools import encode_text
from hookline.runtime.tools.tool_definition import BuiltInTool, ToolContext, object_schema, string_schema
from hookline.runtime.tools.workspace import ToolError

_MAX_STORED_PATH_LENGTH: Final = 1024
_MAX_STORED_FILES: Final = 10_000


async def _run_files(input: dict[str, Any], context: ToolContext) -> Any:
    action, store, thread = input["action"], context.store, context.thread_id
    if action == "list":
        return await store.list_files(thread, _parse_path(input) if input.get("path") else "")
    path = _parse_path(input)
    if action == "read":
        return _decode_text(path, await store.read_file(thread, path))
    if action == "delete":
        if not await store.delete_file(thread, path):
            raise _missing_file_error(path)
        return f"deleted {path}"
    return await _write_stored_file(input, path, context)


async def _write_stored_file(input: dict[str, Any], path: str, context: ToolContext) -> dict[str, Any]:
    if "content" not in input:
        raise ToolError("content is missing")
    data = encode_text(input["content"])
    if len(data) > MAX_FILE_BYTES:
        raise ToolError(f"the content has {len(data):,} bytes; at most {MAX_FILE_BYTES:,} are allowed")
    known = {each["path"] for each in await context.store.list_files(context.thread_id)}
    if len(known) >= _MAX_STORED_FILES and path not in known:
        raise ToolError(f"the thread has {_MAX_STORED_FILES:,} files already; delete some")
    mime_type = mimetypes.guess_type(path)[0] or "text/plain"
    return await context.store.write_file(context.thread_id, path, data, mime_type)


def _decode_text(path: str, data: bytes | None) -> str:
    if data is None:
        raise _missing_file_error(path)
    if not is_text(data):
        raise ToolError(f"{path} is not text ({len(data):,} bytes)")
    return data.decode("utf-8", "replace")


def _parse_path(input: dict[str, Any]) -> str:
    """The normalised path. It is a name in the store, not on disk."""
    steps = [step for step in str(input.get("path", "")).split("/") if step not in ("", ".")]
    path = "/".join(steps)
    if not path:
        raise ToolError("path is missing")
    if ".." in steps or not path.isprintable():
        raise ToolError("invalid path")
    return path


def _missing_file_error(path: str) -> ToolError:
    return ToolError(f"the thread has no file {path}")


files = BuiltInTool(
    "files",
    "Reads, writes, lists and deletes the files of this conversation. They are not in the workspace.",
    object_schema(
        "action",
        action=string_schema("The action.", enum=["read", "write", "list", "delete"]),
        path=string_schema(
            "The path of the file. For list: the directory; default: all files.", maxLength=_MAX_STORED_PATH_LENGTH
        ),
        content=string_schema("The complete new content of the file. Only for write."),
    ),
    ToolKind.OTHER,
    _run_files,
)


MAX_VALUE_LENGTH: Final = 1 << 20  # characters as JSON
_MAX_KEYS: Final = 10_000
_MAX_KEY_LENGTH: Final = 512


async def _run_storage(input: dict[str, Any], context: ToolContext) -> Any:
    """Values belong to the agent: other agents do not see them, and its later sessions do."""
    action, store, owner = input["action"], context.store, context.agent
    if action == "list":
        return await store.keys(owner)
    key = _parse_key(input)
    if action == "get":
        return await store.get_value(owner, key)
    if action == "delete":
        return "deleted" if await store.delete_value(owner, key) else f"there was no value under the key {key!r}"
    if "value" not in input:
        raise ToolError("value is missing")
    check_json_size(input["value"])
    if not await store.set_value(owner, key, input["value"], _MAX_KEYS):
        raise ToolError(f"there are {_MAX_KEYS:,} keys already; delete some")
    return "stored"


def check_json_size(value: Any, max_length: int = MAX_VALUE_LENGTH) -> None:
    """Raises ToolError if the value is too large or is not JSON."""
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (ValueError, TypeError, RecursionError):
        raise ToolError("the value cannot be stored as JSON") from None
    if size > max_length:
        raise ToolError(f"the value has {size:,} characters as JSON; at most {max_length:,} are stored")


def _parse_key(input: dict[str, Any]) -> str:
    key = input.get("key", "")
    if not key:
        raise ToolError("key is missing")
    if not key.isprintable():
        raise ToolError("the key contains unprintable characters")
    return str(key)


storage = BuiltInTool(
    "storage",
    "Stores values by key. Only you can read them, and you can read them in later sessions.",
    object_schema(
        "action",
        action=string_schema("The action.", enum=["get", "set", "delete", "list"]),
        key=string_schema("The key. Not used by list.", maxLength=_MAX_KEY_LENGTH),
        value={"description": "The value to store: any JSON. Only for set."},
    ),
    ToolKind.OTHER,
    _run_storage,
)
