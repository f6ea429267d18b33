"""The model's server dies in the middle of an answer, hangs, or is gone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hookline.runtime.apps.app import App
from hookline.runtime.runtime import Runtime, Settings
from hookline.runtime.updates import Ending, ExchangeEnded, ModelRetry, TextDelta
from runtime.models.provider_stub import DIE, HANG, KEY, ProviderStub, StubResponse, chunk, encode_sse, serving
from runtime.scripted_runtime import UpdateRecorder, make_agent, run_async, send_prompt

TOOL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "bash", "arguments": '{"command": "'}}
REST = {"index": 0, "function": {"arguments": 'echo 1 >> ran"}'}}
DIES = StubResponse((*encode_sse([chunk({"role": "assistant", "content": "Half an "})]), DIE))
DIES_CALLING = StubResponse((*encode_sse([chunk({"role": "assistant", "tool_calls": [TOOL]})]), DIE))
CALLS = StubResponse(
    encode_sse(
        [chunk({"role": "assistant", "tool_calls": [TOOL]}), chunk({"tool_calls": [REST]}), chunk({}, "tool_calls")],
        done=True,
    )
)
SAYS = StubResponse(
    encode_sse(
        [chunk({"role": "assistant", "content": "All "}), chunk({"content": "of it."}), chunk({}, "stop")], done=True
    )
)
HANGS = StubResponse((*encode_sse([chunk({"role": "assistant", "content": "Wait "})]), HANG))


@asynccontextmanager
async def served(workspace: Path, *answers: StubResponse) -> AsyncIterator[tuple[Runtime, ProviderStub]]:
    async def at_once(seconds: float) -> None:
        await asyncio.sleep(0)

    async with serving(*answers) as server:
        settings = Settings(
            home=workspace,
            env={"HOOKLINE_KEY_127_0_0_1": KEY},
            app=App((make_agent(),)),
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
            seen = await send_prompt(session, "go")
            assert (seen.last_end.ending, seen.last_end.text) == (Ending.ANSWERED, "All of it.")
            assert [each.code for each in seen.of_type(ModelRetry)] == ["network"] * 3
            roles = [(m["role"], m["content"]) for m in await session.main.history()]
            assert roles == [("user", "go"), ("assistant", None), ("tool", ""), ("assistant", "All of it.")]
            assert len(server.got) == 5

    run_async(work)
    assert (tmp_path / "ran").read_text() == "1\n"


def test_a_server_that_always_dies_is_told_in_one_line_and_the_session_goes_on(tmp_path: Path) -> None:
    async def work() -> None:
        async with served(tmp_path, DIES, DIES, DIES, DIES, SAYS) as (runtime, server):
            session = await runtime.start()
            seen = await send_prompt(session, "go")
            assert seen.last_end.ending is Ending.FAILED
            assert "\n" not in seen.last_end.text
            assert KEY not in seen.last_end.text
            assert [m["role"] for m in await session.main.history()] == ["user"]
            assert (await send_prompt(session, "again")).last_end.text == "All of it."
            assert [m["content"] for m in server.got[-1].body["messages"][1:]] == ["go", "again"]

    run_async(work)


def test_cancelling_and_leaving_close_the_connection(tmp_path: Path) -> None:
    async def work() -> None:
        async with served(tmp_path, HANGS, HANGS, SAYS) as (runtime, server):
            session, seen = await runtime.start(), UpdateRecorder()
            async for happening in session.say("go"):
                seen(happening)
                if isinstance(happening, TextDelta):
                    session.cancel("stopped by you")
            assert (seen.last_end.ending, seen.last_end.text) == (Ending.CANCELLED, "stopped by you")
            await server.left.wait()
            server.left.clear()
            async for happening in session.say("once more"):
                if isinstance(happening, TextDelta):
                    break
            await server.left.wait()
            assert (await send_prompt(session, "and now")).last_end.text == "All of it."
            assert [m["role"] for m in await session.main.history()] == ["user", "user", "user", "assistant"]

    run_async(work)


def test_whoever_asks_and_is_cancelled_ends_the_exchange(tmp_path: Path) -> None:
    async def work() -> None:
        async with served(tmp_path, HANGS, SAYS) as (runtime, server):
            session, seen = await runtime.start(), UpdateRecorder()
            session.watch(seen)
            ask = asyncio.ensure_future(session.ask("go"))
            await server.hangs.wait()
            ask.cancel()
            await asyncio.wait([ask])
            await server.left.wait()
            assert [each.ending for each in seen.of_type(ExchangeEnded)] == [Ending.CANCELLED]
            assert not session.is_busy
            assert await session.ask("again") == "All of it."

    run_async(work)
