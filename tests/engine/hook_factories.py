"""Small real hooks, events and a host, for the tests of the engine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.engine.limits import FireCounts
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.conditions.logic import ALWAYS
from hookline.hooks.conditions.text import Matches
from hookline.hooks.event import Changes, Event, FactPath, parse_path
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.host import Host, NullHost, ToolResult
from hookline.hooks.outcome import SILENT, Outcome, Verdict
from hookline.hooks.protocols import Condition, May
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tool_name import ToolName
from hookline.patterns.pattern import pattern

_NUMBER = count()

DENY = FixedAnswer(Outcome(Verdict.DENY, "no"))
ASK = FixedAnswer(Outcome(Verdict.ASK, "may it?"))
ALLOW = FixedAnswer(Outcome(Verdict.ALLOW, "fine"))


def make_hook(then: Any, when: Condition = ALWAYS, *, event: str = "tool.before", **more: Any) -> Hook:
    id = more.pop("id", None) or f"h{next(_NUMBER)}"
    origin = more.pop("origin", Origin("hooks.yaml", 1, "native"))
    return Hook(id=id, event=event, when=when, then=then, origin=origin, **more)


def make_book(*hooks: Hook, host: Host | None = None) -> Book:
    return Book([Layer("one", hooks)], host=host) if host else Book([Layer("one", hooks)])


def tool_call_event(command: Any = "ls", tool: str = "bash", **facts: Any) -> Event:
    return Event("tool.before", {"tool": {"name": tool, "input": {"command": command}}, **facts})


def tool_matches(source: str) -> Matches:
    return Matches(ToolName(), pattern(source))


def input_matches(name: str, source: str) -> Matches:
    return Matches(ToolField(parse_path(name)), pattern(source))


def command_matches(source: str) -> Matches:
    return input_matches("command", source)


Work = Callable[[Event, Host], Awaitable[Outcome]]


@dataclass(frozen=True)
class FunctionAction:
    """An action made of a function."""

    work: Work
    may: May = May.JUDGE | May.CHANGE | May.NOTES
    instant: bool = False
    constant = None

    def changes(self) -> Iterable[FactPath]:
        return ()

    def reads(self) -> Iterable[FactPath]:
        return ()

    async def run(self, event: Event, host: Host) -> Outcome:
        return await self.work(event, host)


def instant_action(work: Callable[[Event], Outcome], may: May = May.JUDGE | May.CHANGE | May.NOTES) -> FunctionAction:
    async def run(event: Event, host: Host) -> Outcome:
        return work(event)

    return FunctionAction(run, may, instant=True)


def returning_action(outcome: Outcome) -> FunctionAction:
    """As a program would: not a constant, and it has to be waited for."""

    async def run(event: Event, host: Host) -> Outcome:
        await asyncio.sleep(0)
        return outcome

    return FunctionAction(run)


def raising_action(error: BaseException, instant: bool = True) -> FunctionAction:
    async def run(event: Event, host: Host) -> Outcome:
        raise error

    return FunctionAction(run, instant=instant)


def changing_action(*changed: tuple[str, Any], verdict: Verdict = Verdict.SILENT) -> FunctionAction:
    made: Changes = tuple((parse_path(path), value) for path, value in changed)
    return instant_action(lambda _: Outcome(verdict, changes=made), May.CHANGE)


def command_changing_action(text: str) -> FunctionAction:
    return changing_action(("tool.input.command", text))


@dataclass
class RecordingAction:
    """An action that remembers the events that it was asked about."""

    outcome: Outcome = SILENT
    events: list[Event] = field(default_factory=list)
    may: May = May.JUDGE | May.NOTES
    instant: bool = True
    constant = None

    def changes(self) -> Iterable[FactPath]:
        return ()

    def reads(self) -> Iterable[FactPath]:
        return ()

    async def run(self, event: Event, host: Host) -> Outcome:
        self.events.append(event)
        return self.outcome

    @property
    def commands(self) -> list[str]:
        return [event.facts["tool"]["input"]["command"] for event in self.events]


@dataclass
class ManualClock:
    passed: float = 0.0

    def now(self) -> float:
        return self.passed

    def wall(self) -> float:
        return self.passed

    def advance(self, length: timedelta) -> None:
        self.passed += length.total_seconds()


class FakeHost(NullHost):
    """A host with counts, a clock to turn by hand and a pile of work for later."""

    def __init__(self) -> None:
        self.counts = FireCounts()
        self.clock = ManualClock()
        self.queue: list[Callable[[], Awaitable[None]]] = []
        self.tools: Callable[[str, dict[str, Any]], Awaitable[ToolResult]] | None = None

    @property
    def limits(self) -> FireCounts:
        return self.counts

    def run_in_background(self, work: Callable[[], Awaitable[None]], session: str) -> None:
        self.queue.append(work)

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        if self.tools is None:
            return await super().call_tool(name, input)
        return await self.tools(name, input)

    async def drain(self) -> None:
        while self.queue:
            await self.queue.pop(0)()


def decide(book: Book, event: Event, host: Host | None = None, explain: bool = False) -> Decision:
    deciding = book.decide(event, host, explain) if host else book.decide(event, explain=explain)
    return asyncio.run(deciding)
