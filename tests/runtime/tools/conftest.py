from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hookline.hooks.host import NO_HOST, ToolResult
from hookline.runtime.storage.store import Store
from hookline.runtime.storage.tables import SessionRow, ThreadRow
from hookline.runtime.tools.tool_definition import ToolContext
from hookline.runtime.tools.toolbox import Toolbox, built_in_tools, module_tools
from hookline.testing.scripted_host import MemoryThread

Do = Callable[..., Awaitable[ToolResult]]
Eventually = Callable[[Callable[[], object]], Awaitable[None]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture
def eventually() -> Eventually:
    """Waits until it is so, at most ten seconds."""

    async def wait(so: Callable[[], object]) -> None:
        end = time.monotonic() + 10
        for _ in range(100_000):
            if so() or time.monotonic() > end:
                break
            await asyncio.sleep(0.01)
        assert so()

    return wait


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    inside = tmp_path / "workspace"
    inside.mkdir()
    (tmp_path / "secret").write_text("outside")
    return inside


@pytest.fixture
async def place(workspace: Path) -> AsyncIterator[ToolContext]:
    store = await Store.open("sqlite://")
    await store.add_session(SessionRow("s", "app", "ann", str(workspace), "uma", 0, 0))
    await store.add_thread(ThreadRow("t", "s", "ann", None, 0, 0))
    yield ToolContext(
        workspace,
        "s",
        "ann",
        MemoryThread("t", NO_HOST),
        "t",
        store,
        execution={"flow": "f1", "side": "b", "step": 3},
        env=os.environ,
    )
    await store.close()


@pytest.fixture
def do(place: ToolContext) -> Do:
    box = Toolbox((*built_in_tools(), *module_tools()))

    async def call(name: str, **input: Any) -> ToolResult:
        tool = box.find(name)
        assert tool is not None
        return await tool.perform(input, place)

    return call
