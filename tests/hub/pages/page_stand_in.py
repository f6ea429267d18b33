"""A page that answers what the test says, and an agent for it."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

from hookline.hub.access.roles import Caller, Role
from hookline.hub.context.running_hub import Hub
from hookline.hub.pages.attached_page import AttachedPage, PageAddress
from hookline.lazy_dataclasses import replace
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.models.scripted import ScriptedModel, ScriptStep
from hub.hub_sandbox import open_hub

TEST_ENVIRONMENT = {"PATH": os.environ["PATH"]}
ALL_FRAMES = {"hooks": "ok", "agent": "ok", "net": "ok"}
EDITOR = Caller(Role.EDITOR, "somebody")
Answer = Callable[[str, dict[str, Any]], Any]


class PageStandIn:
    """What a browser does: it gets events and answers them, or does not (None)."""

    def __init__(self, session: str, answer: Answer, frames: dict[str, str] | None = None) -> None:
        self.events: list[tuple[str, Any]] = []
        self._answer = answer
        self.page = AttachedPage(self._receive, PageAddress(session, EDITOR))
        self.page.frames = ALL_FRAMES if frames is None else frames

    async def _receive(self, event: str, data: Any, callback: Callable[..., None] | None) -> None:
        self.events.append((event, data))
        if callback is None:
            return
        answer = self._answer(event, data)
        if asyncio.iscoroutine(answer):
            task = asyncio.ensure_future(answer)
            task.add_done_callback(lambda done: callback(done.result()))
        elif answer is not None:
            callback(answer)

    def of_type(self, event: str) -> list[Any]:
        return [data for name, data in self.events if name == event]


def returning(value: Any) -> Answer:
    return lambda event, data: {"returned": json.dumps(value)}


def open_page_hub(directory: Path, **settings: Any) -> AbstractAsyncContextManager[Hub]:
    """With a home of its own."""
    return open_hub(directory, home=directory, env=TEST_ENVIRONMENT, **settings)


async def add_agent(hub: Hub, name: str = "Painter", network: tuple[str, ...] = ()) -> Path:
    """The directory of a new browser agent."""
    row = await hub.agents.add("me", name=name, prompt="", model="", tools=[], network=list(network))
    return Path(row.workspace)


@asynccontextmanager
async def open_agent(hub: Hub, *steps: ScriptStep | str, **settings: Any) -> AsyncIterator[AgentSession]:
    """A session of a new browser agent, whose model says these steps."""
    runtime = await hub.runtimes.get(await add_agent(hub, **settings))
    runtime._settings = replace(runtime._settings, model=ScriptedModel(steps))
    yield await runtime.start()
