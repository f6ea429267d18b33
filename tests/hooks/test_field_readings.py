"""A hook that may stop a call is asked about every field name that its tool may read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hookline import Event
from hookline.hooks.outcome import FailureKind, Verdict
from hookline.hooks.tool_input import events_by_field_name
from hookline.testing import fire


def _inputs(tool: dict[str, Any], **facts: Any) -> list[dict[str, Any]]:
    return [
        reading.facts["tool"]["input"]
        for reading in events_by_field_name(Event("tool.before", {"tool": tool, **facts}))
    ]


def test_every_choice_of_names_is_one_reading() -> None:
    tool = {"name": "mcp__fs__write_file", "input": {"path": "a", "file": "b", "content": "c", "text": "d", "mode": 1}}
    assert _inputs(tool) == [
        {"path": "a", "content": "c", "mode": 1},
        {"path": "a", "text": "d", "mode": 1},
        {"file": "b", "content": "c", "mode": 1},
        {"file": "b", "text": "d", "mode": 1},
    ]


def test_equal_values_and_the_agent_s_own_tools_have_one_reading() -> None:
    assert not _inputs({"name": "mcp__fs__write_file", "input": {"path": "a", "file_path": "a"}})
    assert not _inputs({"name": "mcp__fs__write_file", "input": {"path": "a", "content": "b"}})
    own = {"name": "Write", "input": {"path": "a", "file_path": "b", "content": "c"}}
    assert not _inputs(own, host={"name": "claude-code"})
    assert not _inputs({"name": "mcp__x__other", "input": {}})


def test_an_event_without_a_tool_has_one_reading() -> None:
    assert not list(events_by_field_name(Event("prompt.submit", {"prompt": "x"})))


def test_what_a_hook_changes_is_changed_once() -> None:
    script = "return {modifiedInput: {...toolInput, mode: (toolInput.mode ?? 0) + 1}}"
    config = {"hooks": {"PreToolUse": [{"action": "script", "script": script}]}}
    tool = {"name": "mcp__fs__write_file", "input": {"path": "a", "file": "b", "content": "c"}}
    decision = fire(config, {"name": "tool.before", "tool": tool}, dialect="flo")
    assert decision.event.facts["tool"]["input"] == {"path": "a", "file": "b", "content": "c", "mode": 1}


_MANY_NAMES = {"name": "mcp__sh__go", "input": {"command": "a", "cmd": "b", "script": "c", "code": "d"}}


def test_all_answers_together_have_one_timeout(tmp_path: Path) -> None:
    command = f"echo x >> {tmp_path}/runs; sleep 0.6"
    config = {"hooks": {"PreToolUse": [{"command": command, "timeout": 1000, "continueOnError": False}]}}
    decision = fire(config, {"name": "tool.before", "tool": _MANY_NAMES}, dialect="flo")
    assert decision.verdict is Verdict.DENY
    assert [failure.kind for failure in decision.failures] == [FailureKind.TIMEOUT]
    assert (tmp_path / "runs").read_text().count("x") <= 2  # of four


def test_a_program_that_takes_all_the_time_is_asked_once(tmp_path: Path) -> None:
    command = f"echo x >> {tmp_path}/runs; sleep 9"
    config = {"hooks": {"PreToolUse": [{"command": command, "timeout": 300}]}}
    assert fire(config, {"name": "tool.before", "tool": _MANY_NAMES}, dialect="flo").verdict is Verdict.SILENT
    assert (tmp_path / "runs").read_text().count("x") == 1


def test_a_failure_about_one_reading_does_not_hide_the_answer_about_another() -> None:
    script = "if (toolInput.command == 'a') throw new Error('x'); if (toolInput.command == 'b') return {decision: 'deny', reason: 'no'}"
    config = {"hooks": {"PreToolUse": [{"action": "script", "script": script}]}}
    decision = fire(config, {"name": "tool.before", "tool": _MANY_NAMES}, dialect="flo")
    assert decision.verdict is Verdict.DENY
    assert decision.reason.startswith("no")


def test_a_failure_about_one_reading_is_reported_and_takes_back_an_allow() -> None:
    script = "if (toolInput.command == 'b') throw new Error('x'); return {decision: 'allow'}"
    config = {"hooks": {"PreToolUse": [{"action": "script", "script": script}]}}
    decision = fire(config, {"name": "tool.before", "tool": _MANY_NAMES}, dialect="flo")
    assert decision.verdict is Verdict.SILENT
    assert len(decision.failures) == 1
