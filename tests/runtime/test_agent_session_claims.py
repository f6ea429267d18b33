"""One process at a time works on a session."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.runtime.apps.app import App
from hookline.runtime.storage.store import file_url
from runtime.scripted_runtime import make_agent, open_runtime, run_async


def test_two_agents_do_not_work_on_one_session(tmp_path: Path) -> None:
    store = file_url(tmp_path / "sessions.db")

    async def work() -> None:
        async with (
            open_runtime(tmp_path, store=store) as (first, _),
            open_runtime(tmp_path, store=store) as (second, _),
        ):
            session = await first.start()
            for refused in (second.resume(session.id), second.reopen(session.id), second.delete(session.id)):
                with pytest.raises(HooklineError, match=f"another hookline process is using the session {session.id}"):
                    await refused
            assert await session.ask("go on") == "done"
            await session.end()
            again = await second.reopen(session.id)
            with pytest.raises(HooklineError, match="another hookline process is using"):
                await first.delete(session.id)
            await again.end()
            await first.delete(session.id)
            assert await second.store.session(session.id) is None

    run_async(work)


def test_whoever_waits_for_a_session_sees_how_it_was_left(tmp_path: Path) -> None:
    store = file_url(tmp_path / "sessions.db")

    async def work() -> None:
        async with (
            open_runtime(tmp_path, store=store) as (first, _),
            open_runtime(tmp_path, store=store) as (second, _),
        ):
            session = await first.start()
            waiting = asyncio.ensure_future(second.resume(session.id))
            await asyncio.wait([waiting], timeout=0.1)
            await session.end()
            with pytest.raises(HooklineError, match=r"has ended \(exit\); reopen\(\) starts it again"):
                await waiting
            assert not second.sessions

    run_async(work)


def test_whoever_resumes_a_session_at_once_gets_the_same_one(tmp_path: Path) -> None:
    store = file_url(tmp_path / "sessions.db")

    async def work() -> None:
        async with open_runtime(tmp_path, store=store) as (runtime, _):
            session = await runtime.start()
        async with open_runtime(tmp_path, store=store) as (runtime, _):
            found = await asyncio.gather(*(runtime.resume(session.id) for _ in range(5)))
            assert len({id(each) for each in found}) == 1
            await found[0].end()
            opened = await asyncio.gather(*(runtime.reopen(session.id) for _ in range(5)))
            assert len({id(each) for each in opened}) == 1

    run_async(work)


def test_a_session_that_cannot_be_restored_is_not_kept_from_others(tmp_path: Path) -> None:
    store = file_url(tmp_path / "sessions.db")

    async def work() -> None:
        async with open_runtime(tmp_path, store=store, app=App((make_agent("gone"),))) as (runtime, _):
            session = await runtime.start()
        async with open_runtime(tmp_path, store=store) as (runtime, _):
            with pytest.raises(HooklineError, match="there is no agent 'gone'"):
                await runtime.resume(session.id)
            async with open_runtime(tmp_path, store=store, app=App((make_agent("gone"),))) as (other, _):
                assert (await other.resume(session.id)).id == session.id

    run_async(work)
