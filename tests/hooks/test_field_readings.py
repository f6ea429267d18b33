"""A hook that may stop a call is asked about every field name that its tool may read."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from hookline import Event
from hookline.engine.limits import FireCounts
from hookline.hooks.outcome import FailureKind, Verdict
from hookline.hooks.tool_input import events_by_field_name
from hookline.project import load_text
from hookline.runners.local_host import LocalHost
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
    command = f"echo x >> {tmp_path}/runs; sleep 99"
    config = {"hooks": {"PreToolUse": [{"command": command, "timeout": 600, "continueOnError": False}]}}
    decision = fire(config, {"name": "tool.before", "tool": _MANY_NAMES}, dialect="flo")
    assert decision.verdict is Verdict.DENY
    assert [failure.kind for failure in decision.failures] == [FailureKind.TIMEOUT]
    assert (tmp_path / "runs").read_text().count("x") <= 4  # of five


def test_nothing_is_left_of_the_programs_when_time_has_run_out(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Each run and all of them together have the same deadline: who passes it first must not keep the other from cleaning up."""
    command = f"setsid sleep 99 & echo $! >> {tmp_path}/pids; wait"
    hook = {"id": "h", "on": "tool.before", "then": {"run": ["bash", "-c", command]}, "timeout": "0.5s"}
    left: list[Path] = []

    async def decide() -> None:
        book = load_text(json.dumps({"hooks": [hook]}), "hookline.yaml")
        decision = await book.decide(Event("tool.before", {"tool": _MANY_NAMES}), LocalHost(FireCounts()))
        assert decision.verdict is Verdict.DENY
        left.extend(each for pid in (tmp_path / "pids").read_text().split() if (each := Path("/proc", pid)).exists())

    asyncio.run(decide())
    assert left == []
    assert "does not end" not in caplog.text


def test_several_names_are_asked_about_at_once(tmp_path: Path) -> None:
    """Each program waits for that about the other name: one after the other, they would run out of time."""
    command = (
        f'read -r event; case $event in *\'"path":"a"\'*\'"file":\'*) exit 0;; *\'"a"\'*) mine=a other=b;; *) mine=b other=a;; esac;'
        f" touch {tmp_path}/$mine; until [ -e {tmp_path}/$other ]; do sleep 0.01; done; echo met >&2; exit 2"
    )
    hook = {"id": "h", "on": "tool.before", "then": {"run": ["bash", "-c", command]}, "timeout": "20s"}
    tool = {"name": "mcp__fs__write_file", "input": {"path": "a", "file": "b", "content": "c"}}
    decision = fire({"hooks": [hook]}, {"name": "tool.before", "tool": tool})
    assert decision.verdict is Verdict.DENY
    assert decision.reason.startswith("met")


def test_the_first_of_several_denies_is_the_answer(tmp_path: Path) -> None:
    """Also if another one is given earlier."""
    command = (
        f'read -r event; case $event in *\'"file":\'*) exit 0;; *\'"path":"a"\'*) until [ -e {tmp_path}/b ]; do sleep 0.01; done;'
        f" echo first >&2;; *) echo second >&2; touch {tmp_path}/b;; esac; exit 2"
    )
    hook = {"id": "h", "on": "tool.before", "then": {"run": ["bash", "-c", command]}, "timeout": "20s"}
    tool = {"name": "mcp__fs__write_file", "input": {"path": "a", "file_path": "b", "content": "c"}}
    decision = fire({"hooks": [hook]}, {"name": "tool.before", "tool": tool})
    assert decision.reason.startswith("first")


def test_an_answer_that_came_in_time_counts_if_another_did_not(tmp_path: Path) -> None:
    command = 'read -r event; case $event in *\'"command":"b"\'*) echo no >&2; exit 2;; esac; sleep 99'
    hook = {
        "id": "h",
        "on": "tool.before",
        "then": {"run": ["bash", "-c", command]},
        "timeout": "1s",
        "on_error": "open",
    }
    decision = fire({"hooks": [hook]}, {"name": "tool.before", "tool": _MANY_NAMES})
    assert decision.verdict is Verdict.DENY


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
