from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, func, select

from hookline.errors import HooklineError
from hookline.runtime.storage.rows import Injection
from hookline.runtime.storage.schema import metadata
from hookline.runtime.storage.urls import connected
from runtime.storage.parts import approval, call, message, opened, runs, session, thread, with_thread


@runs
async def test_a_session_comes_back(url: str) -> None:
    given = session("s", hooks={"version": 1, "hooks": [1, {"a": None}]}, turns=3, tool_calls=2)
    async with opened(url) as store:
        await store.add_session(given)
        await store.add_session(session("bare"))
        assert await store.session("s") == given
        assert await store.session("bare") == session("bare")
        assert await store.session("none") is None


@runs
async def test_sessions_are_listed_by_last_use(url: str) -> None:
    async with opened(url) as store:
        for id, used in (("a", 2.0), ("b", 3.5), ("c", 1.0)):
            await store.add_session(session(id, used))
        assert [each.id for each in await store.sessions()] == ["b", "a", "c"]
        await store.touch_session("c", last_used=4.0)
        assert [each.id for each in await store.sessions(limit=2)] == ["c", "b"]


@runs
async def test_a_session_is_touched(url: str) -> None:
    async with opened(url) as store:
        await store.add_session(session("s"))
        await store.touch_session("s", turns=4, ended="idle", hooks={"b": 2})
        assert await store.session("s") == session("s", turns=4, ended="idle", hooks={"b": 2})
        with pytest.raises(HooklineError, match="no session 'none'"):
            await store.touch_session("none", turns=1)
        with pytest.raises(TypeError, match="no tokens"):
            await store.touch_session("s", tokens=1)
        with pytest.raises(TypeError, match="nothing of the SessionRow"):
            await store.touch_session("s")


@runs
async def test_a_session_is_added_once(url: str) -> None:
    async with opened(url) as store:
        await store.add_session(session("s"))
        with pytest.raises(HooklineError, match="stored under this id already"):
            await store.add_session(session("s", 5.0))
        assert await store.sessions() == [session("s")]


@runs
async def test_threads_come_back_as_they_were_made(url: str) -> None:
    given = [thread("b", "s", step=3), replace(thread("a", "s", flow="f"), parent="b", depth=1)]
    async with opened(url) as store:
        await store.add_session(session("s"))
        for each in given:
            await store.add_thread(each)
        assert await store.threads("s") == given
        assert await store.thread("a") == given[1]
        assert await store.thread("none") is None
        await store.touch_thread("a", side="b", step=7)
        assert await store.thread("a") == replace(given[1], side="b", step=7)
        with pytest.raises(HooklineError, match="no thread 'none'"):
            await store.touch_thread("none", step=1)


@runs
async def test_a_thread_needs_its_session(url: str) -> None:
    async with opened(url) as store:
        with pytest.raises(HooklineError, match="not stored"):
            await store.add_thread(thread("t", "none"))


def everything(connection: Connection) -> dict[str, int]:
    return {
        table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in metadata.sorted_tables
    }


@runs
async def test_deleting_a_session_deletes_everything_of_it(url: str) -> None:
    async with opened(url) as store:
        for name in ("s", "other"):
            await store.add_session(session(name))
            await store.add_thread(thread(f"{name} t", name))
            await store.add_message(f"{name} t", message("1"))
            await store.compact_messages(f"{name} t", ["1"], message("2"))
            await store.add_injection(f"{name} t", Injection("x", "system", None))
            await store.begin_call(call("c", f"{name} t"))
            await store.add_approval(approval(f"{name} a", name))
            await store.write_file(f"{name} t", "a.txt", b"x", "text/plain")
            await store.save_counts(name, [{"a": 1}])
            await store.queue_tool(f"{name} t", "bash", {})
            await store.keep(name, "key", 1)
            await store.keep(f"{name} t", "key", 1)
        await store.keep("agent", "key", "stays")
        await store.delete_session("s")
        await store.delete_session("none")
        assert await store.kept("agent", "key") == "stays"
    database = await connected(url)
    left = await database.read(everything)
    await database.close()
    assert left == {**dict.fromkeys(metadata.tables, 1), "messages": 2, "kept": 3}


@runs
async def test_writing_to_a_session_while_it_is_deleted_leaves_nothing(url: str) -> None:
    async with with_thread(url) as store:
        writes = [store.add_message("t", message(str(number))) for number in range(20)]
        results = await asyncio.gather(*writes[:10], store.delete_session("s"), *writes[10:], return_exceptions=True)
        assert all(each is None or isinstance(each, HooklineError) for each in results)
        assert await store.messages("t") == []


@runs
async def test_a_database_in_memory_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with with_thread("sqlite://") as store, with_thread("sqlite:///:memory:") as other:
        await store.add_message("t", message("1"))
        assert await store.messages("t") == [message("1")]
        assert await other.messages("t") == []
    assert not list(tmp_path.iterdir())


@runs
async def test_a_session_comes_with_its_first_thread_or_not_at_all(url: str) -> None:
    async with opened(url) as store:
        await store.add_thread(thread("t", "s"), session("s"))
        assert (await store.session("s"), await store.threads("s")) == (session("s"), [thread("t", "s")])
        with pytest.raises(HooklineError, match="stored under this id already"):
            await store.add_thread(thread("t", "other"), session("other"))
        assert await store.session("other") is None
