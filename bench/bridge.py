"""What an agent's hook costs: how long the agent waits, and what the engine takes for a call if many come at once."""

from __future__ import annotations

import asyncio
import json
import os
import select
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

from bench.goals import Goal
from bench.timing import format_seconds
from hookline.hosts.agents.machine import Machine
from hookline.hosts.bridge import client
from hookline.hosts.install.launcher import bound_variables, compile_client, python_client

_ROUNDS = 200
_CALLS = 2_000
_AT_ONCE = 200
_REPETITIONS = 5  # the best one counts: a busy machine makes the others slower
_CALLS_BEFORE = 1_677  # a second, when each call was a task with a transport of its own
_ENVIRONMENT = {f"VARIABLE_{n}": "x" * 40 for n in range(30)}  # as large as an agent's
_HOOK = """import json, sys
payload = json.load(sys.stdin)
if "rm -rf" in payload["tool_input"]["command"]:
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}))
"""
_GUARD = "hooks:\n  - {id: no-rm, on: tool.before, when: {tool: bash, input: {command: 'rm -rf'}}, then: {deny: No.}}\n"


def round_trips() -> dict[str, float]:
    """Seconds from starting each program until its answer is read and it has ended.

    The fastest tenth counts: on a busy machine the others wait for their turn, and a client waits twice.
    """
    with _workspace() as root:
        return _measure_programs(root)


class EngineLoad(NamedTuple):
    """With 200 calls at once."""

    calls: float  # a second
    cpu: float  # seconds of processor time for a call
    bare_cpu: float  # of a server that reads the same requests with asyncio's streams and decides nothing

    def row(self) -> dict[str, str]:
        return {
            "an agent's calls": f"{_AT_ONCE} at once",
            "calls a second": f"{self.calls:,.0f}",
            "processor time of a call": format_seconds(self.cpu),
            "bare asyncio streams": format_seconds(self.bare_cpu),
        }


def engine_load() -> EngineLoad | None:
    """None where the system does not tell the processor time of another process."""
    if not os.path.exists("/proc/self/schedstat"):
        return None
    with _workspace() as root:
        environment = _environment(root)
        requests = [_encode_call(root, environment, f"ls {n}") for n in range(_CALLS)]
        ours, bare = root / "hookline" / client.SOCKET_NAME, root / "bare"
        with (
            _serving(root, ours, client.hookline_command("serve")) as engine,
            _serving(root, bare, [sys.executable, "-m", "bench.bridge", str(bare)]) as other,
        ):
            _send_all(ours, requests[:_AT_ONCE])
            _send_all(bare, requests[:_AT_ONCE])
            measured = [
                (_measure_load(engine, ours, requests), _measure_load(other, bare, requests))
                for _ in range(_REPETITIONS)
            ]
    return EngineLoad(
        max(rate for (rate, _), _ in measured),
        min(cpu for (_, cpu), _ in measured),
        min(cpu for _, (_, cpu) in measured),
    )


def goals(programs: dict[str, float], load: EngineLoad | None) -> Iterator[Goal]:
    if "C client" in programs:
        yield Goal("an agent's hook", programs["C client"] / programs["Python hook"], 1 / 10, "of spawning Python")
        yield Goal("an agent's hook", programs["C client"] / programs["sh -c :"], 1.25, "× sh -c :")
    if load is not None:
        yield Goal("an agent's call, in the engine", load.cpu / 1e-6, 200, "µs of processor time")
        yield Goal("an agent's call, in the engine", load.cpu / load.bare_cpu, 3, "× bare asyncio streams")
        yield Goal("an agent's calls, 200 at once", load.calls, 2.5 * _CALLS_BEFORE, "a second", at_least=True)


@contextmanager
def _workspace() -> Iterator[Path]:
    root = Path(tempfile.mkdtemp(prefix="hl"))  # short, because a socket's path is short
    try:
        (root / "home").mkdir()
        (root / "hookline.yaml").write_text(_GUARD)
        yield root
    finally:
        shutil.rmtree(root)


def _environment(root: Path) -> dict[str, str]:
    return {**os.environ, **_ENVIRONMENT, "HOME": str(root / "home"), "XDG_RUNTIME_DIR": str(root)}


@contextmanager
def _serving(root: Path, path: Path, command: list[str]) -> Iterator[int]:
    """The id of the process, once it listens."""
    engine = subprocess.Popen(command, env=_environment(root), stderr=subprocess.DEVNULL)
    try:
        _wait_for_file(path)
        yield engine.pid
    finally:
        engine.terminate()
        engine.wait()


