from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, text

from hookline.errors import HooklineError
from hookline.runtime.storage import store
from hookline.runtime.storage.hub_tables import decisions
from hookline.runtime.storage.store import Store, file_url, open_database
from hookline.runtime.storage.tables import VERSION, VERSION_TABLE
from runtime.storage.row_factories import async_test, open_store, open_store_with_thread

pytestmark = pytest.mark.slow


OPENS = """
import asyncio, os, sys
from hookline.runtime.storage.store import Store

async def open():
    await (await Store.open(sys.argv[1])).close()

def forked(begin):
    if child := os.fork():
        return child
    os.read(begin, 1)
    asyncio.run(open())
    os._exit(10 + ("alembic" in sys.modules))

begin, go = os.pipe()
children = [forked(begin) for _ in range(3)]
os.write(go, b"123")
at_once = sorted(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children)
os.write(go, b"4")
print(at_once, os.waitstatus_to_exitcode(os.waitpid(forked(begin), 0)[1]))
"""


def differences(connection: Connection) -> list[Any]:
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "compare_type": True})
    return list(compare_metadata(context, decisions.metadata))


def test_the_last_migration_is_the_version_that_is_looked_for() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(store.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [VERSION]


@async_test
async def test_migrations_lead_to_the_tables(untouched: str) -> None:
    async with open_store(untouched):
        pass
    database = await open_database(untouched)
    assert await database.read(differences) == []
    await database.close()


def test_processes_that_open_at_once_agree_and_the_next_needs_no_alembic(untouched: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OPENS, untouched], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout in (f"[{at_once}] 10\n" for at_once in ("11, 11, 11", "10, 11, 11", "10, 10, 11")), done.stderr


@async_test
async def test_tasks_that_open_at_once_agree(untouched: str) -> None:
    async def once() -> None:
        async with open_store(untouched) as store:
            assert await store.sessions() == []

    await asyncio.gather(*(once() for _ in range(5)))


@async_test
async def test_a_database_of_a_newer_version_is_refused_and_left_alone(untouched: str) -> None:
    async with open_store_with_thread(untouched):
        pass
    database = await open_database(untouched)
    await database.write(
        lambda connection: connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    )
    with pytest.raises(HooklineError, match=r"another version of hookline \(schema 9999, ours is \d+\)"):
        async with open_store(untouched):
            pass
    await database.write(
        lambda connection: connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '{VERSION}'"))
    )
    await database.close()
    async with open_store(untouched) as store:
        assert len(await store.sessions()) == 1


@async_test
async def test_new_databases_are_opened_at_the_same_time(tmp_path: Path) -> None:
    opened = await asyncio.gather(*(Store.open(file_url(tmp_path / f"{number}.db")) for number in range(8)))
    for each in opened:
        assert await each.sessions() == []
        await each.close()
