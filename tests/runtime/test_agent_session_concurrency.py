"""Many sessions at once, many prompts at once, and a clock that ends the idle ones."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.errors import HooklineError
from hookline.hooks.host import SystemClock
from hookline.runtime.models.model import Chunk, CompletionRequest, RequestedCall, TextChunk
from hookline.runtime.models.scripted import ScriptedModel
from hookline.runtime.storage.store import file_url
from hookline.runtime.updates import Ending, ExchangeEnded
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt


class Echo(ScriptedModel):
    """Keeps the last prompt by a tool of the agent, and answers with what the tool has; `at_once` is the most at a time."""

    def __init__(self, delay: float = 0.0) -> None:
        super().__init__([])
        self.delay, self.going, self.at_once = delay, 0, 0

    async def stream(self, request: CompletionRequest) -> AsyncIterator[Chunk]:
        self.going += 1
        self.at_once = max(self.at_once, self.going)
        try:
            await asyncio.sleep(self.delay)
        finally:
            self.going -= 1
        prompted = max(at for at, message in enumerate(request.messages) if message["role"] == "user")
        prompt, *since = request.messages[prompted:]
        if not since:
            input = {"action": "write", "path": "kept", "content": prompt["content"]}
            yield RequestedCall("call_1", "files", json.dumps(input))
        elif len(since) == 2:
            yield RequestedCall("call_2", "files", json.dumps({"action": "read", "path": "kept"}))
        else:
            yield TextChunk(f"You said {since[-1]['content']}")


class Clock(SystemClock):
    def __init__(self) -> None:
        self.ahead = 0.0

    def wall(self) -> float:
        return super().wall() + self.ahead


HOOKS = """
hooks:
  - {id: three, on: tool.before, when: {tool: files, input: {action: write}}, then: {log: seen}, max_fires: 3}
  - {id: slow, on: session.end, then: {run: sleep 0.3}}
"""


def test_fifty_sessions_at_once_get_their_own_answers(tmp_path: Path) -> None:
    model = Echo(0.01)

    async def work() -> None:
        async with open_runtime(tmp_path, HOOKS, model=model, store=file_url(tmp_path / "store.db")) as (runtime, _):

            async def talked(n: int) -> None:
                session = await runtime.start()
                for prompt in (f"a{n}", f"b{n}"):
                    assert await session.ask(prompt) == f"You said {prompt}"
                prompts = [m["content"] for m in await runtime.store.messages(session.id) if m["role"] == "user"]
                assert prompts == [f"a{n}", f"b{n}"]
                assert [row.ok for row in await runtime.store.calls(session.id)] == [True] * 4

            await asyncio.gather(*(talked(n) for n in range(50)))
            assert len(await runtime.store.sessions(100)) == 50

    run_async(work)
    assert model.at_once > 10


def test_two_prompts_to_one_session_are_answered_one_after_the_other(tmp_path: Path) -> None:
    model = Echo(0.02)

    async def work() -> None:
        async with open_runtime(tmp_path, model=model) as (runtime, _):
            session = await runtime.start()
            answers = await asyncio.gather(session.ask("one"), session.ask("two"), session.ask("three"))
            assert answers == ["You said one", "You said two", "You said three"]
            prompts = [m["content"] for m in await session.main.history() if m["role"] == "user"]
            assert prompts == ["one", "two", "three"]
            roles = [m["role"] for m in await session.main.history()]
            assert roles == ["user", "assistant", "tool", "assistant", "tool", "assistant"] * 3

    run_async(work)
    assert model.at_once == 1


def test_a_prompt_that_waits_for_its_turn_can_be_left(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, model=Echo(0.1)) as (runtime, _):
            session = await runtime.start()
            first, second = (asyncio.ensure_future(send_prompt(session, prompt)) for prompt in ("one", "two"))
            await asyncio.sleep(0.05)
            second.cancel()
            await asyncio.wait([second])
            assert (await first).last_end.text.endswith("one")
            assert [m["content"] for m in await session.main.history() if m["role"] == "user"] == ["one"]

    run_async(work)


def test_a_cancelled_exchange_raises_where_it_was_asked(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, model=Echo(5)) as (runtime, _):
            session = await runtime.start()
            for seconds in (0, 0.05):  # before the exchange begins, and while the model answers
                asked = asyncio.ensure_future(session.ask("one"))
                await asyncio.sleep(seconds)
                assert session.is_busy
                session.cancel("enough")
                with pytest.raises(HooklineError, match="enough"):
                    await asked
                assert not session.is_busy

    run_async(work)


def test_whoever_asks_and_leaves_ends_the_exchange(tmp_path: Path) -> None:
    model = Echo(5)

    async def work() -> None:
        async with open_runtime(tmp_path, model=model) as (runtime, _):
            session = await runtime.start()
            asked = asyncio.ensure_future(session.ask("one"))
            await asyncio.sleep(0.05)
            assert model.going
            asked.cancel()
            await asyncio.wait([asked])
            assert asked.cancelled()
            assert not session.is_busy
            assert not model.going

    run_async(work)


def test_a_session_that_is_used_while_others_end_is_not_ended(tmp_path: Path) -> None:
    clock = Clock()

    async def work() -> None:
        idle = timedelta(minutes=30)
        async with open_runtime(tmp_path, HOOKS, model=Echo(), clock=clock, idle=idle) as (runtime, _):
            old, used, answered = [await runtime.start() for _ in range(3)]
            clock.ahead = 3600
            expiring = asyncio.ensure_future(runtime.expire())
            await asyncio.sleep(0.05)  # the end of the first one takes longer
            assert (await send_prompt(answered, "quick")).last_end.ending is Ending.ANSWERED
            talk = asyncio.ensure_future(send_prompt(used, "me too"))
            await expiring
            assert (await talk).last_end.ending is Ending.ANSWERED
            assert set(runtime.sessions) == {used.id, answered.id}
            assert [row.id for row in await runtime.store.sessions() if row.ended == "idle"] == [old.id]

    run_async(work)


def test_a_prompt_to_a_session_that_is_ending_is_told_so(tmp_path: Path) -> None:
    async def work() -> None:
        seen: Any = UpdateRecorder()
        async with open_runtime(tmp_path, HOOKS, model=Echo(0.05), watch=seen) as (runtime, _):
            session = await runtime.start()
            talk = asyncio.ensure_future(send_prompt(session, "one"))
            waits = asyncio.ensure_future(send_prompt(session, "two"))
            await asyncio.sleep(0.02)
            ending = asyncio.ensure_future(session.end())
            assert (await talk).last_end.ending is Ending.CANCELLED
            for late in (waits, asyncio.ensure_future(send_prompt(session, "three"))):
                with pytest.raises(HooklineError, match="has ended"):
                    await late
            await asyncio.gather(ending, session.end())
            assert len(seen.of_type(ExchangeEnded)) == 1
            assert seen.events.count("session.end") == 1

    run_async(work)
