"""A question to a person: bound to one call, answered once, a no when nobody answers, and there after a restart."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.errors import HooklineError
from hookline.hooks.outcome import Compact
from hookline.hosts.python.session import Question
from hookline.record.record_log import LogFilter, RecordLog
from hookline.record.segment import record_directory
from hookline.runtime.compaction import compact
from hookline.runtime.gate import CallNotAllowedError, ToolCall, execute, fingerprint
from hookline.runtime.models.model import CompletionRequest, RequestedCall
from hookline.runtime.models.scripted import ScriptedModel
from hookline.runtime.storage.tables import ApprovalRow
from hookline.runtime.updates import ApprovalAnswered, ApprovalRequested, Ending, ExchangeEnded, ToolCallFinished
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt, tool_call_step

ASK = "hooks: [{id: careful, on: tool.before, when: {tool: bash}, then: {ask: 'Really?'}}]"
TOUCH = [tool_call_step(("bash", {"command": "touch made"})), "ok"]


@pytest.mark.parametrize("yes", [True, False])
def test_the_answer_of_a_person_counts(tmp_path: Path, yes: bool) -> None:
    asked: list[Question] = []

    async def ask(question: Question) -> bool:
        asked.append(question)
        return yes

    async def work() -> None:
        async with open_runtime(tmp_path, ASK, TOUCH, ask=ask) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert [each.ran for each in seen.of_type(ToolCallFinished)] == [yes]

    run_async(work)
    assert [(each.reason, each.tool, each.hook) for each in asked] == [
        ("Really? (hook careful, hookline.yaml:1)", "bash", "careful")
    ]
    assert (tmp_path / "made").exists() is yes


def test_a_yes_counts_once_even_if_the_model_numbers_its_calls_anew(tmp_path: Path) -> None:
    asked: list[str] = []

    async def ask(question: Question) -> bool:
        asked.append(question.tool)
        return len(asked) == 1

    class Numbered(ScriptedModel):
        async def stream(self, request: CompletionRequest) -> AsyncIterator[Any]:
            async for piece in super().stream(request):
                yield replace(piece, id="call_1") if isinstance(piece, RequestedCall) else piece

    async def work() -> None:
        again = tool_call_step(("bash", {"command": "echo x >> made"}))
        async with open_runtime(tmp_path, ASK, model=Numbered([again, "one", again, "two"]), ask=ask) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "go")
            assert await compact(session.main, Compact("truncate", keep_recent=0), "manual")
            await send_prompt(session, "again")

    run_async(work)
    assert asked == ["bash", "bash"]
    assert (tmp_path / "made").read_text() == "x\n"


def test_it_can_be_answered_from_python(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, ASK, TOUCH) as (runtime, _):
            session = await runtime.start()
            async for happening in session.say("go"):
                if isinstance(happening, ApprovalRequested):
                    assert await runtime.answer(happening.approval, True, "someone")
                    assert not await runtime.answer(happening.approval, False, "someone else")

    run_async(work)
    assert (tmp_path / "made").exists()


def test_nobody_answers_and_it_is_a_no(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, ASK, TOUCH, patience=timedelta(milliseconds=50)) as (runtime, model):
            await send_prompt(await runtime.start(), "go")
            told = model.requests[1].messages[-1]["content"]  # type: ignore[union-attr]
            assert told == "Error: Really? (nobody answered) (hook careful, hookline.yaml:1)"

    run_async(work)
    assert not (tmp_path / "made").exists()


def test_with_nobody_there_it_is_a_no_at_once(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, ASK, TOUCH, unattended=True) as (runtime, _):
            await send_prompt(await runtime.start(), "go")

    run_async(work)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(("then", "made"), [("{deny: no}", False), ("allow", True)])
def test_hooks_may_answer_in_the_persons_place(tmp_path: Path, then: str, made: bool) -> None:
    hooks = ASK[:-1] + f", {{id: before, on: approval.request, then: {then}}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, TOUCH) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert not seen.of_type(ApprovalRequested)

    run_async(work)
    assert (tmp_path / "made").exists() is made


def test_an_answer_that_came_after_a_crash_counts_for_exactly_that_call(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'sessions.db'}"

    async def work() -> UpdateRecorder:
        session_id, approval = await _cut_off_at_a_question(tmp_path, store=store)
        async with open_runtime(tmp_path, ASK, ["ok"], store=store) as (runtime, _):
            assert [row.id for row in await runtime.store.waiting_approvals(session_id)] == [approval]
            assert await runtime.answer(approval, True, "the one who came back")
            session, seen = await runtime.resume(session_id), UpdateRecorder()
            assert await session.is_unfinished()
            async for happening in session.go_on():
                seen(happening)
            return seen

    seen = run_async(work)
    assert (tmp_path / "made").exists()
    assert not seen.of_type(ApprovalRequested)
    assert len(seen.of_type(ExchangeEnded)) == 1


async def _cut_off_at_a_question(tmp_path: Path, **settings: Any) -> tuple[str, str]:
    """The session, and the question that nobody had answered."""
    async with open_runtime(tmp_path, ASK, TOUCH, **settings) as (runtime, _):
        session = await runtime.start()
        async for happening in session.say("go"):
            if isinstance(happening, ApprovalRequested):
                return session.id, happening.approval
    raise AssertionError("nobody was asked")


def test_a_question_that_nobody_answered_before_a_restart_is_a_no_after_it(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'sessions.db'}"

    async def work() -> UpdateRecorder:
        patience = timedelta(milliseconds=300)
        session_id, approval = await _cut_off_at_a_question(tmp_path, store=store, patience=patience)
        async with open_runtime(tmp_path, ASK, ["ok"], store=store) as (runtime, _):
            await asyncio.sleep(0.4)
            assert not await runtime.answer(approval, True, "too late")
            session, seen = await runtime.resume(session_id), UpdateRecorder()
            async for happening in session.go_on():
                seen(happening)
            row = await runtime.store.approval(approval)
            assert row is not None
            assert (row.answered, row.by) == (False, "nobody answered")
            return seen

    seen = run_async(work)
    assert not seen.of_type(ApprovalRequested)
    assert [(each.ran, each.result.error) for each in seen.of_type(ToolCallFinished)] == [
        (False, "Really? (nobody answered) (hook careful, hookline.yaml:1)")
    ]
    assert not (tmp_path / "made").exists()


ANSWERS = """
import asyncio, sys, time
from hookline.runtime.storage.store import Store

