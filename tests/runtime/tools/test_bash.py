from __future__ import annotations

import asyncio
import os
from pathlib import Path

import pytest

from hookline.runtime.tools.bash import LONGEST_TOLD

pytestmark = pytest.mark.anyio


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


async def test_runs_in_the_workspace(do, workspace: Path) -> None:
    (workspace / "sub").mkdir()
    assert (await do("bash", command="pwd; echo oops >&2")).content == f"{workspace}\noops"
    assert (await do("bash", command="pwd", cwd="sub")).content == f"{workspace}/sub"


async def test_a_command_that_fails_is_not_ok_and_says_all(do) -> None:
    result = await do("bash", command="echo out; echo err >&2; exit 3")
    assert (result.ok, result.error, result.content) == (False, "exit code 3\nout\nerr", "out\nerr")


@pytest.mark.parametrize(
    ("input", "error"),
    [
        ({"command": "pwd", "cwd": ".."}, "outside"),
        ({"command": "pwd", "cwd": "gone"}, "no such"),
        ({"command": "a\0b"}, "NUL"),
        ({"command": "sleep 60", "timeout": 1}, "the command did not end within 1 s"),
        ({"command": "kill -9 $$"}, "SIGKILL"),
        ({"command": "x", "timeout": 601}, "timeout must be at most 600"),
        ({"command": "x", "timeout": float("nan")}, "timeout must be at least 1"),
        ({"command": "x", "timeout": "9"}, "timeout is not a number"),
    ],
)
async def test_what_cannot_be_run_is_an_error(do, input, error: str) -> None:
    result = await do("bash", **input)
    assert not result.ok
    assert error in result.error


async def test_output_is_bounded(do) -> None:
    told = (await do("bash", command="head -c 3000000 /dev/zero | tr '\\0' x; echo; echo the end")).content
    assert len(told) < LONGEST_TOLD + 200
    assert "characters left out" in told
    assert "more bytes were not kept" in told


async def test_cancelling_kills_all_that_it_started(do, workspace: Path, eventually) -> None:
    task = asyncio.ensure_future(do("bash", command="sleep 100 & echo $! > child; sleep 100"))
    await eventually(lambda: (workspace / "child").exists() and (workspace / "child").read_text().strip())
    child = int((workspace / "child").read_text())
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await eventually(lambda: not alive(child))


async def test_what_it_leaves_in_the_background_ends_with_it(do, workspace: Path, eventually) -> None:
    assert (await do("bash", command="sleep 100 & echo $! > child")).ok
    await eventually(lambda: (workspace / "child").exists() and (workspace / "child").read_text().strip())
    child = int((workspace / "child").read_text())
    await eventually(lambda: not alive(child))


async def test_the_models_keys_are_not_in_its_environment(do, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("OTHER", "there")
    assert (await do("bash", command="echo ${OPENAI_API_KEY-none} $OTHER")).content == "none there"
