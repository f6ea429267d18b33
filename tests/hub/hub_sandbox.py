"""A hub of a test's own, its clients, and records that a host wrote."""

from __future__ import annotations

import asyncio
import inspect
import itertools
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from functools import cache, wraps
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import httpx2

from hookline.hub.access.roles import Role
from hookline.hub.config.hub_config import HubConfig
from hookline.hub.context.running_hub import Hub
from hookline.hub.hub_app import create_app
from hookline.record.hash_chain import FIRST, line_hash
from hookline.record.writer import encode_record
from hookline.runtime.storage.store import Store, file_url

PORT = 8765
HOST = f"127.0.0.1:{PORT}"
ORIGIN = f"http://{HOST}"


def async_test(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        async def within() -> None:
            async with asyncio.timeout(60):
                await test(*args, **kwargs)

        asyncio.run(within())

    return run


async def eventually(condition: Callable[[], Any], seconds: float = 20) -> None:
    """Waits until the condition, which may be async, is true."""
    deadline = asyncio.get_running_loop().time() + seconds
    for pause in itertools.repeat(0.01):
        answer = condition()
        if await answer if inspect.isawaitable(answer) else answer:
            return
        assert asyncio.get_running_loop().time() < deadline, "it did not happen in time"
        await asyncio.sleep(pause)


@cache
def _empty_database() -> Path:
    """Creating the tables takes a second, copying them none."""
    file = Path(mkdtemp(prefix="hookline-hub-")) / "empty.db"

    async def create() -> None:
        await (await Store.open(file_url(file))).close()

    run_apart(create)
    return file


def run_apart(work: Callable[[], Awaitable[None]]) -> None:
    """Also from within a running loop."""
    from threading import Thread

    async def whole() -> None:
        await work()

    thread = Thread(target=lambda: asyncio.run(whole()))
    thread.start()
    thread.join()


def new_database(directory: Path) -> str:
    shutil.copy(_empty_database(), directory / "hub.db")
    return file_url(directory / "hub.db")


def hub_config(directory: Path, **settings: Any) -> HubConfig:
    settings.setdefault(
        "store", new_database(directory) if not (directory / "hub.db").exists() else file_url(directory / "hub.db")
    )
    settings.setdefault("reads_record", False)
    settings.setdefault("record_keep", timedelta(days=100_000))  # records of tests have fixed times
    return HubConfig(state=directory, port=PORT, **settings)


@asynccontextmanager
async def open_hub(directory: Path, **settings: Any) -> AsyncIterator[Hub]:
    async with Hub.open(hub_config(directory, **settings)) as hub:
        yield hub


class Client:
    """Calls the hub's app without a network, like a program on this machine."""

    def __init__(self, hub: Hub, token: str = "") -> None:
        self.hub = hub
        headers = {"authorization": f"Bearer {token}"} if token else {}
        transport = httpx2.ASGITransport(app=create_app(hub), raise_app_exceptions=False)  # type: ignore[arg-type]
        self.http = httpx2.AsyncClient(transport=transport, base_url=hub.config.url, headers=headers)

    async def get(self, path: str, **more: Any) -> httpx2.Response:
        return await self.http.get(f"/api/v1{path}", **more)

    async def post(self, path: str, json: Any = None, **more: Any) -> httpx2.Response:
        return await self.http.post(f"/api/v1{path}", json=json, **more)

    async def delete(self, path: str, **more: Any) -> httpx2.Response:
        return await self.http.delete(f"/api/v1{path}", **more)


async def token_of(hub: Hub, role: Role) -> str:
    """A token of somebody with this role."""
    if role is Role.REPORTER:
        return (await hub.access.add_key("a machine"))[0]
    user = await hub.access.table.user_named(f"the {role}") or await hub.access.add_user(f"the {role}", role)
    signed_in = await hub.access.enter(await hub.access.create_code(user))
    assert signed_in is not None
    return signed_in.token


@asynccontextmanager
async def open_client(directory: Path, role: Role = Role.VIEWER, **settings: Any) -> AsyncIterator[Client]:
    async with open_hub(directory, **settings) as hub:
        yield Client(hub, await token_of(hub, role))


class Writer:
    """Writes lines as a host does."""

    def __init__(self, origin: str = "a" * 16) -> None:
        self.origin = origin
        self.number = 0
        self.hash = FIRST

    def line(self, at: str = "2026-11-16T20:01:35.458752Z", **entry: Any) -> bytes:
        self.number += 1
        text = encode_record({"kind": "decision", **entry})
        id = f"{self.origin}-{self.number}"
        line = f'{{"id":"{id}","previous":"{self.hash}","at":"{at}",{text}'.encode()
        self.hash = line_hash(line)
        return line

    def start(self, machine: str = "box", **more: Any) -> bytes:
        return self.line(kind="start", machine=machine, owner="1000", pid=7, **more)

    def call(self, command: str, verdict: str = "silent", **more: Any) -> bytes:
        """A decision about a shell command."""
        facts = {"tool": {"name": "Bash", "input": {"command": command}}, "cwd": "/work"}
        entry = {"event": "tool.before", "host": "claude-code", "session": "s1", "tool": "Bash", "facts": facts}
        return self.line(**{**entry, "verdict": verdict, "ms": 0.2, "hooks": "0" * 64, **more})
