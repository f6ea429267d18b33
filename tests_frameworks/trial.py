"""A trial: a scripted model calls the tool `bash`, and what happened is compared in all frameworks."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
CONFIG = HERE / "hookline.yaml"
FRAMEWORK = os.environ.get("HOOKLINE_FRAMEWORK", "")


@dataclass
class Trial:
    """What the model does, and what is seen while it does it."""

    steps: list[list[str]]  # the commands of each of the model's turns, before its last one
    prompt: str = "Go."
    answers: list[str] = field(default_factory=lambda: ["done"])  # final texts, one for each time it wants to stop
    options: dict[str, Any] = field(default_factory=lambda: {"config": CONFIG})
    approves: bool | None = None  # what a person answers in the framework's own way
    ran: list[str] = field(default_factory=list)
    modes: list[str] = field(default_factory=list)  # of what ran: an argument that the model never gives
    requests: list[str] = field(default_factory=list)  # everything that the model read, one text for each request
    final: str = ""
    halted: str = ""
    asked: list[str] = field(default_factory=list)  # what the person read
    shares_ids: bool = False  # the model gives all calls of a turn the same id
    fails_at: int | None = None  # the request from which on the model cannot be reached

    def bash(self, command: str, mode: str = "own") -> str:
        self.ran.append(command)
        self.modes.append(mode)
        if "fail" in command:
            raise ValueError(f"failed with s3cret: {command}")
        return f"ran {command} s3cret"

    def next_step(self, request: str) -> list[str] | str:
        """What the model says to this request: commands, or its final text."""
        self.requests.append(request)
        at = len(self.requests) - 1
        if self.fails_at is not None and at >= self.fails_at:
            raise ConnectionError("the model cannot be reached")
        if at < len(self.steps):
            return self.steps[at]
        return self.answers[min(at - len(self.steps), len(self.answers) - 1)]

    def call_id(self, index: int) -> str:
        """Of a call in the model's current turn."""
        return f"c{len(self.requests)}" if self.shares_ids else f"c{len(self.requests)}-{index}"

    @property
    def read_last(self) -> str:
        """What the model read in its last request."""
        return self.requests[-1] if self.requests else ""


def driver() -> Any:
    """The module that knows how to run a trial in this environment's framework."""
    return importlib.import_module(f"driver_{FRAMEWORK}")


def record() -> list[dict[str, Any]]:
    """What `hookline log` shows a user."""
    done = subprocess.run(
        [sys.executable, "-m", "hookline", "log", "--since", "1h", "--json"], capture_output=True, text=True, check=True
    )
    return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]


Runner = Callable[[Trial], None]
