from __future__ import annotations

import asyncio
import os
import resource
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.runtime.storage import sqlite
from hookline.runtime.storage.store import Store, file_url
from runtime.storage.row_factories import async_test, make_message, message_ids, open_store, open_store_with_thread

pytestmark = pytest.mark.slow


NOBODY = 65534


def rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


async def refusal(file: Path) -> str:
    with pytest.raises(HooklineError) as refused:
        async with open_store(file_url(file)):
            pass
    assert "\n" not in str(refused.value)
    return str(refused.value)


@async_test
async def test_file_and_directory_are_the_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "new" / "within" / "store.db"
    async with open_store_with_thread(file_url(file)) as store:
        await store.add_message("t", make_message("1"))
        assert rights(file.parent) == 0o700
        assert {each.name: rights(each) for each in file.parent.iterdir()} == dict.fromkeys(
            ("store.db", "store.db-wal", "store.db-shm"), 0o600
        )


@async_test
async def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    file.touch(0o644)
    file.chmod(0o644)
    async with open_store(file_url(file)):
        assert rights(file) == 0o600
    assert rights(tmp_path) != 0o600


@pytest.mark.parametrize(("setting", "level"), [("", 1), ("?synchronous=normal", 1), ("?synchronous=full", 2)])
@async_test
async def test_how_much_is_synchronised_is_settled_by_the_url(tmp_path: Path, setting: str, level: int) -> None:
    async with open_store(f"sqlite:///{tmp_path}/store.db{setting}") as store:
        pragmas = [
            await store._database.write(
                lambda connection, name=name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            )  # type: ignore[misc]
            for name in ("synchronous", "journal_mode", "foreign_keys", "trusted_schema")
        ]
        assert pragmas == [level, "wal", 1, 0]


@contextmanager
def write_locked(file: Path) -> Iterator[sqlite3.Connection]:
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield other
    finally:
        other.close()


@async_test
async def test_a_lock_is_waited_for(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    async with open_store_with_thread(file_url(file)) as store:
        with write_locked(file) as other:
            adding = asyncio.ensure_future(store.add_message("t", make_message("1")))
            assert await store.messages("t") == []
            done, _ = await asyncio.wait([adding], timeout=0.2)
            assert not done
            other.execute("COMMIT")
            await adding
        assert await message_ids(store) == ["1"]


@async_test
async def test_a_lock_that_stays_is_told_and_nothing_is_doubled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite, "_LOCK_SECONDS", 0.2)
    file = tmp_path / "store.db"
    async with open_store_with_thread(file_url(file)) as store:
        with write_locked(file):
            tries = [store.add_message("t", make_message(str(number))) for number in range(20)]
            failed = await asyncio.gather(*tries, return_exceptions=True)
            assert {str(each) for each in failed} == {
                f"the database {file} is locked by another program; try again when it has ended"
            }
        for number in range(20):
            await store.add_message("t", make_message(str(number)))
        assert await message_ids(store) == [str(number) for number in range(20)]


@async_test
async def test_a_database_that_is_locked_can_be_opened_and_read(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    async with open_store_with_thread(file_url(file)) as store:
        await store.add_message("t", make_message("1"))
    with write_locked(file):
        async with open_store(file_url(file)) as store:
            assert await message_ids(store) == ["1"]


@pytest.mark.parametrize("content", [b"this is a letter, not a database" * 100, b"x" * 17, b"\0" * 4096])
@async_test
async def test_a_file_that_is_no_database_stays_as_it_was(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "letter.db"
    file.write_bytes(content)
    assert await refusal(file) == f"the database {file} is not a hookline database; move the file or choose another"
    assert file.read_bytes() == content


@async_test
async def test_a_damaged_database_is_told(tmp_path: Path) -> None:
    file = tmp_path / "store.db"
    async with open_store_with_thread(file_url(file)) as store:
        for number in range(50):
            await store.add_message("t", make_message(str(number), "x" * 2000))
    content = file.read_bytes()
    file.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))
    with pytest.raises(HooklineError, match="is damaged"):
        async with open_store(file_url(file)) as store:
            await store.messages("t")


