"""A question about a call that a hook or a tool's code makes: a person answers it, however short the hook's time is."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.hosts.python.session import Question
from hookline.runtime.runtime import Runtime
from hookline.runtime.storage.tables import ApprovalRow
from hookline.runtime.tools.tool_definition import ToolContext
from hookline.runtime.updates import ApprovalAnswered, ApprovalRequested, Ending, ToolCallFinished
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt, tool_call_step

GUARD = "  - {id: careful, on: tool.before, when: {tool: bash}, then: {ask: 'Run {{input.command}}?'}}\n"
MAKER = "  - {id: maker, on: turn.end, then: {call: bash, with: {command: touch made}}, timeout: 0.2s, max_fires: 1}\n"


def answering(
    yes: bool, after: float = 0.0, asked: list[Question] | None = None
) -> Callable[[Question], Awaitable[bool]]:
    async def ask(question: Question) -> bool:
        if asked is not None:
            asked.append(question)
        await asyncio.sleep(after)
        return yes

    return ask


async def approvals(runtime: Runtime, seen: UpdateRecorder) -> list[ApprovalRow]:
    found = [await runtime.store.approval(each.approval) for each in seen.of_type(ApprovalRequested)]
    return [row for row in found if row is not None]


@pytest.mark.parametrize("yes", [True, False])
def test_a_person_answers_for_a_hooks_call_and_its_time_stands_still(tmp_path: Path, yes: bool) -> None:
    asked: list[Question] = []

    async def work() -> None:
        settings: dict[str, Any] = {"ask": answering(yes, 0.5, asked)}
        async with open_runtime(tmp_path, f"hooks:\n{GUARD}{MAKER}", **settings) as (runtime, _):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert seen.last_end.ending is Ending.ANSWERED
            (row,) = await approvals(runtime, seen)
            assert row.answered is yes
            assert [each.approval for each in await runtime.store.calls(session.id)] == ([row.id] if yes else [])
            assert [each.ran for each in seen.of_type(ToolCallFinished)] == [yes]

    run_async(work)
    assert [(each.reason, each.input) for each in asked] == [
        ("Run touch made? (hook careful, hookline.yaml:2)", {"command": "touch made"})
    ]
    assert (tmp_path / "made").exists() is yes


@pytest.mark.parametrize("yes", [True, False])
def test_a_person_answers_for_the_call_of_a_tools_code(tmp_path: Path, yes: bool) -> None:
    async def tidy(place: ToolContext) -> str:
        """Tidies up."""
        result = await place.thread.invoke_tool("bash", {"command": "touch made"})
        return result.error or "tidy"

    async def work() -> None:
        settings: dict[str, Any] = {"ask": answering(yes), "tools": (tidy,)}
        steps = [tool_call_step(("tidy", {})), "done"]
        async with open_runtime(tmp_path, f"hooks:\n{GUARD}", steps, **settings) as (runtime, _):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            told = seen.of_type(ToolCallFinished)[-1].result.content
            assert told == (
                "tidy"
                if yes
                else f"Run touch made? ({session.row.user or 'the user'} denied it) (hook careful, hookline.yaml:2)"
            )

    run_async(work)
    assert (tmp_path / "made").exists() is yes


def test_nobody_there_is_a_no(tmp_path: Path) -> None:
    async def work() -> None:
        hooks = f"hooks:\n{GUARD}{MAKER.replace('0.2s', '30s')}"
        async with open_runtime(tmp_path, hooks, unattended=True) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert (
                seen.of_type(ToolCallFinished)[0].result.error
                == "Run touch made? (no one can approve it here) (hook careful, hookline.yaml:2)"
            )

    run_async(work)
    assert not (tmp_path / "made").exists()


def test_a_question_whose_script_ran_out_of_time_is_over(tmp_path: Path) -> None:
    """A script's time counts its calls: nobody's yes runs the call after it."""
    call = 'await callTool("bash", {command: "touch made"})'
    maker = (
        f"  - {{id: maker, on: turn.end, then: {{script: '{call}'}}, timeout: 0.3s, max_fires: 1, on_error: open}}\n"
    )

    async def work() -> None:
        async with open_runtime(tmp_path, f"hooks:\n{GUARD}{maker}", patience=timedelta(minutes=10)) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            (row,) = await approvals(runtime, seen)
            assert row.answered is False
            assert [each.yes for each in seen.of_type(ApprovalAnswered)] == [False]
            assert not await runtime.answer(row.id, True, "someone")

    run_async(work)
    assert not (tmp_path / "made").exists()


def test_approval_hooks_may_stop_the_agent_over_it(tmp_path: Path) -> None:
    halt = "  - {id: enough, on: approval.request, then: {halt: that is enough}}\n"

    async def work() -> None:
        async with open_runtime(tmp_path, f"hooks:\n{GUARD}{MAKER}{halt}", ask=answering(True)) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert (seen.last_end.ending, seen.last_end.text) == (
                Ending.HALTED,
                "that is enough (hook enough, hookline.yaml:4)",
            )

    run_async(work)
    assert not (tmp_path / "made").exists()
