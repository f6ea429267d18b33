from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hub.hub_sandbox import async_test, open_hub


@async_test
async def test_a_workspace_has_one_runtime_on_the_store_of_the_hub(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    async with open_hub(tmp_path) as hub:
        first, second = await asyncio.gather(*(hub.runtimes.get(tmp_path / "work") for _ in range(2)))
        assert first is second
        assert first.store is hub.store
        assert hub.runtimes.running == [first]
        await hub.runtimes.close()
        assert await hub.store.sessions() == []  # it is still open


@async_test
async def test_a_workspace_that_cannot_be_opened_is_tried_again(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        with pytest.raises(HooklineError, match="does not exist"):
            await hub.runtimes.get(tmp_path / "work")
        assert hub.runtimes.running == []
        (tmp_path / "work").mkdir()
        assert (await hub.runtimes.get(tmp_path / "work")).workspace == tmp_path / "work"
