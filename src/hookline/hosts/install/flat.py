"""Files with the commands themselves below each event: `{"hooks": {EVENT: [{"command": …}]}}`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from hookline.hosts.agent import AgentEvent
from hookline.hosts.bridge.deadline import host_timeout
from hookline.hosts.install.command import Calling
from hookline.hosts.install.edit import Addition
from hookline.hosts.install.machine import Machine, Scope
from hookline.hosts.install.wanted import Entries, Wants

Handler = Callable[[Calling, AgentEvent], dict[str, Any]]


def _seconds(calling: Calling, event: AgentEvent) -> int:
    return math.ceil(host_timeout(calling.agent, event.name).total_seconds())


def copilot(calling: Calling, event: AgentEvent) -> dict[str, Any]:
    return {"type": "command", "bash": calling.command(event), "timeoutSec": _seconds(calling, event)}


def cursor(calling: Calling, event: AgentEvent) -> dict[str, Any]:
    closed = {"failClosed": True} if event.event == "tool.before" else {}
    return {"command": calling.command(event), "timeout": _seconds(calling, event), **closed}


def windsurf(calling: Calling, event: AgentEvent) -> dict[str, Any]:
    return {"command": calling.command(event), "show_output": False}


def kiro(calling: Calling, event: AgentEvent) -> dict[str, Any]:
    return {"command": calling.command(event), "timeout_ms": _seconds(calling, event) * 1000}


def flat(
    files: Callable[[Machine, Scope], tuple[Path, ...]], handler: Handler, keys: Mapping[str, Any] | None = None
) -> Wants:
    def wants(machine: Machine, scope: Scope, calling: Calling, events: Sequence[AgentEvent]) -> tuple[Entries, ...]:
        additions = tuple(Addition(("hooks", each.name), handler(calling, each)) for each in events)
        return tuple(Entries(path, additions, keys or {}) for path in files(machine, scope))

    return wants


_OURS: Final = "hookline.json"


def kiro_agents(machine: Machine, scope: Scope) -> tuple[Path, ...]:
    """Kiro's hooks belong to one of its agents: every one that is defined there, or a new one with all tools."""
    directory = (machine.home if scope is Scope.USER else machine.project) / ".kiro" / "agents"
    found = tuple(sorted(directory.glob("*.json"))) if directory.is_dir() else ()
    return found or (directory / _OURS,)
