"""A thousand sessions report to one hub while consoles watch and people answer. `bench.hub` prints what came of it.

Senders and consoles are processes of their own, and reports are made before the clock starts: the hub is measured.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import httpx2

from bench.hub_process import HOOKS, HubProcess, Origin, bearer, consoles, wait_until_told

ORIGINS = 20
BATCH = 500
SENDERS = 4
_PAUSE = 0.5  # seconds between two questions

_spawning = get_context("spawn")


@dataclass(frozen=True)
class LoadResult:
    sent: int
    stored: int
    seconds: float
    cpu: float  # seconds of the hub
    untold: int  # rows that one of the consoles was not told of
    answers: list[float] = field(default_factory=list)  # seconds
    memory: list[float] = field(default_factory=list)  # MB


async def run_load(hub: HubProcess, rate: int, seconds: float, watching: int) -> LoadResult:
    with _process(_watch, hub.url, hub.token, watching) as watchers, _process(_send, hub, rate, seconds) as senders:
        for each in (watchers, senders):
            await _receive(each)
        answers: list[float] = []
        memory: list[float] = []
        stored_before, cpu = await hub.count(), hub.cpu()
        is_over = asyncio.Event()
        asking = asyncio.ensure_future(_keep_asking(hub, answers, memory, is_over))
        senders.send("go")
        sent, took = await _receive(senders)
        used = hub.cpu() - cpu
        is_over.set()
        await asking
        watchers.send(sent)
        untold = await _receive(watchers)
    return LoadResult(sent, await hub.count() - stored_before, took, used, untold, answers, memory)


@contextmanager
def _process(work: Any, *given: Any) -> Iterator[Connection]:
    """Runs `work(connection, *given)`; a HubProcess is given as its address and key."""
    plain = [(each.url, each.key) if isinstance(each, HubProcess) else each for each in given]
    ours, theirs = _spawning.Pipe()
    process = _spawning.Process(target=work, args=(theirs, *plain), daemon=True)
    process.start()
    try:
        yield ours
    finally:
        process.terminate()
        process.join()


async def _receive(connection: Connection) -> Any:
    return await asyncio.to_thread(connection.recv)


async def _keep_asking(hub: HubProcess, answers: list[float], memory: list[float], is_over: asyncio.Event) -> None:
    while not is_over.is_set():
        answers.append(await ask_and_answer(hub))
        memory.append(hub.memory())
        await asyncio.sleep(_PAUSE)


async def ask_and_answer(hub: HubProcess) -> float:
    """Seconds from a person's answer to the host that waits for it."""
    body = {"host": "codex", "tool": "shell", "input": {"command": f"git push {time.time()}"}, "seconds": 60}
    asked = await hub.post("/approvals", body, hub.key)
    path = f"{hub.url}/api/v1/approvals/{asked['id']}?wait=20"
    waiting = asyncio.ensure_future(hub.http.get(path, headers=bearer(hub.key)))
    await asyncio.sleep(0.05)
    began = time.perf_counter()
    answering = asyncio.ensure_future(hub.post(f"/approvals/{asked['id']}/answer", {"yes": True}))
    answered = (await waiting).json()
    took = time.perf_counter() - began
    assert answered["state"] == "approved", answered
    await answering
    return took


def _watch(connection: Connection, url: str, token: str, count: int) -> None:
    async def run() -> None:
        async with consoles(url, token, count) as watching:
            connection.send("ready")
            sent = await _receive(connection)
            connection.send(await wait_until_told(watching, sent))

    asyncio.run(run())


def _send(connection: Connection, place: tuple[str, str], rate: int, seconds: float) -> None:
    url, key = place
    reports = _reports(round(rate * seconds / BATCH))
    connection.send("ready")
    connection.recv()
    connection.send(asyncio.run(_send_all(url, key, reports, BATCH / rate)))


def _reports(count: int) -> list[list[bytes]]:
    """For each sender: what it sends, one after the other, as each process's record must come in order."""
    origins = [Origin(number) for number in range(ORIGINS)]
    found: list[list[bytes]] = [[] for _ in range(SENDERS)]
    for number in range(count):
        lines = b"\n".join(origins[number % ORIGINS].lines(BATCH))
        found[number % SENDERS].append(gzip.compress(lines, 1))
    return found


async def _send_all(url: str, key: str, reports: list[list[bytes]], apart: float) -> tuple[int, float]:
    """Lines that were acknowledged, and seconds. Each sender waits for an answer before it sends the next report."""
    headers = {**bearer(key), "content-type": "application/x-ndjson"}
    began = time.perf_counter()

    async def send(http: httpx2.AsyncClient, content: bytes, **more: str) -> int:
        answer = await http.post(f"{url}/api/v1/report", content=content, headers={**headers, **more})
        return int(answer.json()["taken"])

    async def send_each(http: httpx2.AsyncClient, at: int) -> int:
        sent = 0
        for number, content in enumerate(reports[at]):
            due = began + (number * SENDERS + at) * apart
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            sent += await send(http, content, **{"content-encoding": "gzip"})
        return sent

    async with httpx2.AsyncClient(timeout=60) as http:
        await send(http, json.dumps({"hooks": HOOKS.hash, "text": HOOKS.data.decode()}, separators=(",", ":")).encode())
        sent = sum(await asyncio.gather(*(send_each(http, at) for at in range(SENDERS))))
    return sent, time.perf_counter() - began
