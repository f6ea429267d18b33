from __future__ import annotations

import asyncio
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.runtime.storage.store import Store
from runtime.storage import temporary_postgres

NO_POSTGRES = "there is no PostgreSQL on this machine (initdb and pg_ctl, e.g. of Debian's package postgresql)"


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a server, up to the name of a database."""
    programs = temporary_postgres.programs()
    if programs is None:
        pytest.skip(NO_POSTGRES)
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with temporary_postgres.running(programs, shared) as socket:
        yield f"postgresql://tests@/{{}}?host={socket}"


@pytest.fixture(scope="session")
def worn_database(postgres: str) -> str:
    """The URL of a database that many tests use, one after the other."""
    name = f"tests_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    asyncio.run(_run(postgres, f"CREATE DATABASE {name}"))
    return postgres.format(name)


@pytest.fixture
def postgres_database(worn_database: str) -> str:
    """It is empty, with our tables or none."""
    asyncio.run(_truncate(worn_database))
    return worn_database


@pytest.fixture
def new_database(postgres: str, request: pytest.FixtureRequest) -> Iterator[str]:
    name = f"new_{os.getpid()}_{abs(hash(request.node.nodeid))}"
    asyncio.run(_run(postgres, f"CREATE DATABASE {name}"))
    yield postgres.format(name)
    asyncio.run(_run(postgres, f"DROP DATABASE {name} WITH (FORCE)"))


@pytest.fixture(scope="session")
def empty_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("sqlite") / "empty.db"
    asyncio.run(_create_tables(f"sqlite:///{file}"))
    return file


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database of each kind, with our tables."""
    if request.param == "sqlite":
        shutil.copy(request.getfixturevalue("empty_file"), tmp_path / "store.db")
        return f"sqlite:///{tmp_path}/store.db"
    database: str = request.getfixturevalue("postgres_database")
    return database


@pytest.fixture(params=["sqlite", "postgresql"])
def untouched(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """A database of each kind that has never been opened."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/store.db"
    database: str = request.getfixturevalue("new_database")
    return database


async def _create_tables(database: str) -> None:
    await (await Store.open(database)).close()


async def _run(server: str, statement: str) -> None:
    import asyncpg

    connection = await asyncpg.connect(server.format("postgres"))
    await connection.execute(statement)
    await connection.close()


async def _truncate(database: str) -> None:
    import asyncpg

    connection = await asyncpg.connect(database)
    if await connection.fetchval("SELECT to_regclass('sessions')"):
        await connection.execute("TRUNCATE sessions, kept CASCADE")
    await connection.close()
