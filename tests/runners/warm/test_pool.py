"""Warm interpreters from their start to their end: nothing runs twice, and nothing is left."""

from __future__ import annotations

import asyncio
import fcntl
import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from contextvars import copy_context
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.cli.async_runner import run_async as cli_run
from hookline.engine.limits import FireCounts
from hookline.hooks.host import Command, ProgramResult
from hookline.hooks.outcome import ActionError, FailureKind
from hookline.runners.local_host import LocalHost
from hookline.runners.process import ProcessLimit, run_program
from hookline.runners.warm import pool
from hookline.runners.warm.pool import InterpreterPool, interpreter_pool

pytestmark = [
    pytest.mark.skipif(not pool.IS_AVAILABLE, reason="forks only where it can be promised to be the same"),
    pytest.mark.slow,
]

SOON = timedelta(seconds=0.6)
LONG = timedelta(seconds=60)
COUNTS = "import os\nopen('ran', 'a').write('x')\n"
HANGS = (
    COUNTS
    + "import subprocess, time\nsubprocess.Popen(['sleep', '100'])\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(100)"
)
PARENT = "import os\nprint(os.getppid())"


@pytest.fixture
def call(tmp_path: Path) -> Callable[..., Command]:
    """A command that runs this text as a file."""

    def make(text: str, timeout: timedelta = LONG, **more: Any) -> Command:
        (tmp_path / "hook.py").write_text(text)
        env = ("PATH", "HOME", "LANG")
        return Command(f"{sys.executable} hook.py", cwd=str(tmp_path), inherit_env=env, timeout=timeout, **more)

    return make


async def ran(command: Command) -> ProgramResult:
    return await run_program(command, slots=ProcessLimit(), warm=interpreter_pool())


async def forked(command: Command) -> ProgramResult:
    """Runs it until it is not spawned."""
    held = interpreter_pool()
    before = held.forked
    for _ in range(500):
        finished = await ran(command)
        if held.forked > before:
            return finished
        await asyncio.sleep(0.01)
    raise AssertionError("it is always spawned")


async def server(call: Callable[..., Command]) -> int:
    """The process id of an interpreter that is warm now."""
    return int((await forked(call(PARENT))).stdout)


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def gone(pid: int) -> bool:
    until = time.monotonic() + 10
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not alive(pid)


def children(pid: int | str = "self") -> list[str]:
    main = threading.main_thread().native_id if pid == "self" else pid
    return Path(f"/proc/{pid}/task/{main}/children").read_text().split()


