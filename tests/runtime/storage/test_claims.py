from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import asyncpg
import pytest

from hookline.errors import HooklineError
from hookline.runtime.storage.store import Store
from hookline.runtime.storage.tables import CallEnd, Injection
from runtime.storage.row_factories import (
    async_test,
    make_approval,
    make_call,
    make_message,
    make_session,
    make_thread,
    message_ids,
    open_store,
    open_store_with_thread,
)

pytestmark = pytest.mark.slow


AT_WORK = "another hookline process is using the session s; end it there first"
TAKEN = "another hookline process has taken over the session s; resume it to continue"
CLAIMS = """
import asyncio, sys
from hookline.runtime.storage.store import Store

async def work():
    store = await Store.open(sys.argv[1])
    await store.claim("s")
    print("claimed", flush=True)
    await asyncio.sleep(600)

asyncio.run(work())
"""


@contextmanager
def claimed_elsewhere(url: str) -> Iterator[int]:
    """The process that has it."""
    other = subprocess.Popen([sys.executable, "-c", CLAIMS, url], stdout=subprocess.PIPE)
    try:
        assert other.stdout is not None
        assert other.stdout.readline() == b"claimed\n"
        yield other.pid
    finally:
        other.kill()
        other.communicate()


async def drop_connections(url: str) -> None:
    """Whatever connections there are to this database."""
    connection = await asyncpg.connect(url)
    others = "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    await connection.execute(others)
    await connection.close()


@async_test
async def test_one_store_at_a_time_has_a_session(url: str) -> None:
    async with open_store_with_thread(url) as store, open_store(url) as other:
        await store.claim("s")
        await other.claim("another")
        with pytest.raises(HooklineError, match=AT_WORK):
            await other.claim("s")
        await store.release("s")
        await other.claim("s")
        with pytest.raises(HooklineError, match=AT_WORK):
            await store.claim("s")


@async_test
async def test_closing_a_store_ends_its_own_claims_only(url: str) -> None:
    async with open_store_with_thread(url) as store, open_store(url) as third:
        await store.claim("s")
        async with open_store(url) as other:
            await other.claim("another")
        await third.claim("another")
        with pytest.raises(HooklineError, match=AT_WORK):
            await third.claim("s")


@async_test
async def test_a_claim_ends_when_its_process_is_killed(url: str) -> None:
    async with open_store_with_thread(url) as store:
        with claimed_elsewhere(url) as process:
            with pytest.raises(HooklineError, match=AT_WORK):
                await store.claim("s")
            os.kill(process, signal.SIGKILL)
            await store.claim("s")
            await store.add_message("t", make_message("1"))


@async_test
async def test_a_session_that_is_not_stored_yet_can_be_claimed(url: str) -> None:
    async with open_store(url) as store:
        await store.claim("s")
        await store.add_session(make_session("s"))
        await store.update_session("s", turns=1)
        assert await store.holds_claim("s")


@async_test
async def test_whoever_comes_by_another_name_of_the_file_is_refused(tmp_path: Path) -> None:
    async with open_store_with_thread(f"sqlite:///{tmp_path}/store.db") as store:
        (tmp_path / "link.db").symlink_to("store.db")
        await store.claim("s")
        async with open_store(f"sqlite:///{tmp_path}/link.db") as other:
            with pytest.raises(HooklineError, match=AT_WORK):
                await other.claim("s")


@async_test
async def test_a_thousand_sessions_take_one_open_file(tmp_path: Path) -> None:
    async with open_store(f"sqlite:///{tmp_path}/store.db") as store:
        await store.claim("first")
        before = len(os.listdir("/dev/fd"))
        for number in range(1000):
            await store.claim(str(number))
        assert len(os.listdir("/dev/fd")) <= before


@async_test
async def test_a_lost_connection_loses_no_claim_that_nobody_else_took(postgres_database: str) -> None:
    async with open_store_with_thread(postgres_database) as store, open_store(postgres_database) as other:
        await store.claim("s")
        await drop_connections(postgres_database)
        await store.add_message("t", make_message("1"))
        with pytest.raises(HooklineError, match=AT_WORK):
            await other.claim("s")
        await store.add_message("t", make_message("2"))
        assert await store.holds_claim("s")


@pytest.mark.parametrize("still_there", [True, False])
@async_test
async def test_whoever_lost_a_session_to_another_writes_nothing_to_it(
    postgres_database: str, still_there: bool
) -> None:
    async with open_store_with_thread(postgres_database) as store, open_store(postgres_database) as other:
        await store.claim("s")
        await store.add_message("t", make_message("1"))
        attempt = await store.begin_call(make_call("running"))
        await drop_connections(postgres_database)
        await other.claim("s")
        await other.add_message("t", make_message("2"))
        if not still_there:
            await other.release("s")
        for write in (
            store.add_message("t", make_message("3")),
            store.update_message("t", "1", {"content": "x"}),
            store.compact_messages("t", ["1"], make_message("3")),
            store.add_injection("t", Injection("x", "system", None)),
            store.begin_call(make_call("c")),
            store.queue_tool("t", "bash", {}),
            store.unqueue_tools("t", []),
            store.write_file("t", "a", b"", "text/plain"),
            store.delete_file("t", "a"),
            store.add_thread(make_thread("more", "s")),
            store.add_approval(make_approval("a")),
            store.update_session("s", turns=7),
            store.save_progress("s", {"turns": 7}, [{"a": 1}], ("t", {"step": 3})),
        ):
            with pytest.raises(HooklineError, match=TAKEN):
                await write
        assert not await store.holds_claim("s")
        assert await message_ids(other) == ["1", "2"]
        assert await other.threads("s") == [make_thread("t", "s")]
        assert [row.call for row in await other.calls("t")] == ["running"]
        await ended(store, attempt)


async def ended(store: Store, attempt: int) -> None:
    """What a call came to is known to the one who made it alone, so that is written down all the same."""

    await store.end_call(CallEnd("t", "running", attempt, True, "done", ""))
    assert [row.result for row in await store.calls("t")] == ["done"]


@async_test
async def test_a_claim_waits_for_what_is_being_written(postgres_database: str) -> None:
    """Whoever has it then reads all that the one before has stored."""
    async with open_store_with_thread(postgres_database) as store, open_store(postgres_database) as other:
        await store.claim("s")
        slow = await asyncpg.connect(postgres_database)
        transaction = slow.transaction()
        await transaction.start()
        await slow.execute("SELECT 1 FROM sessions WHERE id = 's' FOR NO KEY UPDATE")
        await store.release("s")
        claiming = asyncio.ensure_future(other.claim("s"))
        done, _ = await asyncio.wait([claiming], timeout=0.3)
        assert not done
        await transaction.commit()
        await claiming
        await slow.close()
