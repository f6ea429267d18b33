"""A tool call that a hook makes is a call like any other."""

from __future__ import annotations

import asyncio
from typing import Any

from engine.hook_factories import (
    ASK,
    DENY,
    FakeHost,
    FunctionAction,
    changing_action,
    command_changing_action,
    command_matches,
    make_book,
    make_hook,
    tool_call_event,
    tool_matches,
)
from hookline.engine.book import Book
from hookline.engine.decision import Decision
from hookline.engine.nested_calls import call_tool_from_hook
from hookline.hooks.event import REMOVED, Event
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.host import Host, ToolResult
from hookline.hooks.outcome import Outcome, Verdict


class Office(FakeHost):
    """A host whose hooks' own calls are decided by its book."""

    def __init__(self, *hooks: Hook) -> None:
        super().__init__()
        self.book: Book = make_book(*hooks)
        self.ran: list[tuple[str, dict[str, Any]]] = []
        self.facts: dict[str, Any] = {"session": {"id": "s"}}

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        return await call_tool_from_hook(self.book, self, self.facts, (name, input), self._execute)

    async def _execute(self, name: str, input: dict[str, Any], decision: Decision) -> ToolResult:
        self.ran.append((name, input))
        return ToolResult("ran")

    def decide(self, event: Event) -> Decision:
        return asyncio.run(self.book.decide(event, self))


def tool_calling_action(name: str, text: str, results: list[ToolResult]) -> FunctionAction:
    async def run(event: Event, host: Host) -> Outcome:
        results.append(await host.call_tool(name, {"command": text}))
        return Outcome()

    return FunctionAction(run)


def test_a_denied_call_comes_back_as_an_error_result() -> None:
    results: list[ToolResult] = []
    office = Office(
        make_hook(tool_calling_action("bash", "rm", results), tool_matches("^x$")),
        make_hook(DENY, command_matches("rm")),
    )
    decision = office.decide(tool_call_event(tool="x"))
    assert results == [ToolResult(None, False, "no")]
    assert decision.verdict is Verdict.SILENT
    assert not office.ran


def test_a_question_that_nobody_is_there_to_answer_is_an_error_result() -> None:
    results: list[ToolResult] = []
    Office(
        make_hook(tool_calling_action("bash", "rm", results), tool_matches("^x$")),
        make_hook(ASK, command_matches("rm")),
    ).decide(tool_call_event(tool="x"))
    assert (results[0].ok, results[0].error) == (False, "may it?")


def test_it_runs_with_the_input_that_the_hooks_left_and_the_facts_of_the_session() -> None:
    seen: list[Event] = []

    async def look(event: Event, host: Host) -> Outcome:
        seen.append(event)
        return Outcome()

    results: list[ToolResult] = []
    office = Office(
        make_hook(tool_calling_action("bash", "one", results), tool_matches("^x$"), id="maker"),
        make_hook(command_changing_action("two"), command_matches("^one$")),
        make_hook(FunctionAction(look), tool_matches("bash")),
    )
    office.decide(tool_call_event(tool="x"))
    assert office.ran == [("bash", {"command": "two"})]
    assert results == [ToolResult("ran")]
    facts = seen[0].facts
    assert facts["tool"] == {"name": "bash", "kind": "shell", "input": {"command": "two"}, "caller": "maker"}
    assert facts["session"] == {"id": "s"}


def test_a_hook_is_not_asked_about_its_own_call() -> None:
    results: list[ToolResult] = []
    office = Office(make_hook(tool_calling_action("bash", "again", results), id="loop"))
    office.decide(tool_call_event())
    assert len(office.ran) == 1


def test_two_hooks_that_call_each_others_tools_end() -> None:
    results: list[ToolResult] = []
    office = Office(
        make_hook(tool_calling_action("b", "x", results), tool_matches("^a$")),
        make_hook(tool_calling_action("a", "x", results), tool_matches("^b$")),
    )
    office.decide(tool_call_event(tool="a"))
    assert [name for name, _ in office.ran] == ["a", "b"]


def test_calls_within_calls_go_three_deep_and_no_deeper() -> None:
    results: list[ToolResult] = []
    hooks = [make_hook(tool_calling_action(f"t{n + 1}", "x", results), tool_matches(f"^t{n}$")) for n in range(6)]
    office = Office(*hooks)
    office.decide(tool_call_event(tool="t0"))
    assert sorted(name for name, _ in office.ran) == ["t1", "t2", "t3"]
    assert [result.ok for result in results] == [False, True, True, True]
    assert results[0].error == "hooks and tools call each other more than 3 levels deep"


def test_a_hook_of_the_same_id_in_another_file_is_still_asked() -> None:
    """Ids are unique within a file only: the project's caller must not put the user's guard to sleep."""
    results: list[ToolResult] = []
    guard = make_hook(DENY, command_matches("rm"), id="same", origin=Origin("user.yaml", 1, "native"))
    maker = make_hook(
        tool_calling_action("bash", "rm", results),
        tool_matches("^x$"),
        id="same",
        origin=Origin("project.yaml", 1, "native"),
    )
    Office(guard, maker).decide(tool_call_event(tool="x"))
    assert results == [ToolResult(None, False, "no")]


def test_a_call_that_no_hook_makes_is_decided_as_well() -> None:
    office = Office(make_hook(DENY, command_matches("rm")))
    assert asyncio.run(office.call_tool("bash", {"command": "rm"})).ok is False
    assert asyncio.run(office.call_tool("bash", {"command": "ls"})).ok is True


def test_an_input_that_is_gone_or_no_mapping_is_an_error_result() -> None:
    for value in (REMOVED, "text", None):
        office = Office(make_hook(changing_action(("tool.input", value))))
        result = asyncio.run(office.call_tool("bash", {"command": "ls"}))
        assert not result.ok
        assert not office.ran


def test_tool_after_does_not_fire_for_it() -> None:
    results: list[ToolResult] = []
    asked: list[str] = []

    async def note(event: Event, host: Host) -> Outcome:
        asked.append(event.name)
        return Outcome()

    Office(
        make_hook(tool_calling_action("bash", "x", results), tool_matches("^x$")),
        make_hook(FunctionAction(note), event="tool.after"),
    ).decide(tool_call_event(tool="x"))
    assert asked == []
