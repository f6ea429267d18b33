"""A shell hook beside the same command in bare asyncio; Python hooks, warm and spawned; a JavaScript hook."""

from __future__ import annotations

import asyncio
import functools
import json
import shlex
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from time import perf_counter

from bench.goals import Goal
from hookline import Event
from hookline.engine.limits import FireCounts
from hookline.hooks.host import Command
from hookline.project import load_text
from hookline.runners.local_host import LocalHost
from hookline.runners.warm.pool import interpreter_pool

SHELL = "cat > /dev/null; printf ok"
_ROUNDS = 80
_PAUSE = 0.015  # seconds, so that work left over from one call does not count for the next


def shell_hook() -> dict[str, float]:
    """Seconds of one decision that runs a program, with stdin and output piped."""
    return asyncio.run(_shell_hook())


async def _shell_hook() -> dict[str, float]:
    text = f"hooks:\n  - {{id: run, on: tool.before, then: {{run: '{SHELL}'}}, on_error: closed}}\n"
    book = load_text(text, "hookline.yaml")
    event = Event("tool.before", {"tool": {"name": "bash", "input": {"command": "ls"}}})

    async def with_hookline() -> None:
        decision = await book.decide(event)
        assert not decision.failures

    async def bare(start_new_session: bool) -> None:
        pipe = subprocess.PIPE
        process = await asyncio.create_subprocess_exec(
            "bash", "-c", SHELL, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=start_new_session
        )
        await process.communicate(b'{"event":"tool.before"}')

    async def python() -> None:
        process = await asyncio.create_subprocess_exec(sys.executable, "-c", "pass")
        await process.wait()

    return await _alternate(
        {
            "hookline": with_hookline,
            "bare asyncio": functools.partial(bare, False),
            "bare asyncio, own session": functools.partial(bare, True),  # as every hook: Linux lets it wait for longer
            "spawned Python": python,
        }
    )


PYTHON_HOOK = "import json, sys\nevent = json.load(sys.stdin)\nprint(json.dumps({'decision': 'allow'}))\n"


def python_hook() -> dict[str, float]:
    """Seconds of one hook that is a Python file, in a warm interpreter and spawned."""
    return asyncio.run(_python_hook())


async def _python_hook() -> dict[str, float]:
    with tempfile.TemporaryDirectory() as place:
        Path(place, "hook.py").write_text(PYTHON_HOOK)
        command = Command(f"{shlex.quote(sys.executable)} hook.py", stdin=b'{"event":"tool.before"}', cwd=place)
        hosts = {"warm": LocalHost(FireCounts()), "spawned": LocalHost(FireCounts(), warm=False)}

        async def run(host: LocalHost) -> None:
            assert (await host.run_program(command)).exit_code == 0

        for _ in range(_ROUNDS):
            await run(hosts["warm"])
            await asyncio.sleep(_PAUSE)
        assert interpreter_pool().forked, "it is always spawned"
        return await _alternate({name: functools.partial(run, host) for name, host in hosts.items()}, _PAUSE)


async def _alternate(calls: dict[str, Callable[[], Awaitable[None]]], pause: float = 0) -> dict[str, float]:
    """The fastest tenth of calls that alternate; the first one changes with each round.

    A busy machine makes the others wait for their turn, and programs more often than functions.
    """
    times: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(_ROUNDS):
        for name in sorted(calls, reverse=bool(number % 2)):
            begun = perf_counter()
            await calls[name]()
            times[name].append(perf_counter() - begun)
            await asyncio.sleep(pause)
    return {name: statistics.quantiles(taken[3:], n=10)[0] for name, taken in times.items()}


_SCRIPT = {
    "matcher": "^bash$",
    "action": "script",
    "script": "if (toolInput.command.includes('rm')) return {decision: 'deny'}",
}


def javascript_hook() -> dict[str, float]:
    """Seconds of one decision by a script: after a pause, as between two calls of an agent, and without one."""
    return asyncio.run(_javascript_hook())


async def _javascript_hook() -> dict[str, float]:
    book = load_text(json.dumps({"hooks": {"PreToolUse": [_SCRIPT]}}), "hub.json", "flo")
    event = Event("tool.before", {"tool": {"name": "bash", "input": {"command": "rm x"}}})

    async def run() -> None:
        assert (await book.decide(event)).denied

    after_pause = await _alternate({"": run}, _PAUSE)
    return {"after a pause": after_pause[""], "at once": (await _alternate({"": run}))[""]}


def goals(shell: dict[str, float], python: dict[str, float], javascript: dict[str, float]) -> Iterator[Goal]:
    ours = shell["hookline"]
    yield Goal("one shell hook", ours / shell["bare asyncio"], 0.8, "× bare asyncio")
    yield Goal("one shell hook", ours / shell["bare asyncio, own session"], 0.8, "× bare asyncio, own session")
    yield Goal("a Python hook, warm", python["warm"] / python["spawned"], 1 / 5, "of spawning it")
    yield Goal("a JavaScript hook, after a pause", javascript["after a pause"] / 1e-6, 400, "µs")
