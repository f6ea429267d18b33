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


Answer = str | dict[str, Any]
"""What the model says: text, or the input of a call of read_file."""


def delta(answer: Answer) -> dict[str, Any]:
    if isinstance(answer, str):
        return {"index": 0, "delta": {"content": answer}, "finish_reason": "stop"}
    function = {"name": answer.get("tool", "read_file"), "arguments": json.dumps(answer["input"])}
    call = {"index": 0, "id": "call_1", "type": "function", "function": function}
    return {"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}


async def with_model(
    desk: BridgeSandbox, answer: Answer | list[Answer], work: Callable[[list[bytes]], Awaitable[None]]
) -> None:
    """Serves Chat Completions on the loopback interface, and names it in the user's file. The last answer is repeated."""
    answers = answer if isinstance(answer, list) else [answer]
    got: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        got.append(await reader.readexactly(length))
        shape = {"id": "1", "object": "chat.completion.chunk", "created": 1, "model": "m"}
        choice = delta(answers[min(len(got), len(answers)) - 1])
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


@pytest.mark.parametrize("type_", ["prompt", "agent"])
def test_without_a_model_a_hook_before_a_tool_holds_the_call_and_is_told_once(desk: BridgeSandbox, type_: str) -> None:
    write_settings(desk, hook={**ASK, "type": type_})
    for _ in range(2):
        answer = asyncio.run(reply(desk))
        assert answer["hookSpecificOutput"]["permissionDecision"] == "deny"  # Codex cannot ask
        assert json.dumps(answer).count(NO_MODEL) == 1


def read(path: str) -> dict[str, Any]:
    return {"input": {"path": path}}


def last_result(request: bytes) -> str:
    return str(json.loads(request)["messages"][-1]["content"])


INVESTIGATE = {"type": "agent", "prompt": "Is it tested? $ARGUMENTS"}
NO: list[Answer] = ['{"ok": false, "reason": "There is no test."}']


def test_an_agent_hook_reads_files_before_it_answers(desk: BridgeSandbox) -> None:
    write_settings(desk, hook=INVESTIGATE)
    (desk.project / "notes.txt").write_text("nothing is tested\n")

    async def work(got: list[bytes]) -> None:
        specific = (await reply(desk))["hookSpecificOutput"]
        assert specific["permissionDecision"] == "deny"
        assert specific["permissionDecisionReason"].startswith("There is no test.")
        assert b"rm a" in got[0]
        tools = {tool["function"]["name"] for tool in json.loads(got[0])["tools"]}
        assert tools == {"read_file", "list_directory", "glob", "grep"}
        assert last_result(got[1]) == "nothing is tested\n"

    asyncio.run(with_model(desk, [read("notes.txt"), *NO], work))


@pytest.mark.parametrize(
    ("call", "why"),
    [
        (read(".env"), "keep out"),
        (read("./x/../.env"), "keep out"),
        (read("../secret"), "outside the workspace"),
        (read("link"), "outside the workspace"),
        ({"tool": "write_file", "input": {"path": "a", "content": "x"}}, "there is no tool"),
        ({"tool": "bash", "input": {"command": "touch a"}}, "there is no tool"),
        ({"input": {"path": 1}}, "path is not a string"),
    ],
)
def test_an_agent_hook_reads_only_what_the_hooks_allow(desk: BridgeSandbox, call: dict[str, Any], why: str) -> None:
    write_settings(desk, hook=INVESTIGATE)
    (desk.project / ".env").write_text("KEY=1\n")
    (desk.root / "secret").write_text("KEY=1\n")
    (desk.project / "link").symlink_to(desk.root / "secret")
    (desk.project / "x").mkdir()

    async def work(got: list[bytes]) -> None:
        desk.write_hooks(
            "hooks:\n  - {id: env, on: tool.before, when: {input: {path: '\\.env$'}}, then: {deny: keep out}}\n"
        )
        assert (await reply(desk))["hookSpecificOutput"]["permissionDecision"] == "deny"
        assert why in last_result(got[1])
        assert "KEY" not in str(got)
        assert not (desk.project / "a").exists()

    asyncio.run(with_model(desk, [call, *NO], work))


def test_what_an_agent_hook_reads_is_redacted_first(desk: BridgeSandbox) -> None:
    write_settings(desk, hook=INVESTIGATE)
    (desk.project / "notes.txt").write_text("token sk-123 here\n")

    async def work(got: list[bytes]) -> None:
        hook = "{id: hide, on: tool.after, then: {replace: {in: tool.result, pattern: 'sk-[0-9]+', with: '***'}}}"
        desk.write_hooks(f"hooks:\n  - {hook}\n", trusted=True)
        await reply(desk)
        assert last_result(got[1]) == "token *** here\n"

    asyncio.run(with_model(desk, [read("notes.txt"), *NO], work))


def test_an_agent_hook_that_never_answers_stops_the_call(desk: BridgeSandbox) -> None:
    write_settings(desk, hook=INVESTIGATE)

    async def work(got: list[bytes]) -> None:
        specific = (await reply(desk))["hookSpecificOutput"]
        assert specific["permissionDecision"] == "deny"  # Codex cannot ask
        assert "within 50 turns" in specific["permissionDecisionReason"]
        assert len(got) == 50

    asyncio.run(with_model(desk, [read("notes.txt")], work))


def test_an_agent_hook_that_takes_too_long_stops_the_call(desk: BridgeSandbox) -> None:
    write_settings(desk, hook={**INVESTIGATE, "timeout": 0.3})
    (desk.project / "notes.txt").write_text("x")

    async def work(got: list[bytes]) -> None:
        desk.write_hooks(
            "hooks:\n  - {id: slow, on: tool.before, when: {tool: read_file}, then: {run: sleep 30}}\n", trusted=True
        )
        assert (await reply(desk))["hookSpecificOutput"]["permissionDecision"] == "deny"
        assert len(got) == 1

    asyncio.run(with_model(desk, [read("notes.txt"), '{"ok": true}'], work))


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
