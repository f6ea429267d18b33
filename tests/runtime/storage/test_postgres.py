from __future__ import annotations

import asyncio
from pathlib import Path

import asyncpg
import pytest

from hookline.errors import HooklineError
from hookline.runtime.storage import postgres
from hookline.runtime.storage.store import Store
from runtime.storage.row_factories import (
    async_test,
    make_message,
    make_session,
    message_ids,
    open_store,
    open_store_with_thread,
)

pytestmark = pytest.mark.slow


async def refusal(url: str) -> str:
    with pytest.raises(HooklineError) as refused:
        async with open_store(url):
            pass
    assert "\n" not in str(refused.value)
    assert "secret" not in str(refused.value)
    return str(refused.value)


@async_test
async def test_a_server_that_is_not_there_is_told(tmp_path: Path) -> None:
    told = await refusal(f"postgresql://me:secret@/db?host={tmp_path}&password=secret")
    assert told.startswith("the database postgresql://me:***@/db cannot be reached (")
    assert told.endswith("); check that it is running")
    assert "cannot be reached (" in await refusal("postgresql://me:secret@127.0.0.1:1/db")


@async_test
async def test_a_database_or_user_that_is_not_there_is_told(postgres: str) -> None:
    assert "/none does not exist; create it with createdb" in await refusal(postgres.format("none"))
    nobody = postgres.replace("tests@", "nobody:secret@").format("postgres")
    assert "rejected the login" in await refusal(nobody)


@async_test
async def test_tables_of_something_else_are_left_alone(new_database: str) -> None:
    connection = await asyncpg.connect(new_database)
    await connection.execute("CREATE TABLE files (name text)")
    assert "has tables of another program; give hookline its own database" in await refusal(new_database)
    assert await connection.fetchval("SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == 1
    await connection.close()


@async_test
async def test_a_user_without_rights_is_told(new_database: str) -> None:
    connection = await asyncpg.connect(new_database)
    await connection.execute("DROP ROLE IF EXISTS guest")
    await connection.execute("CREATE ROLE guest LOGIN")
    await connection.close()
    assert "does not grant this user enough rights" in await refusal(new_database.replace("tests@", "guest@"))


@async_test
async def test_a_lost_connection_is_replaced(postgres_database: str) -> None:
    async with open_store_with_thread(postgres_database) as store:
        other = await asyncpg.connect(postgres_database)
        await other.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        await other.close()
        await store.add_message("t", make_message("1"))
        assert await message_ids(store) == ["1"]


@async_test
async def test_more_writers_than_connections_wait_for_their_turn(postgres_database: str) -> None:
    async with open_store_with_thread(postgres_database) as store:
        await asyncio.gather(*(store.add_session(make_session(str(number))) for number in range(200)))
        assert len(await store.sessions(limit=300)) == 201


@async_test
async def test_closing_waits_for_a_write_whose_caller_was_cancelled(postgres_database: str) -> None:
    store = await Store.open(postgres_database)
    adding = asyncio.ensure_future(store.add_session(make_session("s")))
    await asyncio.sleep(0.001)
    adding.cancel()
    await asyncio.wait([adding])
    await store.close()
    async with open_store(postgres_database) as store:
        assert await store.session("s") == make_session("s")


@async_test
async def test_a_lock_that_stays_is_told_and_nothing_is_doubled(
    postgres_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(postgres._SETTINGS, "lock_timeout", "300ms")
    async with open_store_with_thread(postgres_database) as store:
        other = await asyncpg.connect(postgres_database)
        async with other.transaction():
            await other.execute("LOCK TABLE messages IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(HooklineError, match="is locked by another program; try again when it has ended"):
                await store.add_message("t", make_message("1"))
        await store.add_message("t", make_message("1"))
        assert await message_ids(store) == ["1"]
        await other.close()


@async_test
async def test_a_server_that_does_not_answer_is_told(postgres_database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgres, "_SECONDS_TO_ANSWER", 0.3)
    async with open_store_with_thread(postgres_database) as store:
        other = await asyncpg.connect(postgres_database)
        async with other.transaction():
            await other.execute("LOCK TABLE messages IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(
                HooklineError, match="did not answer in time; check whether it is busy or locked, and try again"
            ):
                await store.add_message("t", make_message("1"))
        await store.add_message("t", make_message("1"))
        await other.close()
