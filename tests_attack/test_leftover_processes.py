"""Programs of hooks try to leave a process behind: after their end, at their deadline, and when the hook is cancelled."""

from __future__ import annotations

import asyncio
import itertools
import random
import shlex
import subprocess
import sys
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

import pytest
from attempts import Attempt

from hookline.engine.limits import FireCounts
from hookline.hooks.host import Command
from hookline.hooks.outcome import ActionError
from hookline.runners.local_host import LocalHost

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers")

_numbers = itertools.count(random.randrange(10**6, 10**8) * 1000)

DAEMON = """import os, time
if os.fork(): os._exit(0)
os.setsid()
if os.fork(): os._exit(0)
os.chdir('/')
os.closerange(0, 256)
time.sleep({n})
"""

WAYS = {
    "setsid": "setsid sleep {n} >/dev/null 2>&1 &",
    "setsid that forks": "setsid -f sleep {n} >/dev/null 2>&1",
    "double fork": "(setsid sleep {n} &) >/dev/null 2>&1",
    "empty environment": "env -i setsid -f sleep {n} >/dev/null 2>&1",
    "nohup and disown": "nohup sleep {n} >/dev/null 2>&1 & disown",
    "no redirection": "setsid -f sleep {n}",
    "daemon": "{python} -c {daemon}",
    "a tree of sessions": "setsid -f bash -c 'setsid -f sleep {n}; (setsid sleep {n} &); sleep {n}' >/dev/null 2>&1",
    "one that starts others": "setsid -f bash -c 'while :; do setsid -f sleep {n}; sleep 0.05; done' >/dev/null 2>&1",
    "one that ignores signals": "setsid -f bash -c 'trap \"\" TERM HUP INT; sleep {n}; sleep {n}' >/dev/null 2>&1",
    "another name": "setsid -f bash -c 'exec -a kworker sleep {n}' >/dev/null 2>&1",
    "other limits": "ulimit -S -q 1000; setsid -f sleep {n} >/dev/null 2>&1",
    "other hard limits": "prlimit --msgqueue=5000:5000 setsid -f sleep {n} >/dev/null 2>&1",
    "limits that change later": "setsid -f bash -c 'ulimit -S -q 77; sleep {n} & wait' >/dev/null 2>&1",
    "at the trap": "trap 'setsid -f sleep {n} >/dev/null 2>&1' EXIT",
    "a stopped process": "setsid -f bash -c 'kill -STOP $$; sleep {n}' >/dev/null 2>&1",
}
ENDS = {"at its end": "; exit 0", "with an error": "; exit 3", "at the deadline": "; sleep 0.3; sleep {n}"}


def _is_running(number: int) -> bool:
    for each in Path("/proc").iterdir():
        with suppress(OSError):
            if each.name.isdigit() and str(number).encode() in (each / "cmdline").read_bytes():
                return True
    return False


def _command(way: str, end: str, number: int, timeout: float) -> Command:
    values = {"n": number, "python": shlex.quote(sys.executable), "daemon": shlex.quote(DAEMON.format(n=number))}
    text = (WAYS[way].format(**values) + "\n:" + ENDS[end].format(**values)).replace("\n:;", "\n")
    return Command(text, timeout=timedelta(seconds=timeout))


@pytest.mark.parametrize("end", ENDS)
def test_nothing_outlives_a_program(attempt: Attempt, end: str) -> None:
    async def run(way: str, number: int) -> None:
        with suppress(ActionError):
            await LocalHost(FireCounts()).run_program(_command(way, end, number, 1.5))

    for way in WAYS:
        number = next(_numbers)
        asyncio.run(run(way, number))
        attempt("a process outlives its hook", _is_running(number), f"{way}, {end}")


def test_nothing_outlives_programs_that_run_at_once(attempt: Attempt) -> None:
    numbers = {way: next(_numbers) for way in WAYS}

    async def run() -> None:
        host = LocalHost(FireCounts())
        commands = [_command(way, random.choice(list(ENDS)), number, 2) for way, number in numbers.items()]
        await asyncio.gather(*map(host.run_program, commands), return_exceptions=True)

    asyncio.run(run())
    for way, number in numbers.items():
        attempt("a process outlives its hook", _is_running(number), f"{way}, beside others")


def test_nothing_outlives_a_cancelled_program(attempt: Attempt) -> None:
    async def run(way: str, number: int) -> None:
        task = asyncio.ensure_future(LocalHost(FireCounts()).run_program(_command(way, "at the deadline", number, 30)))
        await asyncio.sleep(0.25)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    for way in WAYS:
        number = next(_numbers)
        asyncio.run(run(way, number))
        attempt("a process outlives its hook", _is_running(number), f"{way}, cancelled")


def test_no_process_of_others_is_touched(attempt: Attempt) -> None:
    """Neither a child of ours, nor a daemon that somebody else has started meanwhile."""
    number = next(_numbers)

    async def run() -> None:
        own = await asyncio.create_subprocess_exec("sleep", str(number), start_new_session=True)
        await LocalHost(FireCounts()).run_program(_command("a tree of sessions", "at its end", next(_numbers), 5))
        attempt("a hook's end kills a stranger", own.returncode is not None or not _is_running(number), "our child")
        own.kill()
        await own.wait()

    asyncio.run(run())


SERVER = """import asyncio, sys
from hookline.runners.server_process import ServerProcess

async def main():
    server = await ServerProcess.start("the server", ["bash", "-c", sys.argv[1]])
    await server.output.readline()
    print("up", flush=True)
    await asyncio.sleep(60)

asyncio.run(main())
"""


def test_nothing_outlives_a_server_whose_hookline_is_killed(attempt: Attempt) -> None:
    for way in WAYS:
        number = next(_numbers)
        text = _command(way, "at its end", number, 1).text.replace("exit 0", "echo up; sleep 60")
        ours = subprocess.Popen([sys.executable, "-c", SERVER, text], stdout=subprocess.PIPE)
        assert ours.stdout is not None
        ours.stdout.readline()
        ours.kill()
        ours.communicate()
        until = time.monotonic() + 3  # the kernel tells the supervisor, which needs a moment
        while _is_running(number) and time.monotonic() < until:
            time.sleep(0.05)
        attempt("a process outlives its server", _is_running(number), f"{way}, hookline killed")