def _measure_programs(root: Path) -> dict[str, float]:
    (root / "hook.py").write_text(_HOOK)
    environment, payload = _environment(root), _payload(root, "ls")
    agent = ["claude-code", "PreToolUse"]
    slow = {"Python hook": [sys.executable, str(root / "hook.py")], "Python client": [*python_client(), *agent]}
    fast = {"sh -c :": ["/bin/sh", "-c", ":"]}
    if compile_client(root / "client", bound_variables(Machine(root / "home", root, environment))):
        fast["C client"] = [str(root / "client"), *agent]
    times: dict[str, list[float]] = {name: [] for name in (*slow, *fast)}
    with _serving(root, root / "hookline" / client.SOCKET_NAME, client.hookline_command("serve")):
        for programs, rounds in ((slow, _ROUNDS // 4), (fast, _ROUNDS)):
            for _ in range(rounds):
                for name, argv in programs.items():
                    times[name].append(_time_call(argv, payload, environment))
    return {name: statistics.quantiles(taken[3:], n=10)[0] for name, taken in times.items()}


def _payload(root: Path, command: str) -> bytes:
    input = {"command": command, "description": "x" * 200}
    return json.dumps({"session_id": "s", "cwd": str(root), "tool_name": "Bash", "tool_input": input}).encode()


def _time_call(argv: list[str], payload: bytes, environment: dict[str, str]) -> float:
    """Of the program alone: what `subprocess` does besides takes longer than an empty shell."""
    stdin, into = os.pipe()
    os.write(into, payload)
    os.close(into)
    outlet, stdout = os.pipe()
    streams = [(os.POSIX_SPAWN_DUP2, stdin, 0), (os.POSIX_SPAWN_DUP2, stdout, 1)]
    begun = perf_counter()
    pid = os.posix_spawn(argv[0], argv, environment, file_actions=streams)
    os.close(stdout)
    answer = os.read(outlet, 4096)
    _, status = os.waitpid(pid, 0)
    taken = perf_counter() - begun
    os.close(stdin)
    os.close(outlet)
    assert (answer, status) == (b"", 0), answer
    return taken


def _encode_call(root: Path, environment: dict[str, str], command: str) -> bytes:
    """As the C client sends it."""
    variables = b"\0".join(os.fsencode(f"{name}={value}") for name, value in environment.items())
    parts = (b"", b"claude-code", b"PreToolUse", os.fsencode(root), variables, _payload(root, command))
    numbers = (client.PROTOCOL_VERSION, 1, *map(len, parts))
    return client.MAGIC + b"".join(each.to_bytes(4, "big") for each in numbers) + b"".join(parts)


def _measure_load(pid: int, path: Path, requests: list[bytes]) -> tuple[float, float]:
    """Calls a second, and seconds of processor time for a call."""
    before, begun = _cpu_seconds(pid), perf_counter()
    _send_all(path, requests)
    taken = perf_counter() - begun
    return len(requests) / taken, (_cpu_seconds(pid) - before) / len(requests)


def _cpu_seconds(pid: int) -> float:
    files = Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(each.read_text().split()[0]) for each in files) / 1e9


def _send_all(path: Path, requests: list[bytes]) -> None:
    """So many at once, each on a connection of its own, until all are answered."""
    poll, waiting, left = select.poll(), {}, iter(requests)

    def send_next() -> None:
        request = next(left, None)
        if request is not None:
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(str(path))
            connection.sendall(request)
            waiting[connection.fileno()] = connection
            poll.register(connection, select.POLLIN)

    for _ in range(_AT_ONCE):
        send_next()
    while waiting:
        for number, _ in poll.poll():
            poll.unregister(number)
            with waiting.pop(number) as connection:
                assert len(connection.recv(4096)) >= client.ANSWER_HEADER_SIZE
            send_next()


async def _serve_bare(path: str) -> None:
    lengths = range(len(client.MAGIC) + 8, client.REQUEST_HEADER_SIZE, 4)
    numbers = (client.PROTOCOL_VERSION, client.STATUS_ANSWERED, 0, 0, 0)
    answer = client.MAGIC + b"".join(each.to_bytes(4, "big") for each in numbers)

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readexactly(client.REQUEST_HEADER_SIZE)
        await reader.readexactly(sum(int.from_bytes(head[n : n + 4], "big") for n in lengths))
        writer.write(answer)
        await writer.drain()
        writer.close()

    server = await asyncio.start_unix_server(respond, path, backlog=1024)
    await server.serve_forever()


def _wait_for_file(path: Path) -> None:
    until = perf_counter() + 30
    while not path.exists():
        assert perf_counter() < until, "the engine did not start"
        time.sleep(0.01)


if __name__ == "__main__":
    asyncio.run(_serve_bare(sys.argv[1]))
