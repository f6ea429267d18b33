"""What happens to records while something is broken: nothing that was acknowledged is lost."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from hookline.hosts.hub.running_hubs import local_hubs
from hookline.hub.access.roles import Role
from hookline.hub.intake.chain_check import check_chains
from hookline.record.segment import record_directory
from hookline.record.writer import RecordWriter, encode_record
from hub.hub_process import open_socket, serve_hub
from hub.hub_sandbox import Client, Writer, async_test, eventually, new_database, open_client, open_hub, token_of
from runtime.storage import temporary_postgres
from runtime.storage.conftest import NO_POSTGRES

pytestmark = pytest.mark.slow


class Machine:
    """Reports over HTTP until everything is acknowledged, as a host on another machine does."""

    def __init__(self, url: str, key: str) -> None:
        self.writer = Writer(os.urandom(8).hex())
        self._report = f"{url}/api/v1/report"
        self._headers = {"authorization": f"Bearer {key}", "content-type": "application/x-ndjson"}
        self.acknowledged = 0
        self.failures = 0

    async def send(self, batches: int, size: int = 50) -> None:
        async with httpx2.AsyncClient(timeout=10) as http:
            for _ in range(batches):
                data = b"\n".join(self.writer.call(f"command {number}") for number in range(size))
                while True:
                    try:
                        answer = await http.post(self._report, content=data, headers=self._headers)
                    except httpx2.TransportError:
                        answer = None
                    if answer is not None and answer.status_code == 200:
                        self.acknowledged += answer.json()["taken"]
                        break
                    self.failures += 1
                    await asyncio.sleep(0.1)


@asynccontextmanager
async def running_postgres(directory: Path) -> AsyncIterator[tuple[Path, Path]]:
    programs = temporary_postgres.programs()
    if programs is None:
        pytest.skip(NO_POSTGRES)
    with temporary_postgres.running(programs, directory) as socket:
        yield programs, socket


def restart(programs: Path, directory: Path) -> None:
    """With its connections ended at once, as after a crash."""
    temporary_postgres.stop(programs, directory)
    temporary_postgres.start(programs, directory)


@async_test
async def test_postgres_restarts_and_nothing_acknowledged_is_lost(tmp_path: Path) -> None:
    async with running_postgres(tmp_path) as (programs, socket):
        url = f"postgresql://tests@/postgres?host={socket}"
        async with serve_hub(tmp_path, store=url) as (hub, _):
            key, _ = await hub.access.add_key("a machine")
            machine = Machine(hub.config.url, key)
            sending = asyncio.ensure_future(machine.send(30))
            await eventually(lambda: machine.acknowledged > 200)
            await asyncio.to_thread(restart, programs, socket)
            await sending
            assert machine.acknowledged == 1500
            assert await hub.decisions.size() == 1500
            report = await check_chains(hub.database)
            assert (report.problems, report.missing) == ((), 0)


@async_test
async def test_a_hub_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    """Three writers; kill -9 of the hub and of one writer."""
    directory = record_directory(tmp_path / "hookline")
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "hookline", "hub", "--port", "0", "--store", new_database(tmp_path)]
    writers = [RecordWriter(directory, {"machine": "box"}) for _ in range(3)]
    written = 0
    for _ in range(3):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env) as hub:  # noqa: ASYNC220
            try:
                assert hub.stdout is not None
                await asyncio.to_thread(hub.stdout.readline)
                for number in range(300):
                    for writer in writers:
                        assert writer.write(encode_record({"kind": "decision", "event": "tool.before", "n": number}))
                        written += 1
                    await asyncio.sleep(0.001)
            finally:
                hub.kill()
    async with open_hub(tmp_path / "hookline", store=f"sqlite:///{tmp_path}/hub.db") as last:
        await last.record_intake.look_once()
        assert await last.decisions.size() == written + len(writers)
        report = await check_chains(last.database)
        assert (report.problems, report.missing) == ((), 0)
    for writer in writers:
        writer.close()


@async_test
async def test_a_database_that_is_away_delays_records_and_loses_none(tmp_path: Path) -> None:
    writer = RecordWriter(record_directory(tmp_path), {"machine": "box"})
    async with open_hub(tmp_path, reads_record=True) as hub:
        writer.write(encode_record({"kind": "decision", "n": 1}))

        async def has(count: int) -> bool:
            return await hub.decisions.size() == count

        await eventually(lambda: has(2))
        for suffix in ("", "-wal", "-shm"):
            (tmp_path / f"hub.db{suffix}").rename(tmp_path / f"away{suffix}")
        writer.write(encode_record({"kind": "decision", "n": 2}))
        await eventually(lambda: hub.record_intake.problem != "")
        for suffix in ("", "-wal", "-shm"):
            if (tmp_path / f"hub.db{suffix}").exists():
                (tmp_path / f"hub.db{suffix}").unlink()
            (tmp_path / f"away{suffix}").rename(tmp_path / f"hub.db{suffix}")
        await eventually(lambda: has(3), 30)
        await eventually(lambda: hub.record_intake.problem == "")
    writer.close()


@async_test
async def test_a_full_disk_is_answered_and_the_report_can_be_sent_again(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        key, _ = await hub.access.add_key("a machine")
        machine = Machine(hub.config.url, key)
        await machine.send(1)
        pages = await hub.database.write(lambda connection: connection.exec_driver_sql("PRAGMA page_count").scalar())
        await hub.database.write(
            lambda connection: connection.exec_driver_sql(f"PRAGMA max_page_count = {pages}").scalar()
        )
        sending = asyncio.ensure_future(machine.send(4))
        await eventually(lambda: machine.failures > 2)
        assert [each["part"] for each in hub.problems.list()] == ["reports"]
        viewer = Client(hub, await token_of(hub, Role.VIEWER))
        assert (await viewer.get("/healthz")).json()["problem"] == "records are not taken for now"
        await hub.database.write(
            lambda connection: connection.exec_driver_sql("PRAGMA max_page_count = 1000000").scalar()
        )
        await sending
        assert machine.acknowledged == 250
        assert hub.problems.list() == []
        assert await hub.decisions.size() == 250


@async_test
async def test_a_database_that_cannot_be_written_can_still_be_read(tmp_path: Path) -> None:
    async with open_client(tmp_path) as client:
        await client.hub.intake.take([Writer().call("ls")])
        await client.hub.database.write(lambda connection: connection.exec_driver_sql("PRAGMA query_only = 1"))
        answer = await client.get("/decisions")
        assert (answer.status_code, len(answer.json()["items"])) == (200, 1)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
@async_test
async def test_many_sessions_report_while_consoles_watch(kind: str, tmp_path: Path) -> None:
    """A small form of `python -m bench.hub --load`."""
    async with running_postgres(tmp_path) if kind == "postgresql" else _nothing() as server:
        store = {"store": f"postgresql://tests@/postgres?host={server[1]}"} if server is not None else {}
        async with serve_hub(tmp_path, **store) as (hub, _):
            key, _ = await hub.access.add_key("machines")
            token = await token_of(hub, Role.VIEWER)
            machines = [Machine(hub.config.url, key) for _ in range(10)]
            async with open_socket(hub, token) as first, open_socket(hub, token) as second:
                for console in (first, second):
                    await console.call("join", {"room": "live"})
                await asyncio.gather(*(machine.send(10) for machine in machines))
                assert sum(machine.acknowledged for machine in machines) == 5000
                assert await hub.decisions.size() == 5000
                for console in (first, second):
                    told = 0
                    while told < 5000:
                        _, batch = await console.event()
                        told += len(batch["items"]) + batch["dropped"]
                    assert told == 5000
            store_check = await check_chains(hub.database)
            assert (store_check.problems, store_check.missing) == ((), 0)


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield None


@async_test
async def test_no_secret_is_in_the_log_of_a_hub(tmp_path: Path) -> None:
    env = {**os.environ, "XDG_STATE_HOME": str(tmp_path), "HOOKLINE_LOG": "debug"}
    command = [sys.executable, "-m", "hookline", "hub", "--debug", "--port", "0", "--store", new_database(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as hub:  # noqa: ASYNC220
        assert hub.stdout is not None
        url = (await asyncio.to_thread(hub.stdout.readline)).split()[-1]
        code = (await asyncio.to_thread(hub.stdout.readline)).partition("#enter=")[2].strip()
        key = local_hubs(tmp_path / "hookline")[-1].key
        async with httpx2.AsyncClient(base_url=url) as http:
            token = (await http.post("/api/v1/enter", json={"code": code})).json()["token"]
            headers = {"authorization": f"Bearer {token}"}
            for path in ("/api/v1/me", "/api/v1/nothing", "/api/v1/decisions?q=x", "/api/openapi.json", "/"):
                page = await http.get(path, headers=headers)
                assert not [secret for secret in (code, token, key) if secret in page.text + str(page.headers)]
            for name in (token, key, code):
                await http.get("/api/v1/me", headers={"authorization": f"Bearer {name}"})
        hub.send_signal(signal.SIGINT)
        printed = await asyncio.to_thread(hub.communicate)
    assert not [secret for secret in (code, token, key) if secret in printed[0] + printed[1]]
