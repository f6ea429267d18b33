from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from hookline.engine.limits import FireCounts
from hookline.hooks.event import Event
from hookline.hooks.host import ToolResult
from hookline.hooks.record_settings import RecordedFacts
from hookline.project import load_text
from hookline.record.entry import answer_entry, decision_entry, hook_spoke, is_recorded, outcome_entry
from hookline.record.facts import AsTheyAre
from hookline.runners.local_host import LocalHost

HOOKS = """\
hooks:
  - id: no-rm
    on: tool.before
    when: {tool: bash, input: {command: {starts: "rm *"}}}
    then: {deny: "Do not remove."}
  - id: trim
    on: tool.before
    when: {tool: bash, input: {command: "^ "}}
    then: {set: {input.command: "ls"}}
"""
AS_THEY_ARE = AsTheyAre(RecordedFacts.FULL)


def event(command: str) -> Event:
    tool = {"name": "Bash", "id": "call_1", "input": {"command": command}, "caller": "hook-x"}
    facts = {"host": {"name": "python"}, "session": {"id": "s"}, "user": {"name": "ann"}, "agent": {"id": "main"}}
    return Event("tool.before", {**facts, "thread": {"id": "t"}, "tool": tool})


def entry(command: str) -> dict[str, Any]:
    asked = event(command)
    return decision_entry(asked, load_text(HOOKS, "hookline.yaml").decide_now(asked), 0.0012345, AS_THEY_ARE)


def test_a_deny() -> None:
    found = entry("rm x")
    (trace,) = found.pop("trace")
    assert trace["hook"] == "no-rm"
    assert trace["outcome"] == {"verdict": "deny", "reason": "Do not remove."}
    assert found == {
        "kind": "decision",
        "event": "tool.before",
        "host": "python",
        "session": "s",
        "thread": "t",
        "agent": "main",
        "user": "ann",
        "tool": "Bash",
        "call": "call_1",
        "caller": "hook-x",
        "facts": event("rm x").facts,
        "verdict": "deny",
        "reason": "Do not remove.",
        "hook": "no-rm",
        "file": "hookline.yaml",
        "line": 2,
        "dialect": "native",
        "ms": 1.234,
    }


def test_facts_are_those_before_any_hook_changed_them() -> None:
    found = entry(" ls -l")
    assert found["facts"]["tool"]["input"] == {"command": " ls -l"}
    assert found["trace"][0]["outcome"]["changes"] == {"tool.input.command": "ls"}


def test_nobody_spoke() -> None:
    found = entry("ls")
    assert found["verdict"] == "silent"
    assert "hook" not in found
    assert "trace" not in found


def test_facts_can_be_left_out() -> None:
    asked = event("ls")
    decision = load_text(HOOKS, "hookline.yaml").decide_now(asked)
    assert "facts" not in decision_entry(asked, decision, 0.0, AsTheyAre(RecordedFacts.NONE))


QUOTES = """\
hooks:
  - {id: fixed, on: tool.before, when: {input: {command: fixed}}, then: {ask: Sure?}}
  - {id: bare, on: tool.before, when: {input: {command: bare}}, then: deny}
  - {id: quote, on: tool.before, when: {input: {command: quote}}, then: {deny: "not {{input.command}}"}}
  - {id: tell, on: tool.before, when: {input: {command: tell}}, then: {tell: "you ran {{input.command}}"}}
  - {id: move, on: tool.before, when: {input: {command: move}}, then: {set: {input.command: "move {{input.command}}"}}}
  - {id: fail, on: tool.before, on_error: closed, when: {input: {command: fail}}, then: {run: "cat >&2; exit 9"}}
"""


@pytest.mark.parametrize("command", ["fixed", "bare", "quote", "tell", "move", "fail"])
def test_nothing_that_a_hook_says_quotes_facts_that_are_left_out(command: str) -> None:
    asked = event(f"{command} xyzzy")
    decision = asyncio.run(load_text(QUOTES, "hookline.yaml").decide(asked, LocalHost(FireCounts())))
    found = decision_entry(asked, decision, 0.0, AsTheyAre(RecordedFacts.NONE))
    assert "xyzzy" not in json.dumps(found)
    said = {key: value for key, value in decision_entry(asked, decision, 0.0, AS_THEY_ARE).items() if key != "facts"}
    assert ("xyzzy" in json.dumps(said)) == (command not in ("fixed", "bare"))
    assert [each["hook"] for each in found["trace"]] == [command]
    told = {"fixed": "Sure?", "bare": "Blocked by hook bare"}
    assert found.get("reason", "***") == told.get(command, "***")
    if command == "move":
        assert found["trace"][0]["outcome"]["changes"] == {"tool.input.command": "***"}


def test_odd_facts_are_no_reason_to_fail() -> None:
    asked = Event("tool.before", {"host": "x", "session": {"id": 5}, "tool": {"name": ""}})
    assert "session" not in outcome_entry(asked, ToolResult("x"), AS_THEY_ARE, lambda event: False)


def test_a_persons_answer() -> None:
    found = answer_entry(event("rm x"), False, "ann", AS_THEY_ARE)
    assert (found["kind"], found["approved"], found["by"], found["call"]) == ("answer", False, "ann", "call_1")


def test_what_is_recorded() -> None:
    assert is_recorded("tool.before")
    assert not is_recorded("message.create")
    book = load_text(HOOKS, "hookline.yaml")
    assert hook_spoke(book.decide_now(event("rm x")))
    assert hook_spoke(book.decide_now(event(" ls")))
    assert not hook_spoke(book.decide_now(event("ls")))
