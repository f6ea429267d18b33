from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import Connection, Table, func, select

from hookline.errors import HooklineError
from hookline.runtime.storage import hub_tables
from hookline.runtime.storage.store import open_database
from hookline.runtime.storage.tables import Injection, metadata
from runtime.storage.row_factories import (
    async_test,
    make_approval,
    make_call,
    make_message,
    make_session,
    make_thread,
    open_store,
    open_store_with_thread,
)

pytestmark = pytest.mark.slow


@async_test
async def test_a_session_comes_back(url: str) -> None:
    given = make_session("s", hooks={"version": 1, "hooks": [1, {"a": None}]}, turns=3, tool_calls=2)
    async with open_store(url) as store:
        await store.add_session(given)
        await store.add_session(make_session("bare"))
        assert await store.session("s") == given
        assert await store.session("bare") == make_session("bare")
        assert await store.session("none") is None


@async_test
async def test_sessions_are_listed_by_last_use(url: str) -> None:
    async with open_store(url) as store:
        for id, used in (("a", 2.0), ("b", 3.5), ("c", 1.0)):
            await store.add_session(make_session(id, used))
        assert [each.id for each in await store.sessions()] == ["b", "a", "c"]
        await store.update_session("c", last_used=4.0)
        assert [each.id for each in await store.sessions(limit=2)] == ["c", "b"]


@async_test
async def test_a_session_is_touched(url: str) -> None:
    async with open_store(url) as store:
        await store.add_session(make_session("s"))
        await store.update_session("s", turns=4, ended="idle", hooks={"b": 2})
        assert await store.session("s") == make_session("s", turns=4, ended="idle", hooks={"b": 2})
        with pytest.raises(HooklineError, match="no session 'none'"):
            await store.update_session("none", turns=1)
        with pytest.raises(TypeError, match="SessionRow has no field tokens that can be changed"):
            await store.update_session("s", tokens=1)
        with pytest.raises(TypeError, match="no field of SessionRow to change"):
            await store.update_session("s")


@async_test
async def test_a_session_is_added_once(url: str) -> None:
    async with open_store(url) as store:
        await store.add_session(make_session("s"))
        with pytest.raises(HooklineError, match="this id is already in use"):
            await store.add_session(make_session("s", 5.0))
        assert await store.sessions() == [make_session("s")]


@async_test
async def test_threads_come_back_as_they_were_made(url: str) -> None:
    given = [make_thread("b", "s", step=3), replace(make_thread("a", "s", flow="f"), parent="b", depth=1)]
    async with open_store(url) as store:
        await store.add_session(make_session("s"))
        for each in given:
            await store.add_thread(each)
        assert await store.threads("s") == given
        assert await store.thread("a") == given[1]
        assert await store.thread("none") is None
        await store.update_thread("a", side="b", step=7)
        assert await store.thread("a") == replace(given[1], side="b", step=7)
        with pytest.raises(HooklineError, match="no thread 'none'"):
            await store.update_thread("none", step=1)


@async_test
async def test_a_thread_needs_its_session(url: str) -> None:
    async with open_store(url) as store:
        with pytest.raises(HooklineError, match="not stored"):
            await store.add_thread(make_thread("t", "none"))


def everything(connection: Connection) -> dict[str, int]:
    return {
        table.name: connection.execute(select(func.count()).select_from(table)).scalar_one()
        for table in metadata.sorted_tables
    }


@async_test
async def test_deleting_a_session_deletes_everything_of_it(url: str) -> None:
    async with open_store(url) as store:
        for name in ("s", "other"):
            await store.add_session(make_session(name))
            await store.add_thread(make_thread(f"{name} t", name))
            await store.add_message(f"{name} t", make_message("1"))
            await store.compact_messages(f"{name} t", ["1"], make_message("2"))
            await store.add_injection(f"{name} t", Injection("x", "system", None))
            await store.begin_call(make_call("c", f"{name} t"))
            await store.add_approval(make_approval(f"{name} a", name))
            await store.write_file(f"{name} t", "a.txt", b"x", "text/plain")
            await store.save_counts(name, [{"a": 1}])
            await store.queue_tool(f"{name} t", "bash", {})
            await store.set_value(name, "key", 1)
            await store.set_value(f"{name} t", "key", 1)
        await store.set_value("agent", "key", "stays")
        await store.delete_session("s")
        await store.delete_session("none")
        assert await store.get_value("agent", "key") == "stays"
    database = await open_database(url)
    left = await database.read(everything)
    await database.close()
    hub = {name for name, table in vars(hub_tables).items() if isinstance(table, Table)}
    assert left == {**dict.fromkeys(metadata.tables, 1), **dict.fromkeys(hub, 0), "messages": 2, "kept": 3}


@async_test
async def test_writing_to_a_session_while_it_is_deleted_leaves_nothing(url: str) -> None:
    async with open_store_with_thread(url) as store:
        writes = [store.add_message("t", make_message(str(number))) for number in range(20)]
        results = await asyncio.gather(*writes[:10], store.delete_session("s"), *writes[10:], return_exceptions=True)
        assert all(each is None or isinstance(each, HooklineError) for each in results)
        assert await store.messages("t") == []


@async_test
async def test_a_database_in_memory_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with open_store_with_thread("sqlite://") as store, open_store_with_thread("sqlite:///:memory:") as other:
        await store.add_message("t", make_message("1"))
        assert await store.messages("t") == [make_message("1")]
        assert await other.messages("t") == []
    assert not list(tmp_path.iterdir())


@async_test
async def test_a_session_comes_with_its_first_thread_or_not_at_all(url: str) -> None:
    async with open_store(url) as store:
        await store.add_thread(make_thread("t", "s"), make_session("s"))
        assert (await store.session("s"), await store.threads("s")) == (make_session("s"), [make_thread("t", "s")])
        with pytest.raises(HooklineError, match="this id is already in use"):
            await store.add_thread(make_thread("t", "other"), make_session("other"))
        assert await store.session("other") is None
