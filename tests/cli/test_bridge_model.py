"""Hooks that ask a model, in a coding agent."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from bridge_sandbox import BridgeSandbox
from hookline.cli.bridge_model import ask_user_model
from hookline.hosts.bridge.hook_cache import LoadOnce
from hookline.hosts.bridge.responder import respond

NO_MODEL = "needs a model; write `models: {prompt_hooks: provider:model}`"
NO_SUBAGENT = "needs a subagent, which only Claude Code has"
ASK = {"type": "prompt", "prompt": "Is it safe? $ARGUMENTS"}


@pytest.fixture
def desk(tmp_path: Path) -> BridgeSandbox:
    made = BridgeSandbox(tmp_path)
    for directory in (made.home, made.project, tmp_path / "run"):
        directory.mkdir()
    return made


def write_settings(desk: BridgeSandbox, event: str = "PreToolUse", hook: dict[str, Any] = ASK) -> None:
    (desk.home / ".claude").mkdir()
    (desk.home / ".claude/settings.json").write_text(json.dumps({"hooks": {event: [{"hooks": [hook]}]}}))


async def reply(desk: BridgeSandbox, event: str = "PreToolUse", **more: Any) -> dict[str, Any]:
    call = desk.call(desk.payload("rm a", **more), event, agent="codex")
    found: dict[str, Any] = json.loads((await respond(call, LoadOnce(ask_user_model))).stdout or "{}")
    return found


async def with_model(desk: BridgeSandbox, answer: str, work: Callable[[list[bytes]], Awaitable[None]]) -> None:
    """Serves Chat Completions on the loopback interface, and names it in the user's file."""
    got: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        got.append(await reader.readexactly(length))
        shape = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        choice = {"index": 0, "delta": {"content": answer}, "finish_reason": "stop"}
        body = f"data: {json.dumps({**shape, 'choices': [choice]})}\n\ndata: [DONE]\n\n".encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n" + body)
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        desk.write_hooks(f"models: {{prompt_hooks: 'openai-chat:m@http://127.0.0.1:{port}/v1'}}\n", users=True)
        await work(got)


def test_a_prompt_hook_asks_the_users_model(desk: BridgeSandbox) -> None:
    write_settings(desk)

    async def denied(got: list[bytes]) -> None:
        specific = (await reply(desk))["hookSpecificOutput"]
        assert specific["permissionDecision"] == "deny"
        assert specific["permissionDecisionReason"].startswith("It deletes.")
        assert b"rm a" in got[0]

    async def allowed(got: list[bytes]) -> None:
        assert await reply(desk) == {}
        assert len(got) == 1

    asyncio.run(with_model(desk, '{"ok": false, "reason": "It deletes."}', denied))
    asyncio.run(with_model(desk, '{"ok": true}', allowed))


@pytest.mark.parametrize(("type_", "why"), [("prompt", NO_MODEL), ("agent", NO_SUBAGENT)])
def test_without_a_model_a_hook_before_a_tool_holds_the_call_and_is_told_once(
    desk: BridgeSandbox, type_: str, why: str
) -> None:
    write_settings(desk, hook={**ASK, "type": type_})
    for _ in range(2):
        answer = asyncio.run(reply(desk))
        assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"  # Codex cannot ask
        assert json.dumps(answer).count(why) == 1


def test_without_a_model_a_hook_at_a_prompt_keeps_it_from_the_agent(desk: BridgeSandbox) -> None:
    write_settings(desk, "UserPromptSubmit")
    answer = asyncio.run(reply(desk, "UserPromptSubmit", prompt="hello"))
    assert answer["decision"] == "block"
    assert NO_MODEL in answer["reason"]


def test_without_a_model_the_agent_can_stop(desk: BridgeSandbox) -> None:
    write_settings(desk, "Stop")
    first, second = asyncio.run(reply(desk, "Stop")), asyncio.run(reply(desk, "Stop"))
    assert NO_MODEL in first["systemMessage"]
    assert "decision" not in first
    assert json.dumps(second).count(NO_MODEL) == 0


def test_the_action_judge_asks_the_users_model_too(desk: BridgeSandbox) -> None:
    async def work(got: list[bytes]) -> None:
        desk.write_hooks("hooks:\n  - {id: safe, on: tool.before, then: {judge: Is it safe?}, on_error: open}\n")
        assert (await reply(desk))["hookSpecificOutput"]["permissionDecisionReason"].startswith("It deletes.")

    asyncio.run(with_model(desk, '{"ok": false, "reason": "It deletes."}', work))


def test_a_project_cannot_name_the_model(desk: BridgeSandbox) -> None:
    write_settings(desk)

    async def work(got: list[bytes]) -> None:
        users = desk.home / ".config/hookline/hookline.yaml"
        desk.write_hooks(users.read_text())
        users.unlink()
        assert NO_MODEL in json.dumps(await reply(desk))
        assert got == []

    asyncio.run(with_model(desk, '{"ok": true}', work))
