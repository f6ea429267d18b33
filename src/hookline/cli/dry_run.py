"""A host that writes down what it was asked and does nothing."""

from __future__ import annotations

import json
import shlex
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

from hookline.engine.limits import Counts
from hookline.errors import Unavailable
from hookline.hooks.host import (
    Command,
    Finished,
    Function,
    Notice,
    Post,
    Posted,
    Script,
    SystemClock,
    ToolResult,
    asking,
)
from hookline.hooks.thread import Thread


class DryRun:
    """Every program ends well and says nothing, every script returns nothing, every tool has nothing to say."""

    def __init__(self) -> None:
        self.limits = Counts()
        self.clock = SystemClock()
        self.asked: list[dict[str, Any]] = []
        self._waiting: list[Callable[[], Awaitable[None]]] = []

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        self._note("call", f"{name} {json.dumps(input, ensure_ascii=False, default=str)}")
        return ToolResult("", made=False)

    async def run_program(self, command: Command) -> Finished:
        self._note("run", shlex.join(command.argv) if command.argv else command.text)
        return Finished(0, "", "")

    async def run_script(self, script: Script) -> Any:
        self._note("script", script.source.strip())

    async def run_function(self, call: Function) -> Any:
        self._note("call", call.name)

    async def post(self, request: Post) -> Posted:
        self._note("post to", request.url)
        return Posted(200, "")

    async def complete(self, prompt: str) -> str:
        self._note("ask the model", prompt)
        return ""

    async def publish(self, notice: Notice) -> None:
        self._note("notify", " ".join(part for part in (notice.title, notice.message) if part) or notice.channel)

    def later(self, work: Callable[[], Awaitable[None]], session: str) -> None:
        self._waiting.append(work)

    def thread(self, id: str) -> Thread:
        raise Unavailable("there are no threads here")

    async def drain(self, timeout: timedelta) -> None:
        while self._waiting:
            await self._waiting.pop(0)()

    def _note(self, what: str, text: str) -> None:
        who = asking.get()
        self.asked.append({"hook": who.hook if who else "", "would": what, "text": text})
