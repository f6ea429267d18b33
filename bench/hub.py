"""The hub: how fast it takes records, what consoles cost, and whether anything is lost under load.

`python -m bench.hub [--store URL] [--load SECONDS]` prints the table. Times depend on what else the machine does; processor
time and memory of the hub's own process do not.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import httpx2
from websockets.asyncio.client import ClientConnection, connect

from bench.table import table
from hookline.hub.config.hub_config import HubConfig
from hookline.hub.context.running_hub import Hub
from hookline.record.hash_chain import FIRST, line_hash
from hookline.record.segment import record_directory
from hookline.record.writer import RecordWriter, encode_record
from hookline.runtime.storage.store import file_url

_SESSIONS = 1000
_ORIGINS = 20
_BATCH = 500
_SENDERS = 4
_TICKS = os.sysconf("SC_CLK_TCK")


Row = tuple[str, str, str, bool | None]
"""What, the target, what was measured, and whether it was reached; None without a target."""


def entry(number: int) -> dict[str, Any]:
    """A decision like most: a shell command that no hook stopped."""
    session = f"session-{number % _SESSIONS:04}"
    command = f"git log --oneline -n {number % 97} -- src/module_{number % 31}.py"
    facts = {
        "host": {"name": "claude-code"},
        "session": {"id": session},
        "cwd": "/home/ada/project",
        "tool": {"name": "Bash", "kind": "shell", "input": {"command": command}, "id": f"call-{number}"},
    }
    about = {"host": "claude-code", "session": session, "user": "ada", "tool": "Bash", "call": f"call-{number}"}
    verdict = "deny" if number % 50 == 0 else "silent"
    return {
        "kind": "decision",
        "event": "tool.before",
        **about,
        "facts": facts,
        "verdict": verdict,
        "ms": 0.04,
        "hooks": "0" * 64,
    }


@cache
def _encoded_entries() -> tuple[bytes, ...]:
    """Made once: the hub is measured, not the making of records."""
    return tuple(encode_record(entry(number))[1:] for number in range(2 * _SESSIONS))


class Origin:
    """A process that reports, as a host on another machine does."""

    def __init__(self, number: int) -> None:
        self.id = f"{os.urandom(7).hex()}{number:02x}"
        self.number = 0
        self.hash = FIRST

    def lines(self, count: int) -> list[bytes]:
        at = datetime.now(UTC).isoformat(timespec="microseconds")[:-6] + "Z"
        return [self._line(at) for _ in range(count)]

    def _line(self, at: str) -> bytes:
        self.number += 1
        tails = _encoded_entries()
        id = f"{self.id}-{self.number}"
        line = f'{{"id":"{id}","previous":"{self.hash}","at":"{at}",'.encode() + tails[self.number % len(tails)]
        self.hash = line_hash(line)
        return line


@dataclass
class HubProcess:
    url: str
    pid: int
    token: str
    key: str
    http: httpx2.AsyncClient
    up_after: float

    def cpu(self) -> float:
        """Seconds of processor time."""
        parts = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(parts[11]) + int(parts[12])) / _TICKS

    def memory(self) -> float:
        """MB that it holds now."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    async def count(self) -> int:
        headers = {"authorization": f"Bearer {self.token}"}
        hosts = (await self.http.get(f"{self.url}/api/v1/hosts", headers=headers)).json()["items"]
        return sum(each["records"] - each["gaps"] for each in hosts)


@asynccontextmanager
async def hub_process(directory: Path, store: str) -> AsyncIterator[HubProcess]:
    env = {**os.environ, "XDG_STATE_HOME": str(directory), "XDG_CONFIG_HOME": str(directory / "config")}
    command = [sys.executable, "-m", "hookline", "hub", "--port", "0", "--store", store]
    began = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as process:  # noqa: ASYNC220
        try:
            assert process.stdout is not None
            url = process.stdout.readline().split()[-1]
            up_after = time.perf_counter() - began
            code = process.stdout.readline().partition("#enter=")[2].strip()
            async with httpx2.AsyncClient(timeout=60) as http:
                entered = (await http.post(f"{url}/api/v1/enter", json={"code": code})).json()
                key = json.loads((directory / "hookline" / "hub.json").read_text())["key"]
                yield HubProcess(url, process.pid, entered["token"], key, http, up_after)
        finally:
            process.terminate()
            process.wait(30)


