from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hookline.errors import Halted
from hookline.runtime.models.tokens import messages_tokens
from hookline.runtime.thread import MessageNotStoredError, StoredThread
from runtime.scripted_runtime import open_runtime, run_async

HOOKS = """\
hooks:
  - {id: no, on: message.create, when: {fact: {message.content: secret}}, then: {deny: Not that.}}
  - {id: end, on: message.create, when: {fact: {message.content: enough}}, then: {halt: Enough.}}
  - {id: shout, on: message.create, when: {fact: {message.content: quiet}}, then: {set: {message.content: LOUD}}}
"""


def in_thread(tmp_path: Path, work: Callable[[StoredThread], Awaitable[Any]], hooks: str = "") -> Any:
    async def run() -> Any:
        async with open_runtime(tmp_path, hooks) as (runtime, _):
            return await work((await runtime.start()).main)

    return run_async(run)


async def add(thread: StoredThread, content: str) -> str:
    return str((await thread.inject_message({"role": "user", "content": content}))["id"])


async def contents(thread: StoredThread) -> list[Any]:
    return [each["content"] for each in await thread.history()]


def test_hooks_see_a_message_before_it_is_stored(tmp_path: Path) -> None:
    async def work(thread: StoredThread) -> list[Any]:
        await add(thread, "quiet")
        with pytest.raises(MessageNotStoredError, match="Not that"):
            await add(thread, "a secret")
        with pytest.raises(Halted, match="Enough"):
            await add(thread, "enough")
        return await contents(thread)

    assert in_thread(tmp_path, work, HOOKS) == ["LOUD"]


def test_a_page_of_messages_is_counted_from_the_end(tmp_path: Path) -> None:
    async def work(thread: StoredThread) -> list[list[Any]]:
        for text in "abcd":
            await add(thread, text)
        pages = [await thread.get_messages(), await thread.get_messages(2), await thread.get_messages(2, 3)]
        return [[each["content"] for each in page] for page in pages]

    assert in_thread(tmp_path, work) == [["a", "b", "c", "d"], ["c", "d"], ["a"]]


def test_an_update_is_seen_at_once(tmp_path: Path) -> None:
    async def work(thread: StoredThread) -> list[Any]:
        id = await add(thread, "old")
        assert await contents(thread) == ["old"]
        await thread.update_message(id, {"content": "new"})
        return await contents(thread)

    assert in_thread(tmp_path, work) == ["new"]


def test_the_size_of_the_history_follows_every_change(tmp_path: Path) -> None:
    async def work(thread: StoredThread) -> None:
        async def check() -> None:
            assert await thread.history_tokens() == messages_tokens(await thread.history())

        await check()
        ids = []
        for text in ("a", "a longer text", "ü" * 50):
            ids.append(await add(thread, text))
            await check()
        await check()
        await thread.update_message(ids[1], {"content": "x" * 500})
        await check()
        await add(thread, "one more")
        await check()
        await thread.compact(ids[:2], {"id": "m", "role": "user", "content": "both"})
        await check()

    in_thread(tmp_path, work)


def test_a_returned_message_is_a_copy(tmp_path: Path) -> None:
    async def work(thread: StoredThread) -> list[Any]:
        await add(thread, "kept")
        (await thread.get_messages())[0]["content"] = "changed"
        return await contents(thread)

    assert in_thread(tmp_path, work) == ["kept"]


def test_a_cancelled_write_is_finished(tmp_path: Path) -> None:
    async def work(thread: StoredThread) -> list[Any]:
        for steps in range(12):
            writing = asyncio.ensure_future(add(thread, str(steps)))
            for _ in range(steps):
                await asyncio.sleep(0)
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)
        seen = await contents(thread)
        assert seen == [each["content"] for each in await thread.store.messages(thread.id)]
        return seen

    in_thread(tmp_path, work)


def test_queued_tools_are_returned_in_order(tmp_path: Path) -> None:
    async def work(thread: StoredThread) -> list[str]:
        assert await thread.queued_tools() == []
        await thread.queue_tool("b", {})
        await thread.queue_tool("a", {})
        return [each.name for each in await thread.queued_tools()]

    assert in_thread(tmp_path, work) == ["b", "a"]


def test_an_attachment_becomes_a_reference_to_a_file(tmp_path: Path) -> None:
    async def work(thread: StoredThread) -> bytes | None:
        entry = {"name": "../a.txt", "mimeType": "text/plain", "data": "aGk=", "width": 3}
        (stored,) = await thread.store_attachments([entry])
        assert (stored["width"], "data" in stored, ".." in stored["path"]) == (3, False, False)
        assert await thread.store_attachments([stored, "text"]) == [stored]
        assert await thread.store_attachments([{"data": "???"}, stored]) == [stored]
        return await thread.read_file(stored["path"])

    assert in_thread(tmp_path, work) == b"hi"
