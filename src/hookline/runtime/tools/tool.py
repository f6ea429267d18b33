"""What a tool is. Only `runtime/gate.py` may call `perform`: it wants a decision for exactly that call."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from hookline.hooks.host import ToolResult
from hookline.hooks.thread import Thread
from hookline.hooks.tools import Kind
from hookline.runners.process import Slots
from hookline.runtime.storage.store import Store


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tool works, and for whom."""

    workspace: Path
    session: str
    agent: str
    thread: Thread
    thread_id: str  # as the store knows it
    store: Store
    slots: Slots = field(default_factory=Slots)
    execution: dict[str, Any] = field(default_factory=dict)  # flow, side and step of the thread
    env: Mapping[str, str] = field(default_factory=dict, repr=False)  # the user's
    call: str = ""  # the id of the one that is performed


class Tool(Protocol):
    @property
    def name(self) -> str:
        """As hooks match it: `bash`, `mcp.git.status`, `memory.remember`."""

    @property
    def description(self) -> str: ...
    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of its input."""

    @property
    def kind(self) -> Kind: ...
    async def perform(self, input: dict[str, Any], place: Place) -> ToolResult:
        """What goes wrong is a result that is not ok; cancelling it ends whatever it started."""
