"""Whoever watches an exchange sees its end, however it ends."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from hookline.runtime.happenings import Called, Decided, Ended, Ending, Spoke
from hookline.runtime.models.model import Request
from hookline.runtime.models.script import ScriptedModel
from runtime.agents import Seen, calls, play, running, said

TWO = """
hooks:
  - {id: no-rm, on: tool.before, when: {tool: bash, input: {command: '^rm'}}, then: {deny: not here}}
  - {id: hello, on: session.start, then: {tell: {text: hello there, to: user}}}
"""


def test_a_cancelled_exchange_ends_with_words_and_the_session_goes_on(tmp_path: Path) -> None:
    async def work() -> None:
        steps = [calls(("bash", {"command": "sleep 30"}), say="I wait."), "Here I am."]
        async with running(tmp_path, "", steps) as (runtime, _):
            session = await runtime.start()
            last = None
            async for happening in session.say("wait"):
                if isinstance(happening, Spoke):
                    asyncio.get_running_loop().call_later(0.3, session.cancel, "stopped by you")
                last = happening
            assert isinstance(last, Ended)
            assert (last.ending, last.text) == (Ending.CANCELLED, "stopped by you")
            assert (await said(session, "still there?")).ended.text == "Here I am."
            assert not session.main.abort.aborted

    play(work)


def test_a_bug_in_the_loop_reaches_whoever_reads(tmp_path: Path) -> None:
    class Broken(ScriptedModel):
        async def stream(self, request: Request) -> AsyncIterator[Any]:
            raise ZeroDivisionError("a bug")
            yield

    async def work() -> None:
        async with running(tmp_path, model=Broken([])) as (runtime, _):
            session = await runtime.start()
            with pytest.raises(ZeroDivisionError):
                await said(session, "go")

    play(work)


def test_a_watcher_hears_the_first_event_and_only_of_hooks_that_did_something(tmp_path: Path) -> None:
    seen = Seen()

    async def work() -> None:
        steps = [calls(("bash", {"command": "echo 1"})), calls(("bash", {"command": "rm x"})), "ok"]
        async with running(tmp_path, TWO, steps, watch=seen, explain=True) as (runtime, _):
            session = await runtime.start()
            await said(session, "go")
            assert session.last is not None
            assert session.last.by == "no-rm"

    play(work)
    assert seen.events == ["session.start", "tool.before"]
    assert [each.ran for each in seen.of(Called)] == [True, False]
    assert len(seen.of(Decided)[1].decision.trace) == 1


def test_an_ended_session_can_be_reopened_without_what_its_skills_brought(tmp_path: Path) -> None:
    async def work() -> None:
        async with running(tmp_path, "", ["one", "two"]) as (runtime, _):
            session = await runtime.start()
            await said(session, "first")
            await session.end()
            again = await runtime.reopen(session.id)
            assert (await said(again, "second")).ended.text == "two"
            assert [m["content"] for m in await again.main.history()] == ["first", "one", "second", "two"]
            await again.end()
            row = await runtime.store.session(session.id)
            assert row is not None
            assert row.ended == "exit"

    play(work)