@async_test
async def test_a_directory_is_no_database(tmp_path: Path) -> None:
    assert f"{tmp_path}" in await refusal(tmp_path)


@async_test
async def test_a_file_where_a_directory_should_be_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "File exists" in await refusal(tmp_path / "file" / "store.db")


@async_test
async def test_tables_of_something_else_are_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    other = sqlite3.connect(file)
    other.execute("CREATE TABLE messages (text)")
    other.close()
    assert await refusal(file) == f"the database {file} has tables of another program; choose another file"
    other = sqlite3.connect(file)
    assert other.execute("SELECT name FROM sqlite_master").fetchall() == [("messages",)]
    other.close()


@asynccontextmanager
async def without_rights() -> AsyncIterator[Path]:
    """A directory of a user to whom rights apply: they do not to root."""
    async with open_store_with_thread("sqlite:///:memory:"):
        pass  # this loads all the code that a store needs: the user may not read it
    with tempfile.TemporaryDirectory(prefix="hookline-") as name:
        directory = Path(name)
        root = os.geteuid() == 0
        if root:
            os.chown(directory, NOBODY, NOBODY)
            os.seteuid(NOBODY)
        try:
            yield directory
        finally:
            if root:
                os.seteuid(0)
            directory.chmod(0o700)


@async_test
async def test_a_file_that_cannot_be_written_is_told() -> None:
    async with without_rights() as directory:
        file = directory / "store.db"
        async with open_store_with_thread(file_url(file)) as store:
            await store.add_message("t", make_message("1"))
        file.chmod(0o400)
        assert "check the permissions" in await refusal(file)
        file.chmod(0o600)
        async with open_store(file_url(file)) as store:
            assert await message_ids(store) == ["1"]


@async_test
async def test_a_directory_that_cannot_be_written_is_told() -> None:
    async with without_rights() as directory:
        directory.chmod(0o500)
        assert "check the permissions" in await refusal(directory / "store.db")
        assert "check the permissions" in await refusal(directory / "new" / "store.db")


@contextmanager
def no_room_beyond(size: int) -> Iterator[None]:
    """Files of this process grow no further, as on a disk that is full."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@async_test
async def test_a_disk_without_room_is_told_and_the_store_goes_on_afterwards(tmp_path: Path) -> None:
    async with open_store_with_thread(f"sqlite:///{tmp_path}/store.db") as store:
        with no_room_beyond(600_000):
            tries = [
                await tried(store.add_message("t", make_message(str(number), "x" * 20_000))) for number in range(40)
            ]
            stored = [str(number) for number, told in enumerate(tries) if told is None]
            assert await message_ids(store) == stored
        refusals = [told for told in tries if told is not None]
        assert stored
        assert refusals
        assert all("cannot be read or written: disk I/O error" in told and "\n" not in told for told in refusals)
        await store.add_message("t", make_message("after"))
        assert await message_ids(store) == [*stored, "after"]


async def tried(work: Awaitable[None]) -> str | None:
    try:
        await work
    except HooklineError as refused:
        return str(refused)
    return None


@async_test
async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    store = await Store.open(f"sqlite:///{tmp_path}/store.db")
    await store.close()
    with pytest.raises(HooklineError, match="the store is closed"):
        await store.sessions()
    await store.close()


LOOKS = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(*(id for id, in connection.execute("SELECT id FROM messages ORDER BY position")))
connection.close()
"""


@async_test
async def test_opening_a_file_again_takes_no_lock_from_whoever_has_it_open(tmp_path: Path) -> None:
    """A process loses all its locks of a file when it closes it anywhere, and another would then tidy up beneath us."""
    async with open_store_with_thread(f"sqlite:///{tmp_path}/store.db") as store:
        await store.add_message("t", make_message("1"))
        async with open_store(f"sqlite:///{tmp_path}/store.db"):
            pass
        for known in ("1", "2"):
            looks = [sys.executable, "-c", LOOKS, str(tmp_path / "store.db")]
            looked = await asyncio.to_thread(subprocess.check_output, looks, text=True, timeout=60)
            assert looked.split()[-1] == known
            await store.add_message("t", make_message("2"))
