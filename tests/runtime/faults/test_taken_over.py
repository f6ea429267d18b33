"""The connection to the server is lost, and another agent takes the session: one of them goes on, and only one."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.runtime.happenings import Called, Ending
from runtime.agents import Seen, calls, play, running, said
from runtime.storage.test_claims import broken

SEE = "hooks: [{id: e, on: session.end, then: {log: x}}]"
TOUCH = calls(("bash", {"command": "echo ran >> ran"}))


def test_whoever_lost_its_session_runs_no_tool_and_ends_nothing(tmp_path: Path, new_database: str) -> None:
    first_saw, second_saw = Seen(), Seen()

    async def work() -> None:
        async with (
            running(tmp_path, SEE, ["one", TOUCH, "never"], store=new_database, watch=first_saw) as (first, _),
            running(tmp_path, SEE, ["two"], store=new_database, watch=second_saw) as (second, _),
        ):
            session = await first.start()
            await said(session, "first")
            await broken(new_database)
            other = await second.resume(session.id)
            lost = await said(session, "lost")
            assert lost.ended.ending is Ending.FAILED
            assert lost.ended.text == f"another hookline has taken over the session {session.id}; resume it to go on"
            assert not lost.of(Called)
            await session.end()
            assert first.sessions == {}
            assert (await said(other, "second")).ended.text == "two"
            with pytest.raises(HooklineError, match="another hookline is at work"):
                await first.resume(session.id)
            stored = [message["content"] for message in await other.main.history()]
            assert stored == ["first", "one", "second", "two"]
            await other.end()

    play(work)
    assert first_saw.events == []
    assert second_saw.events == ["session.end"]
    assert not (tmp_path / "ran").exists()


def test_whoever_lost_its_session_can_have_it_again(tmp_path: Path, new_database: str) -> None:
    async def work() -> None:
        async with running(tmp_path, "", ["one", "three"], store=new_database) as (first, _):
            session = await first.start()
            await said(session, "first")
            await broken(new_database)
            async with running(tmp_path, "", ["two"], store=new_database) as (second, _):
                await said(await second.resume(session.id), "second")
            again = await first.resume(session.id)
            assert (await said(again, "third")).ended.text == "three"
            stored = [message["content"] for message in await again.main.history()]
            assert stored == ["first", "one", "second", "two", "third", "three"]

    play(work)


def test_an_idle_session_of_somebody_else_is_not_ended(tmp_path: Path, new_database: str) -> None:
    seen = Seen()

    async def work() -> None:
        async with (
            running(tmp_path, SEE, store=new_database, watch=seen) as (first, _),
            running(tmp_path, SEE, store=new_database) as (second, _),
        ):
            session = await first.start()
            session.last_used = 0
            await broken(new_database)
            other = await second.resume(session.id)
            await first.expire()
            assert first.sessions == {}
            row = await second.store.session(session.id)
            assert row is not None
            assert row.ended is None
            assert await other.ask("go on") == "done"

    play(work)
    assert seen.events == []
