"""The types of what hooks receive and return, and the check of a message before it is stored."""

from collections.abc import Mapping
from typing import Any, Final, Literal, NotRequired, TypeAlias, TypedDict

Record: TypeAlias = dict[str, Any]
"""A stored mapping of plain data."""


class HookMessage(TypedDict):
    """A stored message."""

    id: str
    role: Literal["system", "user", "assistant", "tool"]
    content: str | None
    name: NotRequired[str | None]
    tool_calls: NotRequired[str | None]  # JSON text
    tool_call_id: NotRequired[str | None]
    created_at: float  # milliseconds since 1970
    parent_id: NotRequired[str | None]
    depth: NotRequired[int]


class LLMMessage(TypedDict):
    """A message in a request to a model."""

    role: str
    content: str | None
    tool_calls: NotRequired[Any]
    tool_call_id: NotRequired[str]
    name: NotRequired[str]


class ToolCallFunction(TypedDict):
    name: str
    arguments: str  # JSON text


class HookToolCall(TypedDict):
    id: str
    type: Literal["function"]
    function: ToolCallFunction


class ToolAttachment(TypedDict):
    """A file that a tool returns. It is stored, and replaced with a reference."""

    name: str
    mimeType: str
    data: str  # base64
    width: NotRequired[int]
    height: NotRequired[int]


class AttachmentRef(TypedDict):
    """A file that is already stored with the thread."""

    id: str
    type: Literal["file"]
    path: str
    name: str
    mimeType: str
    size: int
    width: NotRequired[int]
    height: NotRequired[int]
    description: NotRequired[str]


class HookToolResult(TypedDict):
    """A hook that returns a result without `attachments` removes them."""

    status: Literal["success", "error"]
    result: NotRequired[str]
    error: NotRequired[str]
    stack: NotRequired[str]
    attachments: NotRequired[list[ToolAttachment | AttachmentRef]]


_NOT_FINITE: Final = (float("inf"), float("-inf"))
_ROLES: Final = ("system", "user", "assistant", "tool")
_TEXT_FIELDS: Final = ("content", "name", "tool_calls", "tool_call_id", "parent_id")


def find_message_error(fields: Mapping[str, Any]) -> str | None:
    """What is wrong with fields of a message, or None. Keys that a HookMessage does not have are not checked."""
    if "role" in fields and fields["role"] not in _ROLES:
        return f"its role is not one of {', '.join(_ROLES)}"
    if not isinstance(fields.get("id", ""), str) or fields.get("id") == "":
        return "its id is not text"
    for key in _TEXT_FIELDS:
        if not isinstance(fields.get(key), str | None):
            return f"its {key} is neither text nor None"
    for key in ("created_at", "depth"):
        value = fields.get(key, 0)
        if isinstance(value, bool) or not isinstance(value, int | float) or value in _NOT_FINITE or value != value:
            return f"its {key} is not a number"
    return None
