"""What the hooks are handed and give back, with the format's own keys."""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict

Record: TypeAlias = dict[str, Any]
"""A mapping of whatever is stored; its values are plain data."""


class HookMessage(TypedDict):
    """A message as it is stored."""

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
    """A message as a model is sent it."""

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
    """A file that a tool brings; it is stored, and a reference stands in its place then."""

    name: str
    mimeType: str
    data: str  # base64
    width: NotRequired[int]
    height: NotRequired[int]


class AttachmentRef(TypedDict):
    """A file that the thread has already."""

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
    """Whoever returns one without `attachments` takes them away."""

    status: Literal["success", "error"]
    result: NotRequired[str]
    error: NotRequired[str]
    stack: NotRequired[str]
    attachments: NotRequired[list[ToolAttachment | AttachmentRef]]