@dataclass
class Console:
    """Watches `live`, and counts what comes."""

    rows: int = 0
    dropped: int = 0
    lags: list[float] = field(default_factory=list)

    async def watch(self, hub: HubProcess, ready: asyncio.Event) -> None:
        address = f"ws{hub.url.removeprefix('http')}/socket.io/?EIO=4&transport=websocket"
        async with connect(address, compression=None, max_size=None) as socket:
            await socket.recv()
            await socket.send("40/events," + json.dumps({"token": hub.token}))
            await socket.recv()
            await socket.send('42/events,1["join",{"room":"live"}]')
            await socket.recv()
            ready.set()
            await self._count(socket)

    async def _count(self, socket: ClientConnection) -> None:
        while True:
            message = str(await socket.recv())
            if message == "2":
                await socket.send("3")
            elif message.startswith('42/events,["decisions"'):
                self.rows += message.count('{"id":"')
                self.dropped += int(message.rpartition('"dropped":')[2].split("}")[0])
                at = message.find('"at":"') + 6
                sent = datetime.fromisoformat(message[at : at + 27]).timestamp() if at > 6 else time.time()
                self.lags.append(time.time() - sent)


@asynccontextmanager
async def consoles(hub: HubProcess, count: int) -> AsyncIterator[list[Console]]:
    found = [Console() for _ in range(count)]
    tasks = []
    for console in found:
        ready = asyncio.Event()
        tasks.append(asyncio.ensure_future(console.watch(hub, ready)))
        await ready.wait()
    try:
        yield found
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def measure_intake(directory: Path, store: str, count: int = 50_000) -> Row:
    """Rows a second from a record on disk into the database, and processor time for each."""
    writer = RecordWriter(record_directory(directory), {"machine": "bench"})
    for number in range(count):
        writer.write(encode_record(entry(number)))
    writer.close()
    async with Hub.open(HubConfig(state=directory, store=store, reads_record=False)) as hub:
        began, cpu = time.perf_counter(), time.process_time()
        await hub.record_intake.look_once()
        took, used = time.perf_counter() - began, time.process_time() - cpu
        size = await hub.decisions.size()
    assert size == count + 1, (size, count)
    told = f"{count / took:,.0f}/s; {used / count * 1e6:.0f} µs of CPU each"
    return ("intake", "≥ 5,000/s", told, count / took >= 5000)


async def measure_start(hub: HubProcess) -> list[Row]:
    cpu = f"{hub.up_after:.1f} s; {hub.cpu():.1f} s of CPU"
    memory = hub.memory()
    return [
        ("start", "≤ 3 s", cpu, hub.up_after <= 3),
        ("memory", "≤ 150 MB", f"{memory:.0f} MB", memory <= 150),
    ]


async def measure_consoles(hub: HubProcess, directory: Path, count: int, rate: int, seconds: float) -> list[Row]:
    """What the hub uses while `count` consoles see `rate` decisions a second from the record of this machine."""
    writer = RecordWriter(record_directory(directory / "hookline"), {"machine": "bench"})
    async with consoles(hub, count) as watching:
        await asyncio.sleep(1)
        began, cpu, sent = time.perf_counter(), hub.cpu(), 0
        while (elapsed := time.perf_counter() - began) < seconds:
            while sent < elapsed * rate:
                writer.write(encode_record(entry(sent)))
                sent += 1
            await asyncio.sleep(0.01)
        used = (hub.cpu() - cpu) / (time.perf_counter() - began)
        for _ in range(100):
            if all(each.rows + each.dropped >= sent for each in watching):
                break
            await asyncio.sleep(0.1)
    writer.close()
    lags = sorted(lag for each in watching for lag in each.lags)
    lost = sum(max(0, sent - each.rows - each.dropped) for each in watching)
    what = f"{count} consoles at {rate}/s"
    p50, p95 = (lags[int(len(lags) * share)] * 1000 for share in (0.5, 0.95))
    return [
        (
            f"{what}: the hub's CPU",
            "≤ 25 % of a core" if count == 100 else "",
            f"{used:.0%}",
            used <= 0.25 if count == 100 else None,
        ),
        (f"{what}: rows lost", "0", f"{lost} of {sent * count:,}", lost == 0),
        (f"{what}: decision → console", "≤ 400 ms p95", f"p50 {p50:.0f} ms, p95 {p95:.0f} ms", p95 <= 400),
    ]


@dataclass
class Load:
    """What was sent so far, by all senders."""

    rate: int
    until: float
    began: float = field(default_factory=time.perf_counter)
    sent: int = 0
    answers: list[float] = field(default_factory=list)
    memory: list[float] = field(default_factory=list)

    async def send(self, hub: HubProcess, origins: list[Origin]) -> None:
        """One machine: it waits for each report to be acknowledged."""
        headers = {
            "authorization": f"Bearer {hub.key}",
            "content-type": "application/x-ndjson",
            "content-encoding": "gzip",
        }
        for number in itertools.count():
            elapsed = time.perf_counter() - self.began
            if elapsed > self.until:
                return
            if self.sent > elapsed * self.rate:
                await asyncio.sleep(self.sent / self.rate - elapsed)
                continue
            self.sent += _BATCH
            data = gzip.compress(b"\n".join(origins[number % len(origins)].lines(_BATCH)), 1)
            done = (await hub.http.post(f"{hub.url}/api/v1/report", content=data, headers=headers)).json()
            assert done["taken"] == _BATCH, done

    async def ask(self, hub: HubProcess) -> None:
        while time.perf_counter() - self.began < self.until:
            self.answers.append(await _ask_and_answer(hub))
            self.memory.append(hub.memory())
            await asyncio.sleep(0.5)


