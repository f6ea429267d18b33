"""Files in Claude Code's shape: `{"hooks": {EVENT: [{"matcher": …, "hooks": [{"type": "command", …}]}]}}`."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from hookline.hosts.agent import AgentEvent
from hookline.hosts.bridge.deadline import host_timeout
from hookline.hosts.install.command import Calling
from hookline.hosts.install.edit import Addition
from hookline.hosts.install.machine import Machine, Scope
from hookline.hosts.install.wanted import Entries, Wants

Handler = Callable[[Calling, AgentEvent], dict[str, Any]]


def claude(calling: Calling, event: AgentEvent) -> dict[str, Any]:
    """`onFailure` is what Claude Code does when a command cannot start; older ones ignore it."""
    closed = {"onFailure": "block"} if calling.holds_back(event) else {}
    return {**in_seconds(calling, event), **closed}


def in_seconds(calling: Calling, event: AgentEvent) -> dict[str, Any]:
    seconds = math.ceil(host_timeout(calling.agent, event.name).total_seconds())
    return {"type": "command", "command": calling.command(event), "timeout": seconds}


def in_milliseconds(calling: Calling, event: AgentEvent) -> dict[str, Any]:
    milliseconds = round(host_timeout(calling.agent, event.name).total_seconds() * 1000)
    return {"type": "command", "name": "hookline", "command": calling.command(event), "timeout": milliseconds}


def groups(file: Callable[[Machine, Scope], Path], handler: Handler) -> Wants:
    """One group without a matcher, which every agent takes for all of its tools, for each event."""

    def wants(machine: Machine, scope: Scope, calling: Calling, events: Sequence[AgentEvent]) -> tuple[Entries, ...]:
        additions = [Addition(("hooks", each.name), {"hooks": [handler(calling, each)]}) for each in events]
        return (Entries(file(machine, scope), tuple(additions)),)

    return wants
