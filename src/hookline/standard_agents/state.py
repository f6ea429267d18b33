"""The state of the thread that a hook is called for, and what a hook can do with the thread."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Literal, cast

from hookline.errors import UnavailableError
from hookline.hooks.host import Abort, Thread, ToolResult
from hookline.lazy_dataclasses import dataclass, field
from hookline.standard_agents.definitions import AgentDefinition, Definitions, ModelDefinition, PromptDefinition
from hookline.standard_agents.messages import AttachmentRef, HookMessage, HookToolResult, Record

_NEVER_ABORTED = Abort()


class AbortSignal:
    """Set when the execution is to end. On a host that cannot abort, it is never set."""

    __slots__ = ("_find",)

    def __init__(self, find: Callable[[], Abort]) -> None:
        self._find = find

    @property
    def aborted(self) -> bool:
        return self._abort.aborted

    @property
    def reason(self) -> str | None:
        return self._abort.reason

    async def wait(self) -> None:
        await self._abort.wait()

    @property
    def _abort(self) -> Abort:
        try:
            return self._find()
        except UnavailableError:
            return _NEVER_ABORTED


@dataclass(frozen=True, slots=True)
class ExecutionState:
    """Before the first step: the next flow, side a, step 0, not stopped."""

    flow_id: str
    current_side: Literal["a", "b"]
    step_count: int  # calls of the model
    stopped: bool
    abort_signal: AbortSignal = field(compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class ThreadState:
    """The host carries out what is done with a thread; a host without threads raises UnavailableError."""

    thread_id: str
    agent_id: str
    user_id: str | None
    execution: ExecutionState
    _thread: Callable[[], Thread] = field(compare=False, repr=False)
    _definitions: Definitions = field(compare=False, repr=False)

    async def load_agent(self, name: str) -> AgentDefinition:
        """Raises NotDefined, as do load_prompt and load_model."""
        return self._definitions.agent(name)

    async def load_prompt(self, name: str) -> PromptDefinition:
        return self._definitions.prompt(name)

    async def load_model(self, name: str) -> ModelDefinition:
        return self._definitions.model(name)

    async def get_messages(self, limit: int | None = None, offset: int = 0) -> list[HookMessage]:
        """As stored, oldest first. With a limit: the last `limit` messages before the last `offset`."""
        return cast("list[HookMessage]", await self._thread().get_messages(limit, offset))

    async def inject_message(self, message: Record) -> HookMessage:
        """Stores a message; the create hooks run for it as for every message."""
        return cast(HookMessage, await self._thread().inject_message(copy.deepcopy(message)))

    async def update_message(self, message_id: str, updates: Record) -> HookMessage:
        return cast(HookMessage, await self._thread().update_message(message_id, copy.deepcopy(updates)))

    async def read_file(self, path: str) -> bytes | None:
        return await self._thread().read_file(path)

    async def write_file(
        self, path: str, data: bytes | str, mime_type: str = "application/octet-stream"
    ) -> AttachmentRef:
        raw = data.encode() if isinstance(data, str) else data
        return cast(AttachmentRef, await self._thread().write_file(path, raw, mime_type))

    async def list_files(self, path: str = "") -> list[AttachmentRef]:
        return cast("list[AttachmentRef]", await self._thread().list_files(path))

    async def invoke_tool(self, name: str, args: Record | None = None) -> HookToolResult:
        """Calls the tool now, as if the agent had. A denied or failed call, or an unknown tool, returns an error."""
        thread = self._thread()
        try:
            result = await thread.invoke_tool(name, copy.deepcopy(args or {}))
        except UnavailableError as missing:  # there is no such tool
            return {"status": "error", "error": str(missing)}
        return hook_tool_result(result)

    async def queue_tool(self, name: str, args: Record | None = None) -> None:
        """Calls the tool at the end of the current turn."""
        await self._thread().queue_tool(name, copy.deepcopy(args or {}))


def hook_tool_result(result: ToolResult) -> HookToolResult:
    """Without the keys that the tool did not return."""
    found: dict[str, Any] = {**result.more, "status": "success" if result.ok else "error"}
    if result.content is not None:
        found["result"] = result_text(result.content)
    if not result.ok:
        found["error"] = result.error
    if result.attachments:
        found["attachments"] = copy.deepcopy(list(result.attachments))
    return cast(HookToolResult, found)


def result_text(content: Any) -> str:
    """Text unchanged, anything else as compact JSON."""
    if isinstance(content, str):
        return content
    import json

    return "" if content is None else json.dumps(content, ensure_ascii=False, separators=(",", ":"), default=str)
