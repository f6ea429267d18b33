from __future__ import annotations

from typing import Any

import pytest

from hookline.errors import HooklineError
from runtime.storage.row_factories import async_test, open_store, open_store_with_thread

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("value", [None, False, 0, "", [], {"a": [1, {"b": "\0"}]}, 1.5, "text"], ids=repr)
@async_test
async def test_a_value_is_kept_and_forgotten(url: str, value: Any) -> None:
    async with open_store(url) as store:
        await store.set_value("agent", "key", "before")
        await store.set_value("agent", "key", value)
        assert await store.get_value("agent", "key") == value
        assert await store.get_value("other", "key") is None
        assert await store.delete_value("agent", "key")
        assert not await store.delete_value("agent", "key")
        assert await store.keys("agent") == []


@async_test
async def test_keys_are_sorted_and_of_their_owner(url: str) -> None:
    async with open_store(url) as store:
        for key in ("b", "B", "a", "é", "_"):
            await store.set_value("agent", key, 1)
        await store.set_value("other", "z", 1)
        assert await store.keys("agent") == sorted(["b", "B", "a", "é", "_"])


@async_test
async def test_no_new_key_is_stored_beyond_the_most_that_an_owner_may_have(url: str) -> None:
    async with open_store(url) as store:
        assert await store.set_value("agent", "a", 1, 2)
        assert await store.set_value("agent", "b", 1, 2)
        assert not await store.set_value("agent", "c", 1, 2)
        assert await store.set_value("agent", "a", 2, 2)
        assert await store.set_value("other", "c", 1, 2)
        assert await store.keys("agent") == ["a", "b"]
        assert await store.get_value("agent", "a") == 2


@async_test
async def test_counts_are_saved_whole(url: str) -> None:
    async with open_store_with_thread(url) as store:
        assert await store.counts("s") == []
        await store.save_counts("s", [{"hook": "a", "fires": 1}])
        await store.save_counts("s", [{"hook": "b", "fires": 2, "last": None}])
        assert await store.counts("s") == [{"hook": "b", "fires": 2, "last": None}]
        with pytest.raises(HooklineError, match="not stored"):
            await store.save_counts("none", [])
