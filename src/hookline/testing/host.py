"""A host for tests: tools that answer as they were told to, everything written down, and a clock to turn by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Final

from hookline.engine.account import Decision
from hookline.engine.book import Book
from hookline.engine.calls import decided_call
from hookline.engine.limits import Counts
from hookline.errors import Unavailable
from hookline.hooks.host import Command, Finished, Notice, ToolResult
from hookline.runners.here import Here
from hookline.testing.threads import MemoryThread

_NEW_YEAR: Final = 1_767_225_600.0  # 2026-01-01T00:00:00Z


@dataclass(slots=True)
class FakeClock:
    """Stands still until it is told to go on."""

    passed: float = 0.0

    def now(self) -> float:
        return self.passed

    def wall(self) -> float:
        return _NEW_YEAR + self.passed

    def advance(self, length: timedelta) -> None:
        self.passed += length.total_seconds()


@dataclass(frozen=True, slots=True)
class Called:
    tool: str
    input: dict[str, Any]


class ScriptedHost(Here):
    """Programs and scripts run as ever; a tool or a model that nobody scripted is Unavailable.

    `called`, `published` and `prompts` are what hooks asked of it. With a `book`, a tool call that a hook makes is
    decided like any other before it is answered.
    """

    def __init__(
        self,
        tools: Mapping[str, ToolResult] | None = None,
        *,
        answers: Iterable[str] = (),
        env: Mapping[str, str] | None = None,
        book: Book | None = None,
    ) -> None:
        self.time = FakeClock()
        super().__init__(Counts(), self.time)
        self.tools = dict(tools or {})
        self.answers = list(answers)  # what the model says, one after the other
        self.env = dict(env or {})  # as if our own environment had these too
        self.book = book
        self.facts: dict[str, Any] = {}  # of the session, for calls that hooks make
        self.called: list[Called] = []
        self.published: list[Notice] = []
        self.prompts: list[str] = []
        self.threads: dict[str, MemoryThread] = {}

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        if name not in self.tools:
            raise Unavailable(f"there is no tool {name!r} here")
        if self.book is None:
            return self._answer(name, input)
        return await decided_call(self.book, self, self.facts, (name, input), self._decided)

    async def _decided(self, name: str, input: dict[str, Any], decision: Decision) -> ToolResult:
        return self._answer(name, input)

    def _answer(self, name: str, input: dict[str, Any]) -> ToolResult:
        self.called.append(Called(name, input))
        return self.tools[name]

    async def run_program(self, command: Command) -> Finished:
        return await super().run_program(replace(command, env={**self._inherited(command), **command.env}))

    async def complete(self, prompt: str) -> str:
        if not self.answers:
            raise Unavailable("there is no model here")
        self.prompts.append(prompt)
        return self.answers.pop(0)

    async def publish(self, notice: Notice) -> None:
        self.published.append(notice)

    def thread(self, id: str) -> MemoryThread:
        """The same one for the same id; it begins empty."""
        if id not in self.threads:
            self.threads[id] = MemoryThread(id, self, self.book, self.facts)
        return self.threads[id]

    async def settle(self, decision: Decision) -> None:
        """Waits for what the decision's hooks do in the background, each at most its timeout."""
        await self.drain(background_time(decision))

    def _inherited(self, command: Command) -> dict[str, str]:
        if command.inherit_env is False:
            return {}
        names = self.env if command.inherit_env is True else command.inherit_env
        return {name: self.env[name] for name in names if name in self.env and name not in command.without_env}


def background_time(decision: Decision) -> timedelta:
    """How long its background hooks may take, one after the other, and a moment for their programs to be gone."""
    started = [account.hook.timeout for account in decision.trace if not account.hook.wait and not account.not_asked]
    return sum(started, timedelta(seconds=5)) if started else timedelta()
