from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hookline.errors import UnavailableError
from hookline.hooks.event import Event
from hookline.hooks.host import Host, Notice
from hookline.record.record_log import LogFilter, RecordLog
from hookline.record.segment import record_directory
from hookline.runtime.models.scripted import ScriptStep
from hookline.runtime.updates import Notification, ToolCallFinished, ToolCallStarted
from runtime.scripted_runtime import RecordingModel, UpdateRecorder, open_runtime, run_async

GUARD = "hooks: [{id: no-rm, on: tool.before, when: {tool: bash, input: {command: rm}}, then: {deny: Never.}}]"


def with_host(
    tmp_path: Path, work: Callable[[Host], Awaitable[Any]], hooks: str = "", **options: Any
) -> tuple[Any, UpdateRecorder]:
    seen = UpdateRecorder()

    async def run() -> Any:
        async with open_runtime(tmp_path, hooks, watch=seen, **options) as (runtime, _):
            session = await runtime.start()
            return await work(session.host_of(session.main))

    return run_async(run), seen


def test_a_call_by_a_hook_runs_and_is_reported(tmp_path: Path) -> None:
    result, seen = with_host(tmp_path, lambda host: host.call_tool("bash", {"command": "echo hi"}))
    assert result.ok
    assert "hi" in str(result.content)
    assert len(seen.of_type(ToolCallStarted)) == 1
    assert [each.ran for each in seen.of_type(ToolCallFinished)] == [True]


def test_hooks_decide_about_a_call_by_a_hook_too(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    result, seen = with_host(tmp_path, lambda host: host.call_tool("bash", {"command": "rm a"}), GUARD)
    assert (result.ok, "Never." in result.error) == (False, True)
    assert [each.ran for each in seen.of_type(ToolCallFinished)] == [False]
    assert (tmp_path / "a").exists()


def test_a_tool_that_is_not_here_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(UnavailableError):
        with_host(tmp_path, lambda host: host.call_tool("bsh", {}))


def test_a_prompt_of_a_hook_goes_to_the_agents_model(tmp_path: Path) -> None:
    model = RecordingModel(["It is good."])
    text, _ = with_host(tmp_path, lambda host: host.complete("Is it good?"), model=model)
    assert text == "It is good."
    assert [request.messages for request in model.requests] == [({"role": "user", "content": "Is it good?"},)]


def test_a_hooks_model_reads_files_through_the_gate(tmp_path: Path) -> None:
    """The model of a hook of type agent."""
    (tmp_path / "a.txt").write_text("no test")
    (tmp_path / "b.txt").write_text("secret")
    guard = "hooks: [{id: b, on: tool.before, when: {input: {path: b.txt}}, then: {deny: Never.}}]"
    calls = (("read_file", {"path": "a.txt"}), ("read_file", {"path": "b.txt"}), ("bash", {"command": "touch c"}))
    model = RecordingModel([ScriptStep(calls=calls), "No."])
    text, seen = with_host(tmp_path, lambda host: host.investigate("Tested?", Event("stop", {})), guard, model=model)
    assert text == "No."
    assert [message["content"] for message in model.requests[1].messages[-3:]] == [
        "no test",
        "Error: Never.",
        "Error: there is no tool 'bash'",
    ]
    assert [each.ran for each in seen.of_type(ToolCallFinished)] == [True, False]
    assert not (tmp_path / "c").exists()


def test_a_notice_is_an_update(tmp_path: Path) -> None:
    _, seen = with_host(tmp_path, lambda host: host.publish(Notice("log", message="done")))
    assert [each.notice.message for each in seen.of_type(Notification)] == ["done"]


def test_what_came_of_a_hooks_own_call_is_recorded(tmp_path: Path) -> None:
    async def work(host: Host) -> None:
        for command in ("true", "false", "rm a"):
            await host.call_tool("bash", {"command": command})

    with_host(tmp_path, work, GUARD)
    record = record_directory(tmp_path / "home/.local/state/hookline")
    rows = RecordLog(record, LogFilter(tool="bash", event="tool.before")).latest(10)
    assert [row["outcome"] for row in rows] == ["ok", "failed", None]
