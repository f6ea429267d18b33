"""Runs a trial with the Claude Agent SDK: the real Claude Code, with a scripted model on the loopback interface."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from claude_agent_sdk import (
    ClaudeAgentOptions,
    ClaudeSDKClient,
    PermissionResultAllow,
    PermissionResultDeny,
    ResultMessage,
    create_sdk_mcp_server,
    tool,
)
from trial import Trial

from hookline.frameworks.claude_agent_sdk import HooklineHooks

PAUSES = True
CANNOT = {"errors": "Claude Code does not take another error from a hook"}
TOOL = "mcp__t__bash"


class Server(ThreadingHTTPServer):
    trial: Trial


class Handler(BaseHTTPRequestHandler):
    server: Server

    def log_message(self, *_: Any) -> None: ...

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        offered = [each["name"] for each in request.get("tools", ())]
        if TOOL not in offered:  # a title, or a count of tokens
            return self._stream([("text", "x")])
        step = self.server.trial.next_step(json.dumps(request["messages"], ensure_ascii=False))
        if isinstance(step, str):
            return self._stream([("text", step)])
        at = len(self.server.trial.requests)
        return self._stream([("tool", f"toolu_{at}_{i}", command) for i, command in enumerate(step)])

    def _stream(self, blocks: list[Any]) -> None:
        usage = {"input_tokens": 10, "output_tokens": 5}
        empty = {"id": "msg_1", "type": "message", "role": "assistant", "model": "scripted", "content": []}
        events: list[Any] = [{"type": "message_start", "message": {**empty, "stop_reason": None, "usage": usage}}]
        for at, block in enumerate(blocks):
            if block[0] == "text":
                start, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": block[1]}
            else:
                start = {"type": "tool_use", "id": block[1], "name": TOOL, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps({"command": block[2]})}
            events += [
                {"type": "content_block_start", "index": at, "content_block": start},
                {"type": "content_block_delta", "index": at, "delta": delta},
                {"type": "content_block_stop", "index": at},
            ]
        reason = "tool_use" if blocks[0][0] == "tool" else "end_turn"
        events.append(
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
        )
        events.append({"type": "message_stop"})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for event in events:
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())


def run(trial: Trial) -> None:
    _run(trial, in_bypass=False)


def run_bypassing_permissions(trial: Trial) -> None:
    """Claude Code allows everything by itself."""
    _run(trial, in_bypass=True)


def _run(trial: Trial, in_bypass: bool) -> None:
    hooks = HooklineHooks(**trial.options)

    async def can_use_tool(name: str, input: Any, context: Any) -> Any:
        trial.asked.append("This pushes." if "push" in str(input) else str(input))
        return PermissionResultAllow() if trial.approves else PermissionResultDeny(message="This pushes. No.")

    permissions = {
        "permission_mode": "bypassPermissions" if in_bypass else "default",
        "can_use_tool": None if trial.approves is None else can_use_tool,
    }
    try:
        with scripted_options(trial, hooks=hooks, **permissions) as options:
            asyncio.run(_converse(trial, options))
    finally:
        hooks.close()


@contextmanager
def scripted_options(trial: Trial, **more: Any) -> Iterator[ClaudeAgentOptions]:
    """Options for a Claude Code that has a home of its own, the trial's tool and the trial's model."""

    properties = {"command": {"type": "string"}, "mode": {"type": "string", "default": "own"}}

    @tool("bash", "Runs a command.", {"type": "object", "properties": properties, "required": ["command"]})
    async def bash(arguments: dict[str, Any]) -> dict[str, Any]:
        text = trial.bash(arguments["command"], arguments.get("mode", "own"))
        return {"content": [{"type": "text", "text": text}]}

    server = Server(("127.0.0.1", 0), Handler)
    server.trial = trial
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory() as home:
        try:
            yield ClaudeAgentOptions(
                mcp_servers={"t": create_sdk_mcp_server("t", tools=[bash])},
                tools=[],
                allowed_tools=[TOOL],
                cwd=home,
                env={
                    "HOME": home,
                    "CLAUDE_CONFIG_DIR": f"{home}/.claude",
                    "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{server.server_port}",
                    "ANTHROPIC_API_KEY": "none",
                    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
                    "IS_SANDBOX": "1",
                    "ENABLE_TOOL_SEARCH": "false",
                    "PATH": os.environ["PATH"],
                },
                **more,
            )
        finally:
            server.shutdown()
            server.server_close()


async def _converse(trial: Trial, options: ClaudeAgentOptions) -> None:
    async with ClaudeSDKClient(options) as client:
        await client.query(trial.prompt)
        async for message in client.receive_response():
            text = str(message)
            if isinstance(message, ResultMessage):
                trial.final = message.result or ""
            if "Enough." in text or "password" in text or "All stop." in text:
                trial.halted += text


PATHS = {"client": run, "bypassing permissions": run_bypassing_permissions}
AGENT_PATHS = ("client",)
