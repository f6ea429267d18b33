"""A hub in a process of its own, hosts that report to it, and consoles that watch it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import httpx2
from websockets.asyncio.client import ClientConnection, connect

from hookline.hooks.hook_files import HookFiles
from hookline.hosts.hub.running_hubs import local_hubs
from hookline.record.hash_chain import FIRST, line_hash
from hookline.record.writer import encode_record

SESSIONS = 1000
HOOKS = HookFiles()  # the hooks in force in every record
_TICKS = os.sysconf("SC_CLK_TCK")


def entry(number: int) -> dict[str, Any]:
    """A decision like most: a shell command that no hook stopped."""
    session = f"session-{number % SESSIONS:04}"
    command = f"git log --oneline -n {number % 97} -- src/module_{number % 31}.py"
    facts = {
        "host": {"name": "claude-code"},
        "session": {"id": session},
        "cwd": "/home/ada/project",
        "tool": {"name": "Bash", "kind": "shell", "input": {"command": command}, "id": f"call-{number}"},
    }
    about = {"host": "claude-code", "session": session, "user": "ada", "tool": "Bash", "call": f"call-{number}"}
    verdict = "deny" if number % 50 == 0 else "silent"
    told = {"verdict": verdict, "ms": 0.04, "hooks": HOOKS.hash}
    return {"kind": "decision", "event": "tool.before", **about, "facts": facts, **told}


@cache
def _encoded_entries() -> tuple[bytes, ...]:
    """Made once: the hub is measured, not the making of records."""
    return tuple(encode_record(entry(number)).encode() for number in range(2 * SESSIONS))


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

    async def get(self, path: str) -> Any:
        return (await self.http.get(f"{self.url}/api/v1{path}", headers=bearer(self.token))).json()

    async def post(self, path: str, body: dict[str, Any], token: str = "") -> Any:
        answer = await self.http.post(f"{self.url}/api/v1{path}", json=body, headers=bearer(token or self.token))
        assert answer.is_success, answer.text
        return answer.json()

    async def count(self) -> int:
        """Records in whole chains."""
        return sum(each["records"] - each["gaps"] for each in (await self.get("/hosts"))["items"])


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


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
                key = local_hubs(directory / "hookline")[-1].key
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

    async def watch(self, url: str, token: str, ready: asyncio.Event) -> None:
        address = f"ws{url.removeprefix('http')}/socket.io/?EIO=4&transport=websocket"
        async with connect(address, compression=None, max_size=None) as socket:
            await socket.recv()
            await socket.send("40/events," + json.dumps({"token": token}))
            await socket.recv()
            await socket.send('42/events,1["join",{"room":"live"}]')
            await socket.recv()
            ready.set()
            await self._count(socket)

    async def _count(self, socket: ClientConnection) -> None:
        while True:
            message = await socket.recv(decode=False)
            if message == b"2":
                await socket.send("3")
            elif message.startswith(b'42/events,["decisions"'):
                self.rows += message.count(b'{"id":"')
                self.dropped += int(message[message.rfind(b'"dropped":') + 10 :].split(b"}")[0])
                at = message.find(b'"at":"') + 6
                if at > 6:
                    sent = datetime.fromisoformat(message[at : at + 27].decode()).timestamp()
                    self.lags.append(time.time() - sent)

    @property
    def received(self) -> int:
        return self.rows + self.dropped


@asynccontextmanager
async def consoles(url: str, token: str, count: int) -> AsyncIterator[list[Console]]:
    found = [Console() for _ in range(count)]
    tasks = []
    for console in found:
        ready = asyncio.Event()
        tasks.append(asyncio.ensure_future(console.watch(url, token, ready)))
        await ready.wait()
    try:
        yield found
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def wait_until_told(watching: list[Console], count: int) -> int:
    """Rows that the one that was told least was not told of."""
    for _ in range(150):
        if all(each.received >= count for each in watching):
            break
        await asyncio.sleep(0.1)
    return max((count - each.received for each in watching), default=0)