async def measure_load(hub: HubProcess, rate: int, seconds: float, watching: int) -> list[Row]:
    """1,000 sessions of 20 processes report over HTTP, consoles watch, and questions are asked and answered."""
    origins = [Origin(number) for number in range(_ORIGINS)]
    async with consoles(hub, watching) as seen:
        cpu, load = hub.cpu(), Load(rate, seconds)
        senders = (load.send(hub, origins[at::_SENDERS]) for at in range(_SENDERS))
        await asyncio.gather(*senders, load.ask(hub))
        took, used = time.perf_counter() - load.began, hub.cpu() - cpu
        for _ in range(100):
            if all(each.rows + each.dropped >= load.sent for each in seen):
                break
            await asyncio.sleep(0.1)
    stored = await hub.count()
    told = min((each.rows + each.dropped for each in seen), default=load.sent)
    answers, memory = sorted(load.answers), load.memory
    reached = f"{load.sent / took:,.0f}/s, {used / took:.0%} of a core, {used / load.sent * 1e6:.0f} µs each"
    lost, untold, slowest = load.sent - stored, load.sent - told, answers[int(len(answers) * 0.95)] * 1000
    grown = memory[-1] - memory[len(memory) // 2]
    told_memory = f"{memory[0]:.0f} → {memory[len(memory) // 2]:.0f} → {memory[-1]:.0f} MB"
    return [
        ("load: reached", f"{rate:,}/s for {seconds:.0f} s", reached, load.sent / took >= rate * 0.98),
        ("load: acknowledged and not stored", "0", f"{lost} of {load.sent:,}", lost == 0),
        (f"load: rows that one of {watching} consoles was not told of", "0", f"{untold}", untold == 0),
        ("load: memory", "flat", told_memory, grown <= 10),
        ("load: question answered", "≤ 200 ms p95", f"p95 {slowest:.0f} ms", slowest <= 200),
    ]


async def _ask_and_answer(hub: HubProcess) -> float:
    """Seconds from a person's answer to the host that waits for it."""
    machine, person = ({"authorization": f"Bearer {token}"} for token in (hub.key, hub.token))
    body = {"host": "codex", "tool": "shell", "input": {"command": f"git push {time.time()}"}, "seconds": 60}
    asked = (await hub.http.post(f"{hub.url}/api/v1/approvals", json=body, headers=machine)).json()
    waiting = asyncio.ensure_future(hub.http.get(f"{hub.url}/api/v1/approvals/{asked['id']}?wait=20", headers=machine))
    await asyncio.sleep(0.05)
    began = time.perf_counter()
    await hub.http.post(f"{hub.url}/api/v1/approvals/{asked['id']}/answer", json={"yes": True}, headers=person)
    answered = (await waiting).json()
    assert answered["state"] == "approved", answered
    return time.perf_counter() - began


async def run(options: argparse.Namespace) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    rows: list[Row] = []
    async with AsyncExitStack() as stack:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hookline-bench-hub-")))

        def store(name: str) -> str:
            return options.store or file_url(place / f"{name}.db")

        if not options.only_load:
            rows.append(await measure_intake(place / "intake" / "hookline", store("intake")))
            async with hub_process(place / "consoles", store("consoles")) as hub:
                rows += await measure_start(hub)
                rows += await measure_consoles(hub, place / "consoles", 1, 500, options.seconds)
                rows += await measure_consoles(hub, place / "consoles", 100, 500, options.seconds)
        if options.load:
            async with hub_process(place / "load", store("load")) as hub:
                rows += await measure_load(hub, options.rate, options.load, options.consoles)
    words = {True: "reached", False: "missed", None: "–"}
    shown = [(what, target or "–", measured, words[reached]) for what, target, measured, reached in rows]
    print(table([dict(zip(("what", "target", "measured", ""), row, strict=True)) for row in shown]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.hub")
    parser.add_argument("--store", default="", help="a database URL; a new SQLite file without it")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--load", type=float, default=60.0, help="seconds of load; 0: none")
    parser.add_argument("--rate", type=int, default=5000)
    parser.add_argument("--consoles", type=int, default=50)
    parser.add_argument("--only-load", action="store_true")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()
