"""A conversation of a framework's agent: the session that hooks see, and the thread that hook code may read."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar

from hookline.errors import UnavailableError
from hookline.hooks.host import Abort, ToolResult

M = TypeVar("M")
CallTool = Callable[[str, dict[str, Any]], Awaitable[ToolResult]]


class Conversation:
    """Runs of the same thread share it. A framework keeps the messages itself, so hook code can only read them."""

    def __init__(self, id: str, call_tool: CallTool) -> None:
        self.id = id
        self.tool_calls = 0
        self.turns = 0
        self.is_started = False
        self.had_first_turn = False
        self.agents: set[str] = set()  # whose start was fired
        self.open_calls: OrderedDict[str, Any] = OrderedDict()  # what was decided about calls that wait
        self._messages: list[dict[str, Any]] = []
        self._read_messages: Callable[[], list[dict[str, Any]]] | None = None  # if they are not read yet
        self._abort = Abort()
        self._call_tool = call_tool

    @property
    def abort(self) -> Abort:
        return self._abort

    def show_messages(self, messages: Sequence[M], read: Callable[[M], dict[str, Any]]) -> None:
        """What the framework has now. They are read when a hook wants them."""
        held = list(messages)
        self._read_messages = lambda: [read(each) for each in held]

    @property
    def messages(self) -> list[dict[str, Any]]:
        """As the framework last showed them."""
        if self._read_messages is not None:
            read, self._read_messages = self._read_messages, None
            now = time.time() * 1000
            known = [each["created_at"] for each in self._messages]
            self._messages = [
                {"id": f"m{at}", "created_at": known[at] if at < len(known) else now, **message}
                for at, message in enumerate(read())
            ]
        return self._messages

    async def get_messages(self, limit: int | None = None, offset: int = 0) -> list[dict[str, Any]]:
        end = len(self.messages) - offset
        start = 0 if limit is None else max(end - limit, 0)
        return [dict(each) for each in self.messages[start : max(end, 0)]]

    async def inject_message(self, message: dict[str, Any]) -> dict[str, Any]:
        raise UnavailableError("hooks cannot store messages here: the framework keeps them")

    async def update_message(self, id: str, updates: dict[str, Any]) -> dict[str, Any]:
        raise UnavailableError("hooks cannot change stored messages here: the framework keeps them")

    async def read_file(self, path: str) -> bytes | None:
        raise UnavailableError("threads have no files here")

    async def write_file(self, path: str, data: bytes, mime_type: str) -> dict[str, Any]:
        raise UnavailableError("threads have no files here")

    async def list_files(self, path: str = "") -> list[dict[str, Any]]:
        raise UnavailableError("threads have no files here")

    async def invoke_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        return await self._call_tool(name, input)

    async def queue_tool(self, name: str, input: dict[str, Any]) -> None:
        raise UnavailableError("tools cannot be queued here")