async def work():
    store = await Store.open(sys.argv[1])
    assert await store.answer_approval(sys.argv[2], sys.argv[3] == "True", "somebody else", time.time())
    await store.close()

asyncio.run(work())
"""


@pytest.mark.parametrize("yes", [True, False])
def test_it_can_be_answered_from_another_process(tmp_path: Path, yes: bool) -> None:
    store = f"sqlite:///{tmp_path / 'sessions.db'}"

    async def answered(approval: str) -> None:
        answering = await asyncio.create_subprocess_exec(sys.executable, "-c", ANSWERS, store, approval, str(yes))
        assert await answering.wait() == 0

    async def work() -> None:
        async with open_runtime(tmp_path, ASK, TOUCH, store=store) as (runtime, _):
            seen = UpdateRecorder()
            async for happening in (await runtime.start()).say("go"):
                seen(happening)
                if isinstance(happening, ApprovalRequested):
                    await answered(happening.approval)
            assert [(each.yes, each.by) for each in seen.of_type(ApprovalAnswered)] == [(yes, "somebody else")]

    run_async(work)
    assert (tmp_path / "made").exists() is yes


def test_an_answer_that_cannot_be_stored_is_told_at_once(tmp_path: Path) -> None:
    async def ask(question: Question) -> bool:
        raise HooklineError("the terminal is gone")

    async def work() -> None:
        async with open_runtime(tmp_path, ASK, [*TOUCH, "then not"], ask=ask) as (runtime, _):
            session = await runtime.start()
            ended = (await send_prompt(session, "go")).last_end
            assert (ended.ending, ended.text) == (Ending.FAILED, "the terminal is gone")
            assert (await send_prompt(session, "well")).last_end.text == "ok"

    run_async(work)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("input", [{"command": "touch other"}, {"command": "touch made", "cwd": "/"}])
def test_the_gate_wants_a_decision_about_exactly_this_call(tmp_path: Path, input: dict[str, Any]) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path) as (runtime, _):
            session = await runtime.start()
            facts = {"tool": {"name": "bash", "input": {"command": "touch made"}}}
            decision = await session.decide(session.main, "tool.before", facts)
            tool = session.main.toolbox.find("bash")
            assert tool is not None
            with pytest.raises(CallNotAllowedError):
                await execute(ToolCall("c", "bash", input), decision, tool, session.tool_context_of(session.main))
            assert await runtime.store.calls(session.id) == []

    run_async(work)


def test_the_gate_does_not_take_the_answer_to_another_question(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, ASK) as (runtime, _):
            session = await runtime.start()
            call = ToolCall("c", "bash", {"command": "touch made"})
            facts = {"tool": {"name": call.name, "input": call.input, "kind": "shell"}}
            decision = await session.decide(session.main, "tool.before", facts)
            tool = session.main.toolbox.find("bash")
            assert tool is not None
            hash = fingerprint(call.name, call.input)
            row = ApprovalRow("a", session.id, session.id, "another", "bash", call.input, hash, "", "", 0, 1e12, True)
            for approval in (None, row):
                with pytest.raises(CallNotAllowedError):
                    await execute(call, decision, tool, session.tool_context_of(session.main), approval)

    run_async(work)
    assert not (tmp_path / "made").exists()


def test_leaving_while_a_person_is_asked_runs_nothing(tmp_path: Path) -> None:
    async def never(question: Question) -> bool:
        await asyncio.sleep(3600)
        return True

    async def work() -> None:
        async with open_runtime(tmp_path, ASK, TOUCH, ask=never) as (runtime, _):
            session = await runtime.start()
            async for happening in session.say("go"):
                if isinstance(happening, ApprovalRequested):
                    break

    run_async(work)
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(("default", "made"), [("allow", True), ("deny", False)])
def test_the_default_of_an_ask_counts_after_its_time(tmp_path: Path, default: str, made: bool) -> None:
    then = f"{{ask: {{question: 'Really?', default: {default}, within: 50ms}}}}"
    hooks = f"hooks: [{{id: careful, on: tool.before, when: {{tool: bash}}, then: {then}}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, TOUCH) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert [each.ran for each in seen.of_type(ToolCallFinished)] == [made]

    run_async(work)
    assert (tmp_path / "made").exists() is made


def test_with_two_asks_the_stricter_default_counts(tmp_path: Path) -> None:
    lenient = "{ask: {question: 'Really?', default: allow, within: 50ms}}"
    hooks = f"hooks: [{{on: tool.before, then: {lenient}}}, {{on: tool.before, then: {{ask: 'Sure?'}}}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, TOUCH) as (runtime, _):
            seen = await send_prompt(await runtime.start(), "go")
            assert [each.ran for each in seen.of_type(ToolCallFinished)] == [False]

    run_async(work)


EDITED = """
hooks:
  - {id: careful, on: tool.before, when: {tool: bash}, then: {ask: 'Really?'}}
  - {id: no-rm, on: tool.before, when: {runs: {program: rm}}, then: {deny: Never.}}
