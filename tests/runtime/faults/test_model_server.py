"""The model's server dies in the middle of an answer, hangs, or is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hookline.runtime.app import App
from hookline.runtime.happenings import Ended, Ending, Spoke, TryingAgain
from hookline.runtime.runtime import Runtime, Settings
from runtime.agents import Seen, agent, play, said
from runtime.models.loopback import DIE, HANG, KEY, Answer, Loopback, chunk, events, listening

TOOL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "'}}
REST = {"index": 0, "function": {"arguments": 'echo 1 >> ran"}'}}
DIES = Answer((*events([chunk({"role": "assistant", "content": "Half an "})]), DIE))
DIES_CALLING = Answer((*events([chunk({"role": "assistant", "tool_calls": [TOOL]})]), DIE))
CALLS = Answer(
    events(
        [chunk({"role": "assistant", "tool_calls": [TOOL]}), chunk({"tool_calls": [REST]}), chunk({}, "tool_calls")],
        done=True,
    )
)
SAYS = Answer(
    events(
        [chunk({"role": "assistant", "content": "All "}), chunk({"content": "of it."}), chunk({}, "stop")], done=True
    )
)
HANGS = Answer((*events([chunk({"role": "assistant", "content": "Wait "})]), HANG))


@asynccontextmanager
async def served(workspace: Path, *answers: Answer) -> AsyncIterator[tuple[Runtime, Loopback]]:
    async def at_once(seconds: float) -> None:
        await asyncio.sleep(0)

    async with listening(*answers) as server:
        settings = Settings(
            home=workspace,
            env={"HOOKLINE_KEY_127_0_0_1": KEY},
            app=App((agent(),)),
            model=f"openai-chat:a-model@{server.url}/v1",
            store="sqlite://",
            sleep=at_once,
        )
        async with Runtime.open(workspace, settings) as runtime:
            yield runtime, server


def test_an_answer_that_broke_off_is_asked_for_again_and_stored_once(tmp_path: Path) -> None:
    async def work() -> None:
        async with served(tmp_path, DIES, DIES_CALLING, CALLS, DIES, SAYS) as (runtime, server):
            session = await runtime.start()
            seen = await said(session, "go")
            assert (seen.ended.ending, seen.ended.text) == (Ending.ANSWERED, "All of it.")
            assert [each.code for each in seen.of(TryingAgain)] == ["network"] * 3
            roles = [(m["role"], m["content"]) for m in await session.main.history()]
            assert roles == [("user", "go"), ("assistant", None), ("tool", ""), ("assistant", "All of it.")]
            assert len(server.got) == 5

    play(work)
    assert (tmp_path / "ran").read_text() == "1\n"


def test_a_server_that_always_dies_is_told_in_one_line_and_the_session_goes_on(tmp_path: Path) -> None:
    async def work() -> None:
        async with served(tmp_path, DIES, DIES, DIES, DIES, SAYS) as (runtime, server):
            session = await runtime.start()
            seen = await said(session, "go")
            assert seen.ended.ending is Ending.FAILED
            assert "\n" not in seen.ended.text
            assert KEY not in seen.ended.text
            assert [m["role"] for m in await session.main.history()] == ["user"]
            assert (await said(session, "again")).ended.text == "All of it."
            assert [m["content"] for m in server.got[-1].body["messages"][1:]] == ["go", "again"]

    play(work)


def test_cancelling_and_leaving_close_the_connection(tmp_path: Path) -> None:
    async def work() -> None:
        async with served(tmp_path, HANGS, HANGS, SAYS) as (runtime, server):
            session, seen = await runtime.start(), Seen()
            async for happening in session.say("go"):
                seen(happening)
                if isinstance(happening, Spoke):
                    session.cancel("stopped by you")
            assert (seen.ended.ending, seen.ended.text) == (Ending.CANCELLED, "stopped by you")
            await server.left.wait()
            server.left.clear()
            async for happening in session.say("once more"):
                if isinstance(happening, Spoke):
                    break
            await server.left.wait()
            assert (await said(session, "and now")).ended.text == "All of it."
            assert [m["role"] for m in await session.main.history()] == ["user", "user", "user", "assistant"]

    play(work)


def test_whoever_asks_and_is_cancelled_ends_the_exchange(tmp_path: Path) -> None:
    async def work() -> None:
        async with served(tmp_path, HANGS, SAYS) as (runtime, server):
            session, seen = await runtime.start(), Seen()
            session.watch(seen)
            ask = asyncio.ensure_future(session.ask("go"))
            await server.hangs.wait()
            ask.cancel()
            await asyncio.wait([ask])
            await server.left.wait()
            assert [each.ending for each in seen.of(Ended)] == [Ending.CANCELLED]
            assert not session.busy
            assert await session.ask("again") == "All of it."

    play(work)
