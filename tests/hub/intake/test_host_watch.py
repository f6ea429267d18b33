from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from hookline.hub.access.roles import Role
from hookline.hub.context.running_hub import Hub
from hookline.hub.intake.host_watch import SILENT_SECONDS, HostWatch
from hookline.record.segment import record_directory, running_writers
from hub.hub_sandbox import Client, Writer, async_test, eventually, open_hub, token_of

HOST = """
import asyncio, sys
from pathlib import Path
from hookline.engine.book import Book
from hookline.hooks.event import Event
from hookline.record.recorder import Recorder
from hookline.record.segment import record_directory

recorder = Recorder(record_directory(Path(sys.argv[1])))
asyncio.run(recorder.decide(Book(), Event("session.start", {"session": {"id": "s"}})))
print("recorded", flush=True)
sys.stdin.read()
"""


LINES = {"content-type": "application/x-ndjson"}


class Told:
    """The events of a hub's bus."""

    def __init__(self) -> None:
        self.events: list[tuple[str, dict[str, Any]]] = []

    async def publish(self, type: str, payload: dict[str, Any], rooms: tuple[str, ...]) -> None:
        assert rooms == ("live",)
        self.events.append((type, payload))

    def take(self) -> list[tuple[str, str, str]]:
        """Their type, process and reason."""
        taken = [(type, payload["id"][0], payload.get("reason", "")) for type, payload in self.events]
        self.events.clear()
        return taken


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def start_host(state: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", HOST, str(state)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "recorded\n"
    return process


def end_host(process: subprocess.Popen[str], number: int) -> None:
    os.kill(process.pid, number)
    process.communicate(timeout=30)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_process_runs_until_it_ends_however_it_ends(tmp_path: Path, number: int) -> None:
    directory = record_directory(tmp_path)
    assert running_writers(directory) == frozenset()
    first, second = start_host(tmp_path), start_host(tmp_path)
    try:
        both = running_writers(directory)
        assert len(both) == 2
        end_host(first, number)
        assert len(running_writers(directory)) == 1
        assert running_writers(directory) < both
    finally:
        end_host(second, number)
    assert running_writers(directory) == frozenset()


@pytest.mark.slow
@async_test
async def test_the_bus_tells_when_a_host_of_this_machine_begins_and_ends(tmp_path: Path) -> None:
    async with open_hub(tmp_path, reads_record=True) as hub:
        told: list[dict[str, Any]] = []
        record_events(hub, told)
        host = start_host(tmp_path)
        try:
            await eventually(lambda: [each["type"] for each in told] == ["host_up"])
            [running] = [each for each in (await hub.origins.all()) if each.running]
            assert (told[0]["payload"]["id"], told[0]["payload"]["pid"]) == (running.id, host.pid)
        finally:
            end_host(host, signal.SIGKILL)
        await eventually(lambda: [each["type"] for each in told] == ["host_up", "host_down"])
        assert (told[1]["payload"]["reason"], told[1]["payload"]["running"]) == ("ended", False)


def record_events(hub: Hub, told: list[dict[str, Any]]) -> None:
    publish = hub.bus.server.emit

    async def emit(name: str, data: Any, **more: Any) -> None:
        if name == "event":
            told.append(data)
        await publish(name, data, **more)

    hub.bus.server.emit = emit


@async_test
async def test_only_a_process_that_reported_runs_and_each_change_is_told_once(tmp_path: Path) -> None:
    told, clock = Told(), Clock()
    async with open_hub(tmp_path) as hub:
        watch = HostWatch(hub.origins, told.publish, clock)
        await watch.look({"a" * 16})
        assert told.take() == []
        await hub.intake.take([Writer("a" * 16).start(), Writer("b" * 16).start()])
        await watch.look({"a" * 16})
        await watch.look({"a" * 16})
        assert told.take() == [("host_up", "a", "")]
        await watch.look({"b" * 16})
        assert told.take() == [("host_up", "b", ""), ("host_down", "a", "ended")]
        await watch.look(set())
        await watch.look(set())
        assert told.take() == [("host_down", "b", "ended")]


@async_test
async def test_a_host_of_which_nobody_says_that_it_runs_has_ended(tmp_path: Path) -> None:
    told, clock = Told(), Clock()
    async with open_hub(tmp_path) as hub:
        watch = HostWatch(hub.origins, told.publish, clock)
        await hub.intake.take([Writer("a" * 16).start()], key="k")
        await watch.note(["a" * 16], [], "k")
        clock.now += SILENT_SECONDS - 1
        await watch.note(["a" * 16], [], "k")
        clock.now += SILENT_SECONDS - 1
        await watch.end_silent()
        assert told.take() == [("host_up", "a", "")]
        clock.now += 2
        started = HostWatch(hub.origins, told.publish, clock)
        await started.end_silent()  # it started just now
        assert told.take() == []
        await watch.end_silent()
        await watch.end_silent()
        assert told.take() == [("host_down", "a", "silent")]
        await watch.note(["a" * 16], [], "k")
        assert told.take() == [("host_up", "a", "")]


@async_test
async def test_a_machine_speaks_of_its_own_processes_only(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        machine = Client(hub, await token_of(hub, Role.REPORTER))
        other = Client(hub, (await hub.access.add_key("another machine"))[0])
        viewer = Client(hub, await token_of(hub, Role.VIEWER))

        async def is_running() -> bool:
            [host] = (await viewer.get("/hosts")).json()["items"]
            return bool(host["running"])

        body = Writer().start() + b'\n{"running":["aaaaaaaaaaaaaaaa"],"ended":[]}\n'
        assert (await machine.post("/report", headers=LINES, content=body)).json()["taken"] == 1
        assert await is_running()
        await other.post("/report", headers=LINES, content=b'{"running":[],"ended":["aaaaaaaaaaaaaaaa"]}\n')
        assert await is_running()
        await machine.post("/report", headers=LINES, content=b'{"running":[],"ended":["aaaaaaaaaaaaaaaa"]}\n')
        assert not await is_running()
        await other.post("/report", headers=LINES, content=b'{"running":["aaaaaaaaaaaaaaaa"],"ended":[]}\n')
        assert not await is_running()


@async_test
async def test_what_is_not_a_list_of_processes_is_refused(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        machine = Client(hub, await token_of(hub, Role.REPORTER))
        for line in (b'{"running":1,"ended":[]}', b'{"running":[]}', b'{"running":["x"],"ended":[]}', b'{"running":['):
            assert (await machine.post("/report", headers=LINES, content=line)).status_code == 422
