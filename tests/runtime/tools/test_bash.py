from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

import pytest

from hookline.engine.book import Book
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.runtime import Runtime
from hookline.runtime.settings import Settings
from hookline.runtime.tools.bash import MAX_OUTPUT_LENGTH
from hookline.runtime.updates import ToolCallFinished
from runtime.process_probe import pids_with, wait_until_running
from runtime.scripted_runtime import RecordingModel, run_async, send_prompt, tool_call_step

pytestmark = pytest.mark.anyio

OF_THE_C_LIBRARY = 1 << 31 | 1 << 32  # its two signals, which some versions of make leave ignored


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
        ({"command": "x", "timeout": float("nan")}, "timeout is not a number"),
        ({"command": "x", "timeout": "9"}, "timeout is not a number"),
    ],
)
async def test_what_cannot_be_run_is_an_error(do, input, error: str) -> None:
    result = await do("bash", **input)
    assert not result.ok
    assert error in result.error


async def test_output_is_bounded(do) -> None:
    told = (await do("bash", command="head -c 3000000 /dev/zero | tr '\\0' x; echo; echo the end")).content
    assert len(told) < MAX_OUTPUT_LENGTH + 200
    assert "characters left out" in told
    assert "more bytes were dropped" in told


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


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets us find a program that left its group")
@pytest.mark.parametrize("away", ["setsid -f sleep 100.4", "(setsid sleep 100.4 &)", "setsid nohup sleep 100.4 &"])
@pytest.mark.parametrize("then", ["exit 0", "exit 3", "kill -9 $$", "kill 0", "exec 0<&- 1>&- 2>&-; exit 5"])
@pytest.mark.timing
async def test_what_leaves_its_group_ends_with_it_too(do, away: str, then: str, eventually) -> None:
    waits = f"while ! pgrep -f '^sleep 100[.]4$' > /dev/null; do sleep 0.01; done; {then}"
    result = await do("bash", command=f"{away}\n{waits}", timeout=30)
    assert result.ok == (then == "exit 0"), result
    assert not pids_with("sleep 100.4")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets us find a program that left its group")
async def test_cancelling_kills_what_left_its_group(do) -> None:
    task = asyncio.ensure_future(do("bash", command="setsid -f sleep 100.5; sleep 100"))
    await wait_until_running("sleep 100.5")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert not pids_with("sleep 100.5")


async def test_it_has_what_a_shell_has(do, monkeypatch) -> None:
    """The environment as ours is, no descriptors but three, the signals as they are at first, and an end of its own."""
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    assert (await do("bash", command="echo ${LC_CTYPE-none}; cat; ls /proc/$$/fd; true")).content == "none\n0\n1\n2"
    masks = (await do("bash", command="awk '/^Sig(Blk|Ign)/{print $2}' /proc/self/status")).content.split()
    assert [int(mask, 16) & ~OF_THE_C_LIBRARY for mask in masks] == [0, 0]
    assert (await do("bash", command="yes | head -n 1; echo ${PIPESTATUS[0]}")).content == "y\n141"
    assert "SIGSEGV" in (await do("bash", command="kill -SEGV $$")).error
    assert (await do("bash", command=f"echo {'x' * 200_000} | wc -c")).content == "200001"
    assert (await do("bash", command="echo late > >(sleep 0.02; cat)")).content == "late"


async def test_the_models_keys_are_not_in_its_environment(do, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("HOOKLINE_KEY_LOCALHOST", "mine")
    monkeypatch.setenv("OTHER", "there")
    said = await do("bash", command="echo ${OPENAI_API_KEY-none} ${HOOKLINE_KEY_LOCALHOST-none} $OTHER")
    assert said.content == "none none there"


def test_its_environment_is_the_one_that_the_agent_was_given(tmp_path: Path) -> None:
    env = {"PATH": os.environ["PATH"], "ONLY": "caf\udce9", "GROQ_API_KEY": "gsk-secret"}
    app = App((Agent("worker", AgentSide(Prompt("main"))),))
    steps = [tool_call_step(("bash", {"command": "echo $ONLY ${HOME-none} ${GROQ_API_KEY-none} | od -An -c"})), "done"]

    async def work() -> None:
        settings = Settings(
            home=tmp_path, env=env, app=app, book=Book(), model=RecordingModel(steps), store="sqlite://"
        )
        async with Runtime.open(tmp_path, settings) as runtime:
            [called] = (await send_prompt(await runtime.start(), "go")).of_type(ToolCallFinished)
            assert "".join(called.result.content.split()) == "caf351nonenone\\n"

    run_async(work)
