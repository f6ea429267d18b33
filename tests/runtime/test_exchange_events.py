"""The loop: a prompt becomes turns, tools and an answer, and each event comes where it belongs."""

from __future__ import annotations

from pathlib import Path

from hookline.hooks.events import EVENTS
from hookline.runtime.updates import Ending, ToolCallFinished
from runtime.scripted_runtime import (
    RecordingModel,
    UpdateRecorder,
    open_runtime,
    run_async,
    send_prompt,
    tool_call_step,
)

LOG_ALL = "hooks:\n" + "".join(f"  - {{id: see-{name}, on: {name}, then: {{log: seen}}}}\n" for name in EVENTS)


def test_every_event_of_an_exchange_comes_in_its_order(tmp_path: Path) -> None:
    seen = UpdateRecorder()

    async def work() -> None:
        steps = [tool_call_step(("write_file", {"path": "a.txt", "content": "hello"}), say="I write."), "All done."]
        async with open_runtime(tmp_path, LOG_ALL, steps, watch=seen) as (runtime, _):
            session = await runtime.start()
            assert await session.ask("write a file") == "All done."
            await session.end()

    run_async(work)
    assert (tmp_path / "a.txt").read_text() == "hello"
    assert seen.events == [
        "session.start", "agent.start", "thread.created", "prompt.submit", "message.create", "message.created",
        "session.first_turn", "turn.start", "history.system", "history.filter", "history.request", "message.create", "message.created",
        "tool.before", "tool.succeeded", "tool.after", "tool.store", "message.create", "message.created", "turn.end",
        "turn.start", "history.system", "history.filter", "history.request", "message.create", "message.created",
        "turn.end", "stop", "agent.end", "session.end",
    ]  # fmt: skip


def test_a_denied_call_does_not_run_and_the_model_is_told_why(tmp_path: Path) -> None:
    hooks = "hooks: [{id: no, on: tool.before, when: {tool: bash}, then: {deny: not here}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, [tool_call_step(("bash", {"command": "touch made"})), "ok"]) as (
            runtime,
            model,
        ):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert seen.last_end.ending is Ending.ANSWERED
            assert [each.ran for each in seen.of_type(ToolCallFinished)] == [False]
            assert isinstance(model, RecordingModel)
            assert model.requests[1].messages[-1]["content"] == "Error: not here (hook no, hookline.yaml:1)"
            assert await runtime.store.calls(session.id) == []

    run_async(work)
    assert not (tmp_path / "made").exists()


def test_what_was_judged_is_what_runs(tmp_path: Path) -> None:
    hooks = "hooks: [{id: other, on: tool.before, when: {tool: bash}, then: {set: {input.command: touch changed}}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, [tool_call_step(("bash", {"command": "touch made"})), "ok"]) as (
            runtime,
            _,
        ):
            await send_prompt(await runtime.start(), "go")

    run_async(work)
    assert (tmp_path / "changed").exists()
    assert not (tmp_path / "made").exists()


def test_a_refused_prompt_is_neither_stored_nor_sent(tmp_path: Path) -> None:
    hooks = "hooks: [{id: no, on: prompt.submit, then: {deny: not today}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks) as (runtime, model):
            session = await runtime.start()
            seen = await send_prompt(session, "secret")
            assert (seen.last_end.ending, seen.last_end.text) == (
                Ending.REFUSED,
                "not today (hook no, hookline.yaml:1)",
            )
            assert await session.main.get_messages() == []
            assert isinstance(model, RecordingModel)
            assert model.requests == []

    run_async(work)


def test_a_denied_stop_goes_on_five_times_at_most(tmp_path: Path) -> None:
    hooks = "hooks: [{id: more, on: stop, then: {deny: run the tests}}]"

    async def work() -> None:
        async with open_runtime(tmp_path, hooks, [f"answer {n}" for n in range(10)]) as (runtime, model):
            session = await runtime.start()
            assert await session.ask("go") == "answer 5"
            assert isinstance(model, RecordingModel)
            assert len(model.requests) == 6
            assert model.requests[1].messages[-1] == {"role": "user", "content": "run the tests"}

    run_async(work)
