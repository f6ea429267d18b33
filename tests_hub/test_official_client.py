"""The official Python client of Socket.IO."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest
import socketio
from served_hub import ServedHub, served_hub
from socketio.exceptions import ConnectionError

DECISION = "0123456789abcdef-1"


def report(hub: ServedHub, command: str) -> None:
    facts = {"tool": {"name": "Bash", "input": {"command": command}}}
    record = {
        "id": DECISION,
        "previous": "0" * 64,
        "at": "2026-11-16T20:01:35.458752Z",
        "kind": "decision",
        "event": "tool.before",
        "verdict": "deny",
        "tool": "Bash",
        "facts": facts,
    }
    headers = {"authorization": f"Bearer {hub.key}", "content-type": "application/x-ndjson"}
    request = urllib.request.Request(f"{hub.url}/api/v1/report", json.dumps(record).encode(), headers)
    assert json.load(urllib.request.urlopen(request))["taken"] == 1


def test_it_connects_joins_and_hears_decisions(tmp_path: Path) -> None:
    async def run(hub: ServedHub) -> Any:
        client = socketio.AsyncClient()
        heard: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        client.on("decisions", heard.set_result, namespace="/events")
        await client.connect(hub.url, auth={"token": hub.token}, namespaces=["/events"], transports=["websocket"])
        joined = await client.call("join", {"room": "live"}, namespace="/events")
        assert joined["ok"]
        await asyncio.to_thread(report, hub, "rm -rf /")
        batch = await asyncio.wait_for(heard, 20)
        await client.disconnect()
        return batch

    with served_hub(tmp_path) as hub:
        batch = asyncio.run(run(hub))
        assert [row["what"] for row in batch["items"]] == ["rm -rf /"]


def test_without_a_token_it_is_refused(tmp_path: Path) -> None:
    async def run(hub: ServedHub) -> None:
        client = socketio.AsyncClient()
        try:
            await client.connect(hub.url, auth={"token": "wrong"}, namespaces=["/events"], transports=["websocket"])
        finally:
            await client.disconnect()

    with served_hub(tmp_path) as hub, pytest.raises(ConnectionError):
        asyncio.run(run(hub))


def test_polling_is_refused(tmp_path: Path) -> None:
    """Without the client: it sometimes closes its connection before it has read why it was refused."""
    with served_hub(tmp_path) as hub:
        request = urllib.request.Request(
            f"{hub.url}/socket.io/?transport=polling&EIO=4", headers={"Authorization": f"Bearer {hub.token}"}
        )
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(request)
        with refused.value as answer:
            assert (answer.code, answer.read()) == (400, b'"Invalid transport"')
