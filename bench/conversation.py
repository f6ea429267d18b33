"""The conversation that our sessions and other frameworks hold: prompts, tool calls, and a model that takes its time."""

from __future__ import annotations

import asyncio
from contextvars import ContextVar
from datetime import timedelta
from pathlib import Path
from typing import Any

MODEL = timedelta(milliseconds=50)
EXCHANGES, TURNS = 4, 20  # of each conversation; four turns of five call a tool
SYSTEM = "You are a helper."
ANSWER = "That is all."
_CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("read_file", {"path": "README.md"}),
    ("storage", {"action": "set", "key": "seen", "value": "README.md"}),
    ("list_directory", {"path": "."}),
    ("storage", {"action": "get", "key": "seen"}),
)


class Conversation:
    """What the model does next, and what the tools of a framework have stored."""

    def __init__(self) -> None:
        self.stored: dict[str, str] = {}
        self._step = 0

    async def next_call(self) -> tuple[str, str, dict[str, Any]] | None:
        """The id, name and input of the tool call; None if the model gives its answer."""
        await asyncio.sleep(MODEL.total_seconds())
        self._step += 1
        position = (self._step - 1) % (len(_CALLS) + 1)
        return None if position == len(_CALLS) else (f"call_{self._step}", *_CALLS[position])


current: ContextVar[Conversation] = ContextVar("current")
"""Agents, models and tools are made once, for all conversations; this is the one that is held now."""


def write_workspace(place: Path) -> None:
    (place / "README.md").write_text("What is here, and why.\n" * 40)