def belongings() -> set[str]:
    gc.collect()
    files = {f"file {fd}" for fd in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{fd}")}
    return files | {f"thread {each.ident}" for each in threading.enumerate()} | {f"child {pid}" for pid in children()}


def leaving_nothing(work: Coroutine[Any, Any, Any]) -> Any:
    before = belongings()
    try:
        return asyncio.run(work)
    finally:
        left = belongings() - before
        assert not left


async def written(file: Path) -> str:
    for _ in range(1000):
        if file.exists() and file.read_text():
            return file.read_text()
        await asyncio.sleep(0.01)
    raise AssertionError(f"{file} is not written")


def test_the_first_two_calls_are_spawned(call: Callable[..., Command]) -> None:
    async def work() -> None:
        held = interpreter_pool()
        before = len(children())
        await ran(call("print(1)"))
        assert len(children()) == before
        await ran(call("print(1)"))
        assert held.forked == 0
        await forked(call("print(1)"))

    leaving_nothing(work())


def test_a_loop_that_is_gone_takes_its_interpreters_along(call: Callable[..., Command]) -> None:
    pid = leaving_nothing(server(call))
    assert gone(pid)


def test_closed_interpreters_can_start_again(call: Callable[..., Command]) -> None:
    async def work() -> None:
        first = await server(call)
        interpreter_pool().close()
        assert not alive(first)
        assert await server(call) != first

    leaving_nothing(work())


def test_a_process_that_is_killed_takes_its_interpreters_along(tmp_path: Path) -> None:
    (tmp_path / "hook.py").write_text(PARENT)
    (tmp_path / "main.py").write_text(
        "import asyncio, os, sys\nfrom hookline.hooks.host import Command\nfrom hookline.runners.process import ProcessLimit, run_program\n"
        "from hookline.runners.warm.pool import interpreter_pool\n"
        "async def main():\n"
        "    while not interpreter_pool().forked:\n"
        "        done = await run_program(Command(f'{sys.executable} hook.py'), slots=ProcessLimit(), warm=interpreter_pool())\n"
        "    print(done.stdout, flush=True)\n"
        "    os.kill(os.getpid(), 9)\n"
        "asyncio.run(main())\n"
    )
    done = subprocess.run([sys.executable, "main.py"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == -9, done.stderr
    assert gone(int(done.stdout))


def test_nobody_asks_and_it_ends(call: Callable[..., Command], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "IDLE_TIMEOUT", timedelta(seconds=0.2))

    async def work() -> None:
        first = await server(call)
        for _ in range(500):
            if not alive(first) and str(first) not in children():
                break
            await asyncio.sleep(0.02)
        assert str(first) not in children(), "it is not buried"
        assert await server(call) != first

    leaving_nothing(work())


def test_after_many_calls_another_one_takes_over(call: Callable[..., Command], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MAX_CALLS_PER_INTERPRETER", 5)

    async def work() -> None:
        held = interpreter_pool()
        await server(call)
        parents = set()
        before = held.forked
        for _ in range(60):
            parents.add((await ran(call(PARENT))).stdout)
            await asyncio.sleep(0.01)
        assert len(parents) > 2
        assert held.forked - before == 60, "one serves until the next can"

    leaving_nothing(work())


def test_at_the_deadline_the_whole_group_is_killed(call: Callable[..., Command], tmp_path: Path) -> None:
    async def work() -> None:
        first = await server(call)
        pid = await timed_out(call, tmp_path)
        assert gone(pid)
        assert not group(pid)
        assert await server(call) == first

    leaving_nothing(work())


async def timed_out(call: Callable[..., Command], directory: Path) -> int:
    """The process id of a hook that hung until its timeout. On a busy machine it takes a longer one to begin at all."""
    for timeout in (SOON, 5 * SOON, 25 * SOON):
        with pytest.raises(ActionError) as caught:
            await ran(call(HANGS, timeout))
        assert caught.value.failure.kind is FailureKind.TIMEOUT
        with suppress(FileNotFoundError, ValueError):
            return int((directory / "pid").read_text())
    raise AssertionError("it never began")


def group(leader: int) -> list[str]:
    """Who is alive of a process group; those who were killed get a moment to end."""
    until = time.monotonic() + 10
    while (found := _alive_in(leader)) and time.monotonic() < until:
        time.sleep(0.01)
    return found


def _alive_in(leader: int) -> list[str]:
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, number = stat.read_text().rsplit(")", 1)[1].split()[:3]
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(number) == leader and state not in "ZX":
            found.append(stat.parent.name)
    return found


def test_cancelling_kills_the_group(call: Callable[..., Command], tmp_path: Path) -> None:
    async def work() -> None:
        first = await server(call)
        task = asyncio.create_task(ran(call(HANGS)))
        pid = int(await written(tmp_path / "pid"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert gone(pid)
        assert not group(pid)
        assert await server(call) == first

    leaving_nothing(work())


def test_a_loop_that_ends_takes_its_hooks_along(call: Callable[..., Command], tmp_path: Path) -> None:
    async def work() -> None:
        await server(call)
        task = asyncio.create_task(ran(call(HANGS)))
        await written(tmp_path / "pid")
        assert not task.done()

    leaving_nothing(work())
    assert gone(int((tmp_path / "pid").read_text()))


def test_cancelled_at_any_moment_it_runs_at_most_once(call: Callable[..., Command], tmp_path: Path) -> None:
    async def work() -> None:
        await server(call)
        for number in range(60):
            task = asyncio.create_task(ran(call(COUNTS)))
            await asyncio.sleep(0.0001 * number)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            file = tmp_path / "ran"
            assert not file.exists() or file.read_text() in ("", "x")
            file.unlink(missing_ok=True)
        await server(call)

    leaving_nothing(work())


def test_what_is_left_in_the_background_is_killed(call: Callable[..., Command]) -> None:
    async def work() -> None:
        await server(call)
        done = await ran(call("import subprocess\nprint(subprocess.Popen(['sleep', '100']).pid)"))
        assert gone(int(done.stdout))

    leaving_nothing(work())


def test_a_hundred_at_once(call: Callable[..., Command]) -> None:
    text = "import json, sys, time\ntime.sleep(0.05)\nprint(json.load(sys.stdin))"

    async def work() -> None:
        await server(call)
        held = interpreter_pool()
        before = held.forked
        slots = ProcessLimit(100)
        jobs = [run_program(call(text, stdin=str(n).encode()), slots=slots, warm=held) for n in range(100)]
        assert [done.stdout for done in await asyncio.gather(*jobs)] == [f"{n}\n" for n in range(100)]
        assert held.forked > before

    leaving_nothing(work())


def test_many_calls_leave_no_dead_behind(call: Callable[..., Command]) -> None:
    async def work() -> None:
        first = await server(call)
        for number in range(40):
            text = "print(1)" if number % 3 else "import os; os.kill(os.getpid(), 9)"
            await asyncio.gather(ran(call(text)), return_exceptions=True)
        assert await server(call) == first
        for _ in range(500):
            held = len(children(first)), len(os.listdir(f"/proc/{first}/fd"))
            if held == (1, 6):
                break
            await asyncio.sleep(0.01)
        assert held == (1, 6), "the next child, and: three streams, its requests, that child's socket and number"

    leaving_nothing(work())


def test_an_interpreter_killed_in_the_middle_is_a_failure_and_not_a_second_run(
    call: Callable[..., Command], tmp_path: Path
) -> None:
    async def work() -> None:
        first = await server(call)
        task = asyncio.create_task(ran(call(HANGS)))
        pid = int(await written(tmp_path / "pid"))
        os.kill(first, signal.SIGKILL)
        with pytest.raises(ActionError) as caught:
            await task
        assert caught.value.failure.kind is FailureKind.SIGNAL
        assert gone(pid)
        assert not group(pid)
        assert (tmp_path / "ran").read_text() == "x"
        assert (await ran(call("print(2)"))).stdout == "2\n"
        assert await server(call) != first

    leaving_nothing(work())


def test_an_interpreter_killed_before_is_not_missed(call: Callable[..., Command], tmp_path: Path) -> None:
    async def work() -> None:
        os.kill(await server(call), signal.SIGKILL)
        assert (await ran(call(COUNTS + "print(2)"))).stdout == "2\n"
        assert (tmp_path / "ran").read_text() == "x"

    leaving_nothing(work())


def test_an_interpreter_that_does_not_answer_is_not_waited_for(call: Callable[..., Command], tmp_path: Path) -> None:
    async def work() -> None:
        first = await server(call)
        os.kill(first, signal.SIGSTOP)
        try:
            done = await ran(call(COUNTS + "print(2)", timedelta(seconds=2)))
        finally:
            interpreter_pool().close()
        assert done.stdout == "2\n"
        await asyncio.sleep(0.1)
        assert (tmp_path / "ran").read_text() == "x"
        assert not alive(first)

    leaving_nothing(work())


def test_a_hook_that_kills_the_interpreter_harms_only_itself(call: Callable[..., Command]) -> None:
    async def work() -> None:
        await server(call)
        with pytest.raises(ActionError):
            await ran(call("import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(100)"))
        assert (await ran(call("print(1)"))).stdout == "1\n"
        await server(call)

    leaving_nothing(work())


LOCKS = "import fcntl, os\nfcntl.flock(os.open('lock', os.O_CREAT | os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)"


def test_what_a_hook_had_open_is_closed_when_it_has_ended(call: Callable[..., Command], tmp_path: Path) -> None:
    def can_lock() -> bool:
        with open(tmp_path / "lock") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True

    async def work() -> None:
        await server(call)
        for _ in range(20):
            assert (await forked(call(LOCKS))).stderr == ""
            assert can_lock()

    leaving_nothing(work())


def test_a_child_of_a_hook_does_not_end_it(call: Callable[..., Command], tmp_path: Path) -> None:
    text = (
        "import os, sys, time\nsys.stdout.flush()\npid = os.fork()\nif pid:\n    os.close(1)\n    os.close(2)\n"
        "    os.waitpid(pid, 0)\n    time.sleep(0.05)\n    open('after', 'w').write('x')\n    os._exit(7)\n"
    )

    async def work() -> None:
        await server(call)
        assert (await forked(call(text))).exit_code == 7
        assert (tmp_path / "after").read_text() == "x"

    leaving_nothing(work())


def test_nobody_can_end_another_hook(call: Callable[..., Command]) -> None:
    """A hook may find the pipe on which ends are told, but not the word of another call."""

    async def work() -> None:
        await server(call)
        (interpreter,) = interpreter_pool()._held.values()
        pipe = f"/proc/{os.getpid()}/fd/{interpreter._ends_writer}"
        writes = f"import os\nprint(os.write(os.open({pipe!r}, os.O_WRONLY), bytes(9) + b'noise'))"
        assert (await forked(call(writes))).stdout == "14\n"
        assert (await forked(call("raise SystemExit(3)"))).exit_code == 3

    leaving_nothing(work())


def test_a_hook_that_cannot_tell_its_end_is_heard_all_the_same(call: Callable[..., Command]) -> None:
    async def work() -> None:
        await server(call)
        (interpreter,) = interpreter_pool()._held.values()
        pipe, interpreter._ends_writer = interpreter._ends_writer, os.open(os.devnull, os.O_WRONLY)
        done = await forked(call("print(1)\nraise SystemExit(3)"))
        os.close(pipe)
        assert (done.exit_code, done.stdout) == (3, "1\n")

    leaving_nothing(work())


def test_only_a_few_are_kept(call: Callable[..., Command]) -> None:
    async def work() -> None:
        pids = []
        for number in range(6):
            env = {"TZ": f"UTC{number}"}
            pids.append(int((await forked(call(PARENT, env=env))).stdout))
        assert gone(pids[0])
        assert sum(map(alive, pids)) <= 4

    leaving_nothing(work())


def test_each_loop_has_its_own(call: Callable[..., Command]) -> None:
    command = call(PARENT)
    parents: list[str] = []
    threads = [threading.Thread(target=lambda: parents.append(asyncio.run(forked(command)).stdout)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(parents)) == 3
    gc.collect()
    assert all(gone(int(parent)) for parent in parents)


@pytest.mark.parametrize("wanted", [True, False])
def test_a_host_can_do_without(wanted: bool, call: Callable[..., Command]) -> None:
    async def work() -> InterpreterPool:
        here = LocalHost(FireCounts(), warm=wanted)
        for _ in range(30):
            assert (await here.run_program(call("print(1)"))).stdout == "1\n"
        return interpreter_pool()

    assert (asyncio.run(work()).forked > 0) is wanted


@pytest.mark.parametrize(("value", "forks"), [("0", False), ("1", True)])
def test_the_command_line_can_do_without(
    value: str, forks: bool, call: Callable[..., Command], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOOKLINE_WARM", value)

    async def work() -> InterpreterPool:
        here = LocalHost(FireCounts())
        for _ in range(30):
            await here.run_program(call("print(1)"))
        return interpreter_pool()

    assert (copy_context().run(cli_run, work()).forked > 0) is forks
