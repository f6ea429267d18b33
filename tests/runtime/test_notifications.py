"""What hooks are told when the agent waits for the user."""

from __future__ import annotations

import asyncio
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from bridge_sandbox import wait_for
from hookline.cli.chat.chat import Chat
from hookline.cli.chat.prompt import InputLine
from hookline.cli.chat.render import Screen
from hookline.hosts.python.session import Question
from hookline.runtime.notifications import notify_when_idle
from runtime.scripted_runtime import RecordingModel, open_runtime, run_async, send_prompt, tool_call_step

SETTINGS = json.dumps({"hooks": {"Notification": [{"hooks": [{"type": "command", "command": "cat >> told"}]}]}})


def told(workspace: Path) -> list[tuple[str, str]]:
    lines = (workspace / "told").read_text().splitlines() if (workspace / "told").exists() else []
    return [(each["notification_type"], each["message"]) for each in map(json.loads, lines)]


def test_an_approval_that_waits_is_told(tmp_path: Path) -> None:
    async def yes(question: Question) -> bool:
        return True

    hooks = json.dumps(
        {
            "hooks": {
                **json.loads(SETTINGS)["hooks"],
                "PreToolUse": [{"hooks": [{"type": "command", "command": 'echo \'{"decision": "ask"}\''}]}],
            }
        }
    )

    async def work() -> None:
        model = RecordingModel([tool_call_step(("bash", {"command": "true"})), "done"])
        async with open_runtime(tmp_path, hooks, model=model, file=".claude/settings.json", ask=yes) as (runtime, _):
            await send_prompt(await runtime.start(), "go")

    run_async(work)
    assert told(tmp_path) == [("permission_prompt", "hookline needs your permission to use bash")]


def test_a_chat_that_waits_for_a_prompt_is_told(tmp_path: Path) -> None:
    class Typing(InputLine):
        def __init__(self) -> None:
            self.lines = ["/help", "/exit"]

        async def read(self) -> str:
            if len(self.lines) == 2:
                await asyncio.to_thread(wait_for, lambda: told(tmp_path))
            return self.lines.pop(0)

    async def work() -> None:
        async with open_runtime(tmp_path, SETTINGS, file=".claude/settings.json") as (runtime, _):
            chat = Chat(Screen(Console(file=io.StringIO())))
            chat.runtime, chat.session = runtime, await runtime.start()
            await chat.talk(Typing())

    run_async(work)
    assert told(tmp_path)[0] == ("idle_prompt", "hookline is waiting for your input")


def test_a_prompt_that_comes_in_time_cancels_it(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, SETTINGS, file=".claude/settings.json") as (runtime, _):
            waiting = asyncio.ensure_future(notify_when_idle((await runtime.start()).main))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting

    run_async(work)
    assert told(tmp_path) == []
