from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from hookline.runtime.tools import storage_tools
from hookline.runtime.tools.storage_tools import storage

pytestmark = pytest.mark.anyio


async def test_keeps_gets_lists_and_deletes(do) -> None:
    assert (await do("storage", action="get", key="a")).content is None
    assert (await do("storage", action="set", key="a", value={"x": [1, None]})).ok
    assert (await do("storage", action="get", key="a")).content == {"x": [1, None]}
    assert (await do("storage", action="list")).content == ["a"]
    assert (await do("storage", action="delete", key="a")).content == "deleted"
    assert (await do("storage", action="list")).content == []


async def test_what_an_agent_keeps_is_its_own(do, place) -> None:
    await do("storage", action="set", key="a", value=1)
    await do("memory.remember", content="x")
    other = replace(place, agent="bob")
    assert (await storage.perform({"action": "get", "key": "a"}, other)).content is None
    assert (await do("storage", action="list")).content == ["a"]


async def test_calls_at_the_same_time_keep_no_more_keys_than_allowed(do, monkeypatch) -> None:
    monkeypatch.setattr(storage_tools, "_MAX_KEYS", 3)
    results = await asyncio.gather(*(do("storage", action="set", key=f"k{n}", value=n) for n in range(6)))
    refused = [result for result in results if not result.ok]
    assert len(refused) == 3
    assert all(result.error == "there are 3 keys already; delete some" for result in refused)
    assert len((await do("storage", action="list")).content) == 3
    known = (await do("storage", action="list")).content[0]
    assert (await do("storage", action="set", key=known, value="new")).ok


@pytest.mark.parametrize(
    ("input", "error"),
    [
        ({"action": "wipe"}, "action is not one of get, set, delete, list"),
        ({"action": "get"}, "key is missing"),
        ({"action": "set", "key": "a"}, "value is missing"),
        ({"action": "set", "key": "a\0", "value": 1}, "the key contains unprintable characters"),
        ({"action": "set", "key": "x" * 513, "value": 1}, "key must be at most 512 characters"),
        ({"action": "set", "key": "a", "value": "x" * (1 << 20)}, "1,048,578 characters as JSON"),
        ({"action": "set", "key": "a", "value": float("nan")}, "cannot be stored as JSON"),
    ],
)
async def test_what_cannot_be_kept_is_an_error(do, input, error: str) -> None:
    result = await do("storage", **input)
    assert not result.ok
    assert error in result.error
