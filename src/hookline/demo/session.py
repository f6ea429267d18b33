"""The session: every event is decided by the book before or after what really happens."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol

from hookline.demo.script import FILES, PROMPT, Call, Stop, steps
from hookline.engine.account import Decision
from hookline.engine.book import Book
from hookline.hooks.event import Event
from hookline.hooks.host import Command, ToolResult
from hookline.hooks.outcome import Failed, Verdict
from hookline.hooks.tools import kind_of
from hookline.project import load_text
from hookline.runners.process import Slots, run

_TOOL_TIMEOUT = timedelta(seconds=30)


class Screen(Protocol):
    """Whoever watches."""

    def prompt(self, text: str, decision: Decision) -> None: ...
    def call(self, call: Call, decision: Decision) -> None: ...
    def answer(self, yes: bool) -> None: ...
    def result(self, result: ToolResult, decision: Decision) -> None: ...
    def stop(self, stop: Stop, decision: Decision) -> None: ...


class Session:
    def __init__(self, book: Book, workspace: Path, screen: Screen) -> None:
        self._book = book
        self._workspace = workspace
        self._screen = screen
        self._messages: list[dict[str, Any]] = []
        self._slots = Slots()

    async def run(self) -> None:
        decision = await self._decide("prompt.submit", {"prompt": PROMPT})
        self._messages.append({"role": "user", "content": PROMPT})
        self._screen.prompt(PROMPT, decision)
        for step in steps():
            self._messages.append({"role": "assistant", "content": step.says})
            if isinstance(step, Call):
                await self._call(step)
            else:
                self._screen.stop(step, await self._decide("stop", {"stop": {"reason": "end_turn"}}))

    async def _call(self, call: Call) -> None:
        """The tool runs with the input that the hooks left, or not at all."""
        tool = {"name": call.tool, "kind": str(kind_of(call.tool)), "input": call.input}
        decision = await self._decide("tool.before", {"tool": tool})
        self._screen.call(call, decision)
        if decision.verdict is Verdict.ASK:
            self._screen.answer(False)
        if decision.verdict >= Verdict.ASK:
            self._messages.append({"role": "tool", "content": decision.reason})
            return
        tool = decision.event.facts["tool"]
        result = await self._execute(call.tool, tool["input"])
        after = {**tool, "result": result.content, "ok": result.ok, "error": result.error}
        left = await self._decide("tool.after", {"tool": after})
        content = left.event.facts["tool"]["result"]
        self._messages.append({"role": "tool", "content": content})
        self._screen.result(ToolResult(content, result.ok, result.error), left)

    async def _decide(self, event: str, facts: dict[str, Any]) -> Decision:
        place = str(self._workspace)
        shared = {"host": {"name": "hookline"}, "session": {"id": "demo"}, "cwd": place, "workspace": place}
        return await self._book.decide(Event(event, {**shared, "messages": list(self._messages), **facts}))

    async def _execute(self, tool: str, input: dict[str, Any]) -> ToolResult:
        if tool == "bash":
            return await self._bash(input["command"])
        path = self._workspace / input["path"]
        if tool == "write_file":
            path.write_text(input["content"], encoding="utf-8")
            return ToolResult(f"wrote {len(input['content'])} characters to {input['path']}")
        return ToolResult(path.read_text(encoding="utf-8"))

    async def _bash(self, command: str) -> ToolResult:
        try:
            finished = await run(
                Command(argv=("sh", "-c", command), cwd=str(self._workspace), timeout=_TOOL_TIMEOUT), slots=self._slots
            )
        except Failed as failed:
            return ToolResult("", False, str(failed))
        output = (finished.stdout + finished.stderr).strip()
        return ToolResult(output, finished.exit_code == 0, "" if finished.exit_code == 0 else output)


def demo_hooks() -> str:
    return files("hookline.demo").joinpath("hookline.yaml").read_text(encoding="utf-8")


@contextmanager
def scratch() -> Iterator[Path]:
    """A workspace with the demo's files, gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="hookline-demo-") as name:
        workspace = Path(name).resolve()
        for file, text in FILES.items():
            (workspace / file).parent.mkdir(parents=True, exist_ok=True)
            (workspace / file).write_text(text, encoding="utf-8")
        yield workspace


async def play(screen: Screen) -> None:
    with scratch() as workspace:
        await Session(load_text(demo_hooks(), "hookline.yaml"), workspace, screen).run()
