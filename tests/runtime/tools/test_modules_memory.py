from __future__ import annotations

from dataclasses import replace

import pytest

from hookline.runtime.tools import modules

pytestmark = pytest.mark.anyio


async def test_recalls_what_was_remembered(do) -> None:
    for content, tags in (("The door code is 12", ["home"]), ("Bern is a city", []), ("The city of Basel", ["home"])):
        assert (await do("memory.remember", content=content, tags=tags)).ok
    found = (await do("memory.recall", query="HOME city")).content
    assert found[0]["content"] == "The city of Basel"
    assert {each["content"] for each in found} == {"The city of Basel", "The door code is 12", "Bern is a city"}
    assert (await do("memory.recall", query="nothing of this")).content[0]["content"].startswith("The city of")
    assert (await do("memory.recall", query="xyz")).content == []
    assert len((await do("memory.recall", limit=2)).content) == 2
    assert len((await do("memory.list")).content) == 3


async def test_forgets(do) -> None:
    id = (await do("memory.remember", content="x")).content["id"]
    assert (await do("memory.forget", id=id)).content == "forgotten"
    assert (await do("memory.forget", id=id)).error == "there is no memory with this id"
    assert (await do("memory.list")).content == []


async def test_memories_are_the_agents_own(do, place) -> None:
    await do("memory.remember", content="x")
    recall = next(each for each in modules.MEMORY_TOOLS if each.name == "memory.recall")
    assert (await recall.perform({}, replace(place, agent="bob"))).content == []
    assert len((await recall.perform({}, replace(place, session="later", thread_id="later"))).content) == 1


async def test_memories_are_bounded(do, place, monkeypatch) -> None:
    monkeypatch.setattr(modules, "MAX_MEMORIES", 2)
    assert "at most 20000" in (await do("memory.remember", content="x" * 20_001)).error
    for _ in range(2):
        assert (await do("memory.remember", content="x")).ok
    assert "forget some" in (await do("memory.remember", content="x")).error
