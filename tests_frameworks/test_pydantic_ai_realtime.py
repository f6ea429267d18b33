"""Realtime sessions of pydantic-ai, which make no requests: hooks see only their tools."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic_ai import Agent
from pydantic_ai.capabilities import NativeTool
from pydantic_ai.native_tools import WebSearchTool
from pydantic_ai.realtime import RealtimeModel, RealtimeTurnCompleteEvent
from pydantic_ai.realtime.codec import OutputTranscript, RealtimeConnection, ResponseDone, ToolCall
from pydantic_ai.realtime.lifecycle import InferredLifecycle
from trial import CONFIG, record

from hookline.frameworks.pydantic_ai import HooklineCapability, RunStopped

pytestmark = pytest.mark.filterwarnings("ignore:Capability `HooklineCapability`")
SEARCH = WebSearchTool()


class ScriptedConnection(RealtimeConnection):
    """Answers each input with the next call, and with a word after the last."""

    def __init__(self, commands: list[str], sent: list[Any]) -> None:
        self.commands, self.sent = commands, sent
        self.events, self.lifecycle = asyncio.Queue[list[Any]](), InferredLifecycle()

    async def send(self, content: Any) -> Any:
        with self.lifecycle.sending(content):
            self.sent.append(content)
        if self.commands:
            arguments = json.dumps({"command": self.commands.pop(0)})
            await self.events.put([ToolCall(f"c{len(self.sent)}", tool_name="bash", args=arguments)])
        else:
            await self.events.put([OutputTranscript(text="done"), ResponseDone()])
        return self.lifecycle.take_pending()

    async def frames(self) -> AsyncIterator[Any]:
        while True:
            yield self.lifecycle.frame_for(await self.events.get())


class ScriptedModel(RealtimeModel):
    model_name = "scripted"
    system = "scripted"

    def __init__(self, *commands: str) -> None:
        super().__init__(profile={"supported_native_tools": frozenset({WebSearchTool})})
        self.commands, self.sent = list(commands), list[Any]()

    @classmethod
    def supported_native_tools(cls) -> frozenset[type]:
        return frozenset({WebSearchTool})

    @asynccontextmanager
    async def connect(self, **more: Any) -> AsyncIterator[ScriptedConnection]:
        yield ScriptedConnection(self.commands, self.sent)


def converse(model: ScriptedModel, *more: Any, native_tools: Any = None, **options: Any) -> list[str]:
    """What ran."""
    ran: list[str] = []
    hooks = HooklineCapability(**{"config": CONFIG, **options})
    agent = Agent(capabilities=[hooks, *more])

    @agent.tool_plain
    def bash(command: str) -> str:
        """Runs a command."""
        ran.append(command)
        return f"ran {command} s3cret"

    async def go() -> None:
        async with agent.realtime(model).session() as session:
            await session.send("Go.")
            async for event in session:
                if isinstance(event, RealtimeTurnCompleteEvent):
                    return

    if native_tools is None:
        asyncio.run(asyncio.wait_for(go(), 60))
    else:
        with agent.override(native_tools=native_tools):
            asyncio.run(asyncio.wait_for(go(), 60))
    hooks.close()
    return ran


def test_tools_are_decided_about_and_masked() -> None:
    model = ScriptedModel("echo plain", "rm x", "git push", "echo halt-me", "echo a")
    assert converse(model) == ["echo altered"]
    results = [str(each) for each in model.sent[1:]]
    assert "ran echo altered ***" in results[0]
    assert "Not rm. (hook no-rm, " in results[1]
    assert "This pushes." in results[2]
    assert "Enough." in results[3]
    assert "s3cret" not in str(results)
    assert [each["event"] for each in record()].count("tool.before") >= 4


@pytest.mark.parametrize("is_override", [False, True])
def test_tools_that_the_provider_runs_are_refused(is_override: bool) -> None:
    model = ScriptedModel("echo a")
    more: Any = {"native_tools": [SEARCH]} if is_override else {}
    with pytest.raises(RunStopped, match="WebSearchTool"):
        converse(model, *([] if is_override else [NativeTool(SEARCH)]), **more)
    assert model.sent == []
    assert converse(ScriptedModel("echo a"), NativeTool(SEARCH), allow_hosted=True) == ["echo a"]


def test_hooks_that_a_realtime_session_never_runs_are_named(tmp_path: Any, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "hookline.yaml"
    file.write_text("hooks: [{id: no-secrets, on: prompt.submit, then: {deny: No.}}]")
    with caplog.at_level(logging.WARNING, "hookline"):
        converse(ScriptedModel(), config=file)
    assert "a realtime session of pydantic-ai never fires prompt.submit: no-secrets will not run" in caplog.messages
