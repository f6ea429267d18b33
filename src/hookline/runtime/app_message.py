"""The tool `app.send_message`, with which hooks test an app: a message to the app in a session of its own."""

from __future__ import annotations

from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final

from hookline.errors import HooklineError
from hookline.hooks.host import ToolResult
from hookline.hooks.tools import ToolKind
from hookline.runtime.tools.tool_definition import ToolContext, object_schema, string_schema

if TYPE_CHECKING:
    from hookline.runtime.runtime import Runtime

_is_sending: Final[ContextVar[bool]] = ContextVar("is_sending", default=False)


class SendMessageTool:
    """Only hooks find it; it is not offered to models."""

    name = "app.send_message"
    kind = ToolKind.OTHER
    description = "Sends a message to an agent of this app, in a new session, and returns its answer."
    schema: Final = object_schema(
        "message",
        message=string_schema("The message.", minLength=1, maxLength=100_000),
        agent=string_schema("Which agent; default: the first of the app."),
    )

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    async def perform(self, input: dict[str, Any], context: ToolContext) -> ToolResult:
        """A session that such a message started sends none itself, so that no test starts another one."""
        if _is_sending.get():
            return ToolResult(None, False, "this session answers such a message itself")
        token = _is_sending.set(True)
        try:
            return ToolResult(await self._answer(input["message"], input.get("agent")))
        except HooklineError as error:
            return ToolResult(None, False, str(error))
        finally:
            _is_sending.reset(token)

    async def _answer(self, message: str, agent: str | None) -> str:
        session = await self._runtime.start(agent)
        try:
            return await session.ask(message)
        finally:
            await self._runtime.end(session, "answered")
