"""A result that a process before us did not get to store passes the hooks like any other."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hookline.runtime.agent_session import AgentSession
from hookline.runtime.models.model import CompletionRequest, RequestedCall
from hookline.runtime.recovery import NOT_RUN, UNKNOWN_EFFECT
from hookline.runtime.runtime import Runtime
from hookline.runtime.storage.store import file_url
from hookline.runtime.storage.tables import CallEnd, CallRow
from runtime.scripted_runtime import (
    RecordingModel,
    UpdateRecorder,
    open_runtime,
    run_async,
    send_prompt,
    tool_call_step,
)

REDACTS = """
hooks:
  - {id: redact, on: tool.store, when: {tool: bash, result: secret}, then: {set: {tool.result: gone}}}
  - {id: see, on: tool.after, then: {log: seen}}
"""
WANTS = (
    '[{"id": "one", "type": "function", "function": {"name": "bash", "arguments": "{\\"command\\": \\"cat key\\"}"}},'
    ' {"id": "two", "type": "function", "function": {"name": "bash", "arguments": "{\\"command\\": \\"echo 2\\"}"}}]'
)


async def cut_off(runtime: Runtime, ended: bool) -> AgentSession:
    """A session whose agent wanted two calls and was killed in the first of them, or right after it."""
    session = await runtime.start()
    await runtime.store.add_message(session.id, {"id": "m1", "role": "user", "content": "go"})
    await runtime.store.add_message(session.id, {"id": "m2", "role": "assistant", "tool_calls": WANTS})
    await runtime.store.begin_call(CallRow(session.id, "one", "bash", "hash", {"verdict": "silent"}))
    if ended:
        await runtime.store.end_call(CallEnd(session.id, "one", 1, True, "the secret", ""))
    await runtime.forget(session)
    return await runtime.resume(session.id)


async def results(session: AgentSession) -> list[str | None]:
    return [message["content"] for message in await session.main.history() if message["role"] == "tool"]


@pytest.mark.parametrize(("ended", "first"), [(True, "gone"), (False, f"Error: {UNKNOWN_EFFECT}")])
def test_going_on_shows_hooks_the_result_that_was_not_stored(tmp_path: Path, ended: bool, first: str) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, REDACTS, ["ok"]) as (runtime, _):
            session, seen = await cut_off(runtime, ended), UpdateRecorder()
            async for happening in session.go_on():
                seen(happening)
            assert seen.events.count("tool.after") == 2
            assert seen.facts("tool.after")["tool"]["input"] == {"command": "cat key"}
            assert await results(session) == [first, "2"]
            assert [row.attempt for row in await runtime.store.calls(session.id)] == [1, 1]

    run_async(work)


@pytest.mark.parametrize(("ended", "first"), [(True, "gone"), (False, f"Error: {UNKNOWN_EFFECT}")])
def test_a_new_prompt_settles_what_was_left_and_runs_none_of_it(tmp_path: Path, ended: bool, first: str) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, REDACTS, ["ok"]) as (runtime, _):
            session = await cut_off(runtime, ended)
            assert (await send_prompt(session, "something else")).last_end.text == "ok"
            assert await results(session) == [first, f"Error: {NOT_RUN}"]
            assert len(await runtime.store.calls(session.id)) == 1

    run_async(work)


def test_a_result_that_nobody_waited_for_is_there_for_the_next_prompt(tmp_path: Path) -> None:
    """Cancelled while its message was being written, the history is what the store has."""

    async def work() -> None:
        steps = [tool_call_step(("bash", {"command": "echo 1"})), "ok", "fine"]
        async with open_runtime(tmp_path, "", steps) as (runtime, _):
            session = await runtime.start()
            add, adding = runtime.store.add_message, []

            async def add_and_leave(thread: str, message: dict[str, object], *more: Any) -> None:
                if message["role"] == "tool" and not adding:
                    adding.append(message)
                    session.cancel("left")
                await add(thread, message, *more)

            runtime.store.add_message = add_and_leave  # type: ignore[method-assign]
            assert (await send_prompt(session, "go")).last_end.text == "left"
            assert adding
            assert await session.main.history() == await runtime.store.messages(session.id)
            await send_prompt(session, "again")
            assert await results(session) == ["1"]

    run_async(work)


def test_a_model_that_counts_its_calls_from_one_again_gets_each_its_own_result(tmp_path: Path) -> None:
    class Counting(RecordingModel):
        async def stream(self, request: CompletionRequest) -> AsyncIterator[Any]:
            async for piece in super().stream(request):
                yield replace(piece, id="0") if isinstance(piece, RequestedCall) else piece

    async def work() -> None:
        echo = [("bash", {"command": f"echo {n}"}) for n in range(3)]
        model = Counting([tool_call_step(*echo[:2]), "ok", tool_call_step(echo[2]), "ok"])
        async with open_runtime(tmp_path, "", model=model) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "go")
            await send_prompt(session, "go")
            sent = [m["content"] for m in model.requests[-1].messages if m["role"] == "tool"]
            assert sent == ["0", "1", "2"]
            assert [row.attempt for row in await runtime.store.calls(session.id)] == [1, 1, 1]

    run_async(work)


def test_tools_that_wait_behind_one_that_was_cut_off_are_run_later(tmp_path: Path) -> None:
    store = file_url(tmp_path / "store.db")

    async def cut_off() -> str:
        async with open_runtime(tmp_path, "", ["one"], store=store) as (runtime, _):
            session = await runtime.start()
            for command in ("echo first >> ran; sleep 30.4", "echo second >> ran", "echo third >> ran"):
                await session.main.queue_tool("bash", {"command": command})
            talk = asyncio.ensure_future(send_prompt(session, "go"))
            while not (tmp_path / "ran").exists():  # noqa: ASYNC110 (nobody says when)
                await asyncio.sleep(0.02)
            session.cancel()
            await talk
            return session.id

    async def taken_up(id: str) -> None:
        async with open_runtime(tmp_path, "", ["two"], store=store) as (runtime, _):
            session, seen = await runtime.resume(id), UpdateRecorder()
            async for happening in session.go_on():
                seen(happening)
            assert seen.last_end.text == "two"
            rows = await runtime.store.calls(session.id)
            assert len(rows) == len({row.call for row in rows}) == 3

    run_async(lambda: _both(cut_off, taken_up))
    assert (tmp_path / "ran").read_text() == "first\nsecond\nthird\n"


async def _both(first: Callable[[], Awaitable[str]], second: Callable[[str], Awaitable[None]]) -> None:
    await second(await first())
