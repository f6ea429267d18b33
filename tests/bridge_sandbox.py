"""What the tests of the bridge share: a desk at which an agent works, and its answers."""

from __future__ import annotations

import json
import os
import re
import socket
import struct
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hookline.hosts.bridge import client
from hookline.hosts.bridge.protocol import AgentCall
from hookline.project import Trust, find_sources, trust_file_path

GUARD = "hooks:\n  - {id: no-rm, on: tool.before, when: {tool: bash, input: {command: 'rm'}}, then: {deny: Never.}}\n"


@dataclass
class BridgeSandbox:
    """A user's home, a project and a place for the engine, with short names: a socket's path is short."""

    root: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.root / "home"

    @property
    def project(self) -> Path:
        return self.root / "p"

    @property
    def runtime_directory(self) -> Path:
        return self.root / "run" / "hookline"

    @property
    def environment(self) -> dict[str, str]:
        kept = {"PATH": os.environ["PATH"], "CLAUDECODE": "1"}
        return {**kept, "HOME": str(self.home), "XDG_RUNTIME_DIR": str(self.root / "run"), **self.variables}

    def write_hooks(self, text: str, *, users: bool = False, trusted: bool = True) -> None:
        """A project's hooks are trusted at once, unless the test is about that."""
        path = self.home / ".config" / "hookline" / "hookline.yaml" if users else self.project / "hookline.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        if trusted:
            Trust(trust_file_path(self.home)).accept(find_sources(self.project, self.home))

    def payload(self, command: str = "rm x", **more: Any) -> bytes:
        told = {"session_id": "s", "cwd": str(self.project), "tool_name": "Bash", "tool_input": {"command": command}}
        return json.dumps({**told, **more}).encode()

    def call(self, payload: bytes | None = None, event: str = "PreToolUse", **more: Any) -> AgentCall:
        environment = {os.fsencode(name): os.fsencode(value) for name, value in self.environment.items()}
        data = self.payload() if payload is None else payload
        return AgentCall(
            **{"agent": "claude-code", "cwd": str(self.project), **more},
            event=event,
            payload=data,
            environment=environment,
        )

    def start_client(self, argv: list[str], *arguments: str) -> subprocess.Popen[bytes]:
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [*argv, *arguments], stdin=pipe, stdout=pipe, stderr=pipe, env=self.environment, cwd=self.project
        )

    def run_client(
        self, argv: list[str], payload: bytes, agent: str = "claude-code", event: str = "PreToolUse"
    ) -> tuple[str, str, int]:
        process = self.start_client(argv, agent, event)
        out, err = process.communicate(payload, timeout=60)
        return out.decode(), err.decode(), process.returncode

    def engine_pid(self) -> int | None:
        """The process that listens."""
        with socket.socket(socket.AF_UNIX) as connection:
            try:
                connection.connect(str(self.runtime_directory / client.SOCKET_NAME))
            except OSError:
                return None
            pid, _, _ = struct.unpack("3i", connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
            return int(pid)


def deny_reason(answer: str) -> str:
    """Of a deny before a tool, in Claude Code's words, without the hook and its place; "" if it is none."""
    said = json.loads(answer).get("hookSpecificOutput", {}) if answer else {}
    reason = str(said["permissionDecisionReason"]) if said.get("permissionDecision") == "deny" else ""
    return re.sub(r" \(hook \S+, \S+:\d+\)$", "", reason)


def wait_for(condition: Callable[[], object], seconds: float = 20) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not come"
        time.sleep(0.01)
