from __future__ import annotations

import asyncio

import pytest

from hookline.errors import HooklineError
from hookline.hooks.host import NO_HOST
from hookline.testing.scripted_host import MemoryThread
from runtime.storage.row_factories import async_test, make_thread, open_store_with_thread

pytestmark = pytest.mark.slow


@async_test
async def test_a_file_is_written_read_replaced_and_deleted(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await store.write_file("t", "a/b.bin", b"\0\xff", "application/x")
        assert await store.read_file("t", "a/b.bin") == b"\0\xff"
        await store.write_file("t", "a/b.bin", b"", "text/plain")
        assert await store.read_file("t", "a/b.bin") == b""
        assert [each["mimeType"] for each in await store.list_files("t")] == ["text/plain"]
        assert await store.delete_file("t", "a/b.bin")
        assert not await store.delete_file("t", "a/b.bin")
        assert await store.read_file("t", "a/b.bin") is None


@pytest.mark.parametrize("path", ["", "/", "a", "a/", "/a", "a/b", "a/b.txt", "b", "%"])
@async_test
async def test_files_are_listed_as_those_in_memory_are(url: str, path: str) -> None:
    memory = MemoryThread("t", NO_HOST)
    async with open_store_with_thread(url) as store:
        for name in ("a/b.txt", "B.txt", "a/b/c.txt", "ab.txt", "a.txt", "b", "é"):
            stored = await store.write_file("t", name, name.encode(), "text/plain")
            assert stored == await memory.write_file(name, name.encode(), "text/plain")
        assert await store.list_files("t", path) == await memory.list_files(path)


@async_test
async def test_threads_have_files_of_their_own(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_thread(make_thread("u", "s"))
        await store.write_file("t", "a", b"t", "text/plain")
        await store.write_file("u", "a", b"u", "text/plain")
        assert [await store.read_file("t", "a"), await store.read_file("u", "a")] == [b"t", b"u"]
        with pytest.raises(HooklineError, match="not stored"):
            await store.write_file("none", "a", b"", "text/plain")


@async_test
async def test_of_files_written_at_once_one_stays_whole(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await asyncio.gather(*(store.write_file("t", "a", bytes([n]) * 5000, "text/plain") for n in range(20)))
        data = await store.read_file("t", "a")
        assert data is not None
        assert len(data) == 5000
        assert len(set(data)) == 1
