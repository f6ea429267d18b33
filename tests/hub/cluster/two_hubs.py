"""Two hubs on one PostgreSQL, with Redis between them, and their clients."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

from hookline.hub.access.roles import Role
from hookline.hub.context.running_hub import Hub
from hookline.lazy_dataclasses import dataclass, replace
from hookline.runtime.models.scripted import ScriptedModel, ScriptStep
from hub.cluster.temporary_redis import NO_REDIS, TemporaryRedis, is_installed, running_redis
from hub.hub_process import Socket, serve_hub
from hub.hub_sandbox import eventually, token_of
from hub.pages.page_stand_in import TEST_ENVIRONMENT
from runtime.storage import temporary_postgres
from runtime.storage.conftest import NO_POSTGRES

NEEDS_REDIS = [pytest.mark.slow, pytest.mark.skipif(not is_installed(), reason=NO_REDIS)]


@dataclass(frozen=True, slots=True)
class TwoHubs:
    first: Hub
    second: Hub
    redis: TemporaryRedis
    store: str

    async def call(self, hub: Hub, method: str, path: str, role: Role = Role.OWNER, body: Any = None) -> Any:
        headers = {"authorization": f"Bearer {await token_of(self.first, role)}"}
        async with httpx2.AsyncClient(base_url=f"{hub.config.url}/api/v1", headers=headers, timeout=20) as http:
            return await http.request(method, path, json=body)

    async def add_session(self, *steps: ScriptStep | str) -> tuple[str, str]:
        """An agent made at the second hub, and a session of it at the first one."""
        made = (await self.call(self.second, "POST", "/agents", body={"name": "Painter"})).json()
        runtime = await self.first.runtimes.get(Path(made["workspace"]))
        runtime._settings = replace(runtime._settings, model=ScriptedModel(steps))
        started = await self.call(self.first, "POST", "/sessions", body={"agent": made["id"]})
        assert started.status_code == 201, started.text
        return made["id"], started.json()["id"]


@asynccontextmanager
async def two_hubs(directory: Path) -> AsyncIterator[TwoHubs]:
    programs = temporary_postgres.programs()
    if programs is None:
        pytest.skip(NO_POSTGRES)
    with temporary_postgres.running(programs, directory) as socket, running_redis(directory) as redis:
        shared = {
            "store": f"postgresql://tests@/postgres?host={socket}",
            "redis": redis.url,
            "agents_path": directory / "agents",
            "home": directory,
            "env": TEST_ENVIRONMENT,
        }
        places = [directory / name for name in ("one", "two")]
        for place in places:
            place.mkdir()
        async with serve_hub(places[0], **shared) as (first, _), serve_hub(places[1], **shared) as (second, _):
            for hub in (first, second):
                assert hub.bus.fan_out is not None
                await eventually(lambda fan_out=hub.bus.fan_out: fan_out.is_connected)
            yield TwoHubs(first, second, redis, shared["store"])


async def next_event(socket: Socket, kind: str) -> dict[str, Any]:
    while True:
        name, data = await socket.event()
        if name == kind or (name == "event" and data.get("type") == kind):
            return dict(data)