"""


@pytest.mark.parametrize(
    ("edited", "ran", "says"), [("touch other", True, ""), ("rm -rf .", False, "Never."), ("touch made", True, "")]
)
def test_an_input_that_the_person_changed_is_decided_again(tmp_path: Path, edited: str, ran: bool, says: str) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, EDITED, TOUCH) as (runtime, _):
            session = await runtime.start()
            seen = UpdateRecorder()
            async for happening in session.say("go"):
                seen(happening)
                if isinstance(happening, ApprovalRequested):
                    assert await runtime.answer(happening.approval, True, "maria", {"command": edited})
            (finished,) = seen.of_type(ToolCallFinished)
            assert finished.ran is ran
            assert says in finished.result.error
            assert len(seen.of_type(ApprovalRequested)) == 1
            rows = RecordLog(record_directory(runtime.state_directory), LogFilter(event="tool.before")).latest(10)
            assert next(row["outcome"] for row in rows if row["verdict"] == "ask") == ("ok" if ran else "refused")

    run_async(work)
    names = {path.name for path in tmp_path.iterdir() if path.is_file()}
    assert names == ({edited.split()[1]} if ran else set())


def test_an_edit_that_only_changes_the_type_of_a_value_is_decided_again(tmp_path: Path) -> None:
    async def work() -> None:
        call = tool_call_step(("bash", {"command": "touch made", "timeout": 1}))
        async with open_runtime(tmp_path, EDITED, [call, "done"]) as (runtime, _):
            session = await runtime.start()
            async for happening in session.say("go"):
                if isinstance(happening, ApprovalRequested):
                    edited = {"command": "touch made", "timeout": True}
                    assert await runtime.answer(happening.approval, True, "maria", edited)
            rows = RecordLog(record_directory(runtime.state_directory), LogFilter(event="tool.before")).latest(10)
            assert [row["input"]["timeout"] is True for row in rows] == [False, True]

    run_async(work)


@pytest.mark.parametrize(
    ("more", "second", "asked"),
    [
        ({"remember": "session"}, "touch made", 1),
        ({"remember": "session"}, "touch other", 2),
        ({}, "touch made", 2),
        ({"remember": "session", "edited": {"command": "touch other"}}, "touch made", 2),
        ({"remember": "session", "edited": {"command": "touch other"}}, "touch other", 1),
    ],
)
def test_a_yes_for_the_session_counts_for_the_call_as_it_ran(
    tmp_path: Path, more: dict[str, Any], second: str, asked: int
) -> None:
    async def work() -> None:
        script = [*TOUCH, tool_call_step(("bash", {"command": second})), "ok"]
        async with open_runtime(tmp_path, ASK, script) as (runtime, _):
            session = await runtime.start()
            seen = UpdateRecorder()
            for prompt in ("go", "again"):
                async for happening in session.say(prompt):
                    seen(happening)
                    if isinstance(happening, ApprovalRequested):
                        first = len(seen.of_type(ApprovalRequested)) == 1
                        await session.store.answer_approval(
                            happening.approval, True, "maria", session.clock.wall(), **(more if first else {})
                        )
            assert len(seen.of_type(ApprovalRequested)) == asked
            assert [each.ran for each in seen.of_type(ToolCallFinished)] == [True, True]
            assert {each.by for each in seen.of_type(ApprovalAnswered)} == {"maria"}

    run_async(work)


def test_the_reason_of_a_no_reaches_the_agent(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, ASK, TOUCH) as (runtime, _):
            session = await runtime.start()
            seen = UpdateRecorder()
            async for happening in session.say("go"):
                seen(happening)
                if isinstance(happening, ApprovalRequested):
                    await runtime.answer(happening.approval, False, "maria", why="not on a Friday")
            (finished,) = seen.of_type(ToolCallFinished)
            assert "maria denied it: not on a Friday" in finished.result.error

    run_async(work)
