"""Whoever watches an exchange sees its end, however it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hookline.runtime.models.model import CompletionRequest
from hookline.runtime.models.scripted import ScriptedModel
from hookline.runtime.updates import DecisionMade, Ending, ExchangeEnded, TextDelta, ToolCallFinished
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt, tool_call_step

TWO = """
hooks:
  - {id: no-rm, on: tool.before, when: {tool: bash, input: {command: '^rm'}}, then: {deny: not here}}
  - {id: hello, on: session.start, then: {tell: {text: hello there, to: user}}}
"""


def test_a_cancelled_exchange_ends_with_words_and_the_session_goes_on(tmp_path: Path) -> None:
    async def work() -> None:
        steps = [tool_call_step(("bash", {"command": "sleep 30"}), say="I wait."), "Here I am."]
        async with open_runtime(tmp_path, "", steps) as (runtime, _):
            session = await runtime.start()
            last = None
            async for happening in session.say("wait"):
                if isinstance(happening, TextDelta):
                    asyncio.get_running_loop().call_later(0.3, session.cancel, "stopped by you")
                last = happening
            assert isinstance(last, ExchangeEnded)
            assert (last.ending, last.text) == (Ending.CANCELLED, "stopped by you")
            assert (await send_prompt(session, "still there?")).last_end.text == "Here I am."
            assert not session.main.abort.aborted

    run_async(work)


def test_a_bug_in_the_loop_reaches_whoever_reads(tmp_path: Path) -> None:
    class Broken(ScriptedModel):
        async def stream(self, request: CompletionRequest) -> AsyncIterator[Any]:
            raise ZeroDivisionError("a bug")
            yield

    async def work() -> None:
        async with open_runtime(tmp_path, model=Broken([])) as (runtime, _):
            session = await runtime.start()
            with pytest.raises(ZeroDivisionError):
                await send_prompt(session, "go")

    run_async(work)


def test_a_watcher_hears_the_first_event_and_only_of_hooks_that_did_something(tmp_path: Path) -> None:
    seen = UpdateRecorder()

    async def work() -> None:
        steps = [tool_call_step(("bash", {"command": "echo 1"})), tool_call_step(("bash", {"command": "rm x"})), "ok"]
        async with open_runtime(tmp_path, TWO, steps, watch=seen, explain=True) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "go")
            assert session.last is not None
            assert session.last.by == "no-rm"

    run_async(work)
    assert seen.events == ["session.start", "tool.before"]
    assert [each.ran for each in seen.of_type(ToolCallFinished)] == [True, False]
    assert len(seen.of_type(DecisionMade)[1].decision.trace) == 1


def test_an_ended_session_can_be_reopened_without_what_its_skills_brought(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, "", ["one", "two"]) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "first")
            await session.end()
            again = await runtime.reopen(session.id)
            assert (await send_prompt(again, "second")).last_end.text == "two"
            assert [m["content"] for m in await again.main.history()] == ["first", "one", "second", "two"]
            await again.end()
            row = await runtime.store.session(session.id)
            assert row is not None
            assert row.ended == "exit"

    run_async(work)
