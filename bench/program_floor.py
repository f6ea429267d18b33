"""The least that the shell command of `bench.programs` takes, however it is started: `python -m bench.program_floor`.

It is started in a session of its own by posix_spawn, with its input in a pipe beforehand, and waited for without an event
loop. Nothing is limited, watched or killed. What this takes of bare asyncio's time is the least that a hook can take.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import statistics
import subprocess
from collections.abc import Awaitable, Callable
from time import perf_counter

from bench.programs import SHELL
from bench.table import table
from bench.timing import format_seconds

_ROUNDS = 200
_INPUT = b'{"event":"tool.before"}'


def spawn_and_wait(bash: str) -> None:
    stdin, into = os.pipe()
    output, stdout = os.pipe()
    os.write(into, _INPUT)
    os.close(into)
    streams = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, stdout, 1), (os.POSIX_SPAWN_DUP2, stdout, 2)]
    pid = os.posix_spawn(bash, [bash, "-c", SHELL], os.environ, file_actions=streams, setsid=True)
    os.close(stdin)
    os.close(stdout)
    os.waitpid(pid, 0)
    assert os.read(output, 100) == b"ok"
    os.close(output)


async def run_in_asyncio(bash: str) -> None:
    pipe = subprocess.PIPE
    process = await asyncio.create_subprocess_exec(bash, "-c", SHELL, stdin=pipe, stdout=pipe, stderr=pipe)
    await process.communicate(_INPUT)


async def measure() -> dict[str, float]:
    """Seconds of the fastest tenth, as in `bench.programs`."""
    bash = shutil.which("bash") or "/bin/bash"

    async def least() -> None:
        spawn_and_wait(bash)

    calls: dict[str, Callable[[], Awaitable[None]]] = {
        "posix_spawn, own session": least,
        "bare asyncio": lambda: run_in_asyncio(bash),
    }
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(_ROUNDS):
        for name in sorted(calls, reverse=bool(number % 2)):
            begun = perf_counter()
            await calls[name]()
            times[name].append(perf_counter() - begun)
    return {name: statistics.quantiles(taken[3:], n=10)[0] for name, taken in times.items()}


def main() -> None:
    taken = asyncio.run(measure())
    least, bare = taken["posix_spawn, own session"], taken["bare asyncio"]
    row = {name: format_seconds(each) for name, each in taken.items()}
    print(table([{"one program": SHELL, **row, "least ÷ bare asyncio": f"{least / bare:.2f}"}]))


if __name__ == "__main__":
    main()
