"""A process that is killed while hooks decide whether an agent may start leaves no session that goes on without them."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from hookline.errors import Denied, HooklineError
from hookline.runtime.storage.store import file_url
from runtime.scripted_runtime import open_runtime, run_async

pytestmark = pytest.mark.slow


STARTS = """
import asyncio, sys
from pathlib import Path
from runtime.scripted_runtime import open_runtime

async def work():
    async with open_runtime(Path(sys.argv[1]), sys.argv[3], store=sys.argv[2]) as (runtime, _):
        await runtime.start(id="s")

asyncio.run(work())
"""
SLOW = "hooks: [{id: slow, on: agent.start, then: {run: 'touch asked; sleep 15.4'}, on_error: closed}]"
DENY = "hooks: [{id: no, on: agent.start, then: {deny: closed}}]"


def killed_at_start(workspace: Path, store: str) -> None:
    tests = str(Path(__file__).parents[1])
    starting = subprocess.Popen(
        [sys.executable, "-c", STARTS, str(workspace), store, SLOW], env={"PYTHONPATH": tests, "PATH": "/usr/bin:/bin"}
    )
    deadline = time.monotonic() + 30
    while not (workspace / "asked").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    starting.kill()
    starting.wait()


def test_a_session_that_never_began_is_not_resumed_but_begun(tmp_path: Path) -> None:
    store = file_url(tmp_path / "sessions.db")
    killed_at_start(tmp_path, store)

    async def work() -> None:
        async with open_runtime(tmp_path, DENY, store=store) as (runtime, _):
            with pytest.raises(HooklineError, match="interrupted at its start"):
                await runtime.resume("s")
            with pytest.raises(Denied, match="closed"):
                await runtime.reopen("s")
        async with open_runtime(tmp_path, store=store) as (runtime, _):
            assert await (await runtime.reopen("s")).ask("go") == "done"
        async with open_runtime(tmp_path, store=store) as (runtime, _):
            assert await (await runtime.resume("s")).ask("go on") == "done"

    run_async(work)
