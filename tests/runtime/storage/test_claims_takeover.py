"""The connection to the server is lost, and another agent takes the session: one of them goes on, and only one."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.runtime.updates import Ending, ToolCallFinished
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt, tool_call_step
from runtime.storage.test_claims import drop_connections

pytestmark = pytest.mark.slow


SEE = "hooks: [{id: e, on: session.end, then: {log: x}}]"
TOUCH = tool_call_step(("bash", {"command": "echo ran >> ran"}))


def test_whoever_lost_its_session_runs_no_tool_and_ends_nothing(tmp_path: Path, new_database: str) -> None:
    first_saw, second_saw = UpdateRecorder(), UpdateRecorder()

    async def work() -> None:
        async with (
            open_runtime(tmp_path, SEE, ["one", TOUCH, "never"], store=new_database, watch=first_saw) as (first, _),
            open_runtime(tmp_path, SEE, ["two"], store=new_database, watch=second_saw) as (second, _),
        ):
            session = await first.start()
            await send_prompt(session, "first")
            await drop_connections(new_database)
            other = await second.resume(session.id)
            lost = await send_prompt(session, "lost")
            assert lost.last_end.ending is Ending.FAILED
            assert lost.last_end.text.endswith(f"taken over the session {session.id}; resume it to continue")
            assert not lost.of_type(ToolCallFinished)
            await session.end()
            assert first.sessions == {}
            assert (await send_prompt(other, "second")).last_end.text == "two"
            with pytest.raises(HooklineError, match="another hookline process is using"):
                await first.resume(session.id)
            stored = [message["content"] for message in await other.main.history()]
            assert stored == ["first", "one", "second", "two"]
            await other.end()

    run_async(work)
    assert first_saw.events == []
    assert second_saw.events == ["session.end"]
    assert not (tmp_path / "ran").exists()


def test_whoever_lost_its_session_can_have_it_again(tmp_path: Path, new_database: str) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, "", ["one", "three"], store=new_database) as (first, _):
            session = await first.start()
            await send_prompt(session, "first")
            await drop_connections(new_database)
            async with open_runtime(tmp_path, "", ["two"], store=new_database) as (second, _):
                await send_prompt(await second.resume(session.id), "second")
            again = await first.resume(session.id)
            assert (await send_prompt(again, "third")).last_end.text == "three"
            stored = [message["content"] for message in await again.main.history()]
            assert stored == ["first", "one", "second", "two", "third", "three"]

    run_async(work)


def test_an_idle_session_of_somebody_else_is_not_ended(tmp_path: Path, new_database: str) -> None:
    seen = UpdateRecorder()

    async def work() -> None:
        async with (
            open_runtime(tmp_path, SEE, store=new_database, watch=seen) as (first, _),
            open_runtime(tmp_path, SEE, store=new_database) as (second, _),
        ):
            session = await first.start()
            session.last_used = 0
            await drop_connections(new_database)
            other = await second.resume(session.id)
            await first.expire()
            assert first.sessions == {}
            row = await second.store.session(session.id)
            assert row is not None
            assert row.ended is None
            assert await other.ask("go on") == "done"

    run_async(work)
    assert seen.events == []
