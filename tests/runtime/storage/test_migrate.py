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
from hookline.runtime.storage import migrate
from hookline.runtime.storage.schema import VERSION, VERSION_TABLE, metadata
from hookline.runtime.storage.urls import connected
from runtime.storage.parts import opened, runs, with_thread

OPENS = """
import asyncio, sys
from hookline.runtime.storage.store import Store

async def open():
    sys.stdin.read(1)
    await (await Store.open(sys.argv[1])).close()
    print("alembic" in sys.modules)

asyncio.run(open())
"""


def opening(url: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", OPENS, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def differences(connection: Connection) -> list[Any]:
    context = MigrationContext.configure(connection, opts={"version_table": VERSION_TABLE, "compare_type": True})
    return list(compare_metadata(context, metadata))


def test_the_last_migration_is_the_version_that_is_looked_for() -> None:
    config = Config()
    config.set_main_option("script_location", str(Path(migrate.__file__).parent / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [VERSION]


@runs
async def test_migrations_lead_to_the_tables(untouched: str) -> None:
    async with opened(untouched):
        pass
    database = await connected(untouched)
    assert await database.read(differences) == []
    await database.close()


def test_processes_that_open_at_once_agree(untouched: str) -> None:
    processes = [opening(untouched) for _ in range(3)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("!")
        process.stdin.flush()
    told = [process.communicate(timeout=60)[0] for process in processes]
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert "True\n" in told
    again = opening(untouched)
    assert again.communicate("!", timeout=60)[0] == "False\n", "a current database is opened without Alembic"


@runs
async def test_tasks_that_open_at_once_agree(untouched: str) -> None:
    async def once() -> None:
        async with opened(untouched) as store:
            assert await store.sessions() == []

    await asyncio.gather(*(once() for _ in range(5)))


@runs
async def test_a_database_of_a_newer_version_is_refused_and_left_alone(untouched: str) -> None:
    async with with_thread(untouched):
        pass
    database = await connected(untouched)
    await database.write(
        lambda connection: connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '9999'"))
    )
    with pytest.raises(HooklineError, match=r"newer hookline \(its schema is 9999, ours \d+\); update hookline"):
        async with opened(untouched):
            pass
    await database.write(
        lambda connection: connection.execute(text(f"UPDATE {VERSION_TABLE} SET version_num = '{VERSION}'"))
    )
    await database.close()
    async with opened(untouched) as store:
        assert len(await store.sessions()) == 1
