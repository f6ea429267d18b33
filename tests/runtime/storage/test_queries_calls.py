from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from hookline.errors import HooklineError
from hookline.runtime.storage.tables import CallEnd
from runtime.storage.row_factories import (
    async_test,
    make_call,
    make_message,
    message_ids,
    open_store,
    open_store_with_thread,
)

pytestmark = pytest.mark.slow


@async_test
async def test_a_call_is_kept_with_its_decision_and_outcome(url: str) -> None:
    given = make_call("c", approval="a", caller="model", begun=5.0)
    async with open_store_with_thread(url) as store:
        assert await store.begin_call(given) == 1
        assert await store.calls("t") == [given]
        await store.end_call(CallEnd("t", "c", 1, False, "out\0", "failed"))
        (found,) = await store.calls("t")
        assert found.ended is not None
        assert found == replace(given, ended=found.ended, ok=False, result="out\0", error="failed")


@async_test
async def test_attempts_are_counted_for_each_call_and_thread(url: str) -> None:
    async with open_store_with_thread(url) as store:
        assert [await store.begin_call(make_call(id, attempt=9)) for id in "ccdc"] == [1, 2, 1, 3]
        assert [(each.call, each.attempt) for each in await store.calls("t")] == [
            ("c", 1),
            ("c", 2),
            ("d", 1),
            ("c", 3),
        ]


@async_test
async def test_attempts_begun_at_once_have_numbers_of_their_own(url: str) -> None:
    async with open_store_with_thread(url) as store, open_store(url) as other:
        begun = await asyncio.gather(*(each.begin_call(make_call("c")) for _ in range(20) for each in (store, other)))
        assert sorted(begun) == list(range(1, 41))
        assert len(await store.calls("t")) == 40


@async_test
async def test_the_first_end_of_a_call_counts(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await store.begin_call(make_call("c"))
        await store.end_call(CallEnd("t", "c", 1, True, "first"))
        await store.end_call(CallEnd("t", "c", 1, False, "second", "late"))
        assert [each.result for each in await store.calls("t")] == ["first"]
        with pytest.raises(HooklineError, match="'c' has no attempt 2 in the thread t"):
            await store.end_call(CallEnd("t", "c", 2, True))


@async_test
async def test_a_call_without_its_decision_as_json_is_not_begun(url: str) -> None:
    async with open_store_with_thread(url) as store:
        with pytest.raises(HooklineError, match="cannot be stored as JSON"):
            await store.begin_call(replace(make_call("c"), decision={"a": {1, 2}}))
        assert await store.calls("t") == []


@async_test
async def test_queued_calls_wait_in_order_until_a_message_asks_for_them(url: str) -> None:
    async with open_store_with_thread(url) as store:
        for number in range(5):
            await store.queue_tool("t", f"tool{number}", {"n": number})
        waiting = await store.queued_tools("t")
        assert [(row.name, row.input) for row in waiting] == [(f"tool{number}", {"n": number}) for number in range(5)]
        await store.add_message("t", make_message("1"), asks_for=waiting[0])
        await store.add_message("t", make_message("1"), asks_for=waiting[0])
        assert await store.queued_tools("t") == waiting[1:]
        await store.unqueue_tools("t", waiting[2:])
        assert await store.queued_tools("t") == waiting[1:2]


@async_test
async def test_of_those_who_ask_for_a_queued_call_at_once_one_gets_it(url: str) -> None:
    async with open_store_with_thread(url) as store, open_store(url) as other:
        await store.queue_tool("t", "bash", {})
        [row] = await store.queued_tools("t")
        asking = (each.add_message("t", make_message(f"{n}"), row) for n, each in enumerate((store, other) * 5))
        results = await asyncio.gather(*asking, return_exceptions=True)
        assert [each for each in results if each is None] == [None]
        assert all(each is None or "no longer queued" in str(each) for each in results)
        assert len(await message_ids(store)) == 1
