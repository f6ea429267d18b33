"""A question that a process before us had put to a person: its answer counts, a no as well, for that call only."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookline.hosts.python.session import Question
from hookline.runtime.updates import ApprovalRequested, ToolCallFinished
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt, tool_call_step

ASK = "hooks: [{id: careful, on: tool.before, when: {tool: bash}, then: {ask: 'Really?'}}]"
OTHER = """
hooks:
  - {id: careful, on: tool.before, when: {tool: bash}, then: {ask: 'Really?'}}
  - {id: other, on: tool.before, when: {tool: bash}, then: {set: {input.command: touch other}}}
"""
TOUCH = tool_call_step(("bash", {"command": "touch made"}))


async def _cut_off(workspace: Path, store: str) -> tuple[str, str]:
    """The session, and the question at which the process ended."""
    async with open_runtime(workspace, ASK, [TOUCH], store=store) as (runtime, _):
        session = await runtime.start()
        async for happening in session.say("go"):
            if isinstance(happening, ApprovalRequested):
                return session.id, happening.approval
    raise AssertionError("nobody was asked")


async def _answered(workspace: Path, hooks: str, answer: bool | None) -> tuple[UpdateRecorder, list[Question]]:
    """What comes of it if that is the answer while no process is there, and whoever is asked afterwards says yes."""
    store, asked, seen = f"sqlite:///{workspace / 'sessions.db'}", list[Question](), UpdateRecorder()

    async def ask(question: Question) -> bool:
        asked.append(question)
        return True

    session_id, approval = await _cut_off(workspace, store)
    async with open_runtime(workspace, hooks, ["ok"], store=store, ask=ask) as (runtime, _):
        if answer is not None:
            assert await runtime.answer(approval, answer, "Ada")
        async for happening in (await runtime.resume(session_id)).go_on():
            seen(happening)
    return seen, asked


@pytest.mark.parametrize(
    ("answer", "times", "made"), [(True, 0, True), (False, 0, False), (None, 1, True)], ids=["yes", "no", "none yet"]
)
def test_an_answer_counts_after_a_restart(tmp_path: Path, answer: bool | None, times: int, made: bool) -> None:
    seen, asked = run_async(lambda: _answered(tmp_path, ASK, answer))
    assert len(asked) == times
    assert [each.ran for each in seen.of_type(ToolCallFinished)] == [made]
    assert (tmp_path / "made").exists() is made
    if not made:
        assert (
            seen.of_type(ToolCallFinished)[0].result.error == "Really? (Ada denied it) (hook careful, hookline.yaml:1)"
        )


def test_a_yes_does_not_count_for_an_input_that_hooks_have_changed_since(tmp_path: Path) -> None:
    seen, asked = run_async(lambda: _answered(tmp_path, OTHER, True))
    assert [each.input for each in asked] == [{"command": "touch other"}]
    assert [each.ran for each in seen.of_type(ToolCallFinished)] == [True]
    assert not (tmp_path / "made").exists()


def test_what_a_hook_answered_in_the_persons_place_is_stored(tmp_path: Path) -> None:
    hooks = f"{ASK[:-1]}, {{id: never, on: approval.request, then: {{deny: not today}}}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, [TOUCH, "ok"]) as (runtime, _):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert seen.of_type(ToolCallFinished)[0].result.error == "not today (hook never, hookline.yaml:1)"
            [kept] = await runtime.store.approvals(session.id, seen.of_type(ToolCallFinished)[0].call.id)
            assert (kept.answered, kept.by) == (False, "hook never")

    run_async(work)


def test_only_true_is_a_yes(tmp_path: Path) -> None:
    async def ask(question: Question) -> Any:
        return "no"

    async def work() -> None:
        async with open_runtime(tmp_path, ASK, [TOUCH, "ok"], ask=ask) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert [each.ran for each in seen.of_type(ToolCallFinished)] == [False]

    run_async(work)
    assert not (tmp_path / "made").exists()
