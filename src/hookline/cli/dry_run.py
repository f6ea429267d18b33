"""The host behind --dry-run: it records what hooks would do and does nothing."""

from __future__ import annotations

import json
import shlex
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from hookline.engine.limits import FireCounts
from hookline.errors import UnavailableError
from hookline.hooks.event import Event
from hookline.hooks.host import (
    Command,
    FunctionCall,
    Notice,
    PostRequest,
    PostResponse,
    ProgramResult,
    ScriptCall,
    SystemClock,
    Thread,
    ToolResult,
    current_hook,
)


class RecordingHost:
    """Programs exit with 0 and print nothing, scripts return nothing, tools return an empty result."""

    def __init__(self) -> None:
        self.limits = FireCounts()
        self.clock = SystemClock()
        self.requests: list[dict[str, Any]] = []
        self._waiting: list[Callable[[], Awaitable[None]]] = []

    def tool_names(self) -> tuple[str, ...]:
        return ()

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        self._record("call", f"{name} {json.dumps(input, ensure_ascii=False, default=str)}")
        return ToolResult("", was_called=False)

    async def run_program(self, command: Command) -> ProgramResult:
        self._record("run", shlex.join(command.argv) if command.argv else command.text)
        return ProgramResult(0, "", "")

    async def run_script(self, script: ScriptCall) -> Any:
        self._record("script", script.source.strip())

    async def run_function(self, call: FunctionCall) -> Any:
        self._record("call", call.name)

    async def post(self, request: PostRequest) -> PostResponse:
        self._record("post to", request.url)
        return PostResponse(200, "")

    async def complete(self, prompt: str) -> str:
        self._record("ask the model", prompt)
        return ""

    async def investigate(self, prompt: str, event: Event) -> str:
        return await self.complete(prompt)

    async def publish(self, notice: Notice) -> None:
        self._record("notify", " ".join(part for part in (notice.title, notice.message) if part) or notice.channel)

    def run_in_background(self, work: Callable[[], Awaitable[None]], session: str) -> None:
        self._waiting.append(work)

    def thread(self, id: str) -> Thread:
        raise UnavailableError("a dry run has no threads")

    async def drain(self, timeout: timedelta) -> None:
        while self._waiting:
            await self._waiting.pop(0)()

    def _record(self, what: str, text: str) -> None:
        running = current_hook.get()
        self.requests.append({"hook": running.hook if running else "", "would": what, "text": text})
