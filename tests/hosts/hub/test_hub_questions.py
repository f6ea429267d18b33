"""A host asks, and never waits longer than it can."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.hosts.hub import hub_questions
from hookline.hosts.hub.hub_file import JoinedHub
from hookline.hosts.hub.hub_questions import HubQuestion, ask_hub
from hookline.hosts.hub.running_hubs import find_hub
from hookline.hub.context.running_hub import Hub
from hub.hub_process import serve_hub
from hub.hub_sandbox import async_test, eventually

QUESTION = HubQuestion("codex", "s1", "Bash", {"command": "git push"}, "Really?", "ask-push", can_edit=True)
MINUTE = timedelta(minutes=1)


def joined(directory: Path) -> JoinedHub:
    found = find_hub(directory)
    assert found is not None
    return found


async def waiting(hub: Hub) -> dict[str, Any]:
    await eventually(lambda: hub.approvals.waiting())
    (found,) = await hub.approvals.waiting()
    return found


@async_test
async def test_nobody_answers_in_time(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        begun = time.monotonic()
        assert await ask_hub(joined(tmp_path), QUESTION, timedelta(seconds=0.5)) is None
        assert time.monotonic() - begun < 20
        await eventually(lambda: _has_state(hub, "expired"))


async def _has_state(hub: Hub, state: str) -> bool:
    return any(each["state"] == state for each in await hub.approvals.history(10, None))


@async_test
async def test_a_host_that_gives_up_withdraws_its_question(tmp_path: Path) -> None:
    async with serve_hub(tmp_path) as (hub, _):
        asking = asyncio.ensure_future(ask_hub(joined(tmp_path), QUESTION, MINUTE))
        await waiting(hub)
        asking.cancel()
        await asyncio.wait([asking])
        await eventually(lambda: _has_state(hub, "withdrawn"))


@async_test
async def test_without_a_hub_nothing_waits(tmp_path: Path) -> None:
    begun = time.monotonic()
    gone = JoinedHub("http://127.0.0.1:9", "key")
    assert await ask_hub(gone, QUESTION, MINUTE) is None
    assert time.monotonic() - begun < 20


class SlowHub:
    """Stores a question after some seconds, and says yes to it."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError), contextlib.closing(writer):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)content-length: (\d+)", head)
                await reader.readexactly(int(length[1]) if length else 0)
                is_question = head.startswith(b"POST")
                if is_question:
                    await asyncio.sleep(self._seconds)
                body = b'{"id": "q1"}' if is_question else b'{"state": "approved", "by": "ann"}'
                status = b"201 Created" if is_question else b"200 OK"
                writer.write(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))
                await writer.drain()


@pytest.mark.slow
@pytest.mark.parametrize(("patience", "approved"), [(60, True), (1, False)])
@async_test
async def test_a_busy_hub_gets_time_to_store_a_question(patience: int, approved: bool) -> None:
    async with asyncio.timeout(30), await asyncio.start_server(SlowHub(7).answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        hub = JoinedHub(f"http://127.0.0.1:{port}", "key")
        answer = await ask_hub(hub, QUESTION, timedelta(seconds=patience))
    assert (answer is not None and answer.approved) is approved


class KilledHub:
    """Takes a question and ends before it answers; nobody listens for a while, then it is back and knows the question."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self._server: asyncio.Server | None = None

    async def start(self, port: int = 0) -> int:
        self._server = await asyncio.start_server(self._answer, "127.0.0.1", port)
        return int(self._server.sockets[0].getsockname()[1])

    def close(self) -> None:
        assert self._server is not None
        self._server.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError), contextlib.closing(writer):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = re.search(rb"(?i)content-length: (\d+)", head)
                sent = await reader.readexactly(int(length[1]) if length else 0)
                if head.startswith(b"POST"):
                    self.ids.append(json.loads(sent)["id"])
                    if len(self.ids) == 1:
                        self.close()
                        return
                body = json.dumps({"id": self.ids[0], "state": "approved", "by": "ann"}).encode()
                status = b"201 Created" if head.startswith(b"POST") else b"200 OK"
                writer.write(b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))
                await writer.drain()


@async_test
async def test_a_question_waits_for_a_hub_that_ended_before_it_said_that_it_has_it() -> None:
    hub = KilledHub()
    port = await hub.start()
    asking = asyncio.ensure_future(ask_hub(JoinedHub(f"http://127.0.0.1:{port}", "key"), QUESTION, MINUTE))
    await eventually(lambda: hub.ids)
    await asyncio.sleep(1.2)  # at least one try finds nobody there
    assert not asking.done()
    await hub.start(port)
    answer = await asking
    assert answer is not None
    assert answer.approved
    assert len(hub.ids) > 1
    assert len(set(hub.ids)) == 1
    hub.close()


@async_test
async def test_a_host_does_not_wait_for_ever_for_a_hub_that_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub_questions, "_RESTART_SECONDS", 1.0)
    hub = KilledHub()
    port = await hub.start()
    async with asyncio.timeout(20):
        assert await ask_hub(JoinedHub(f"http://127.0.0.1:{port}", "key"), QUESTION, MINUTE) is None
