"""Cline: an executable file for each event, in a directory for hooks."""

from __future__ import annotations

import json
from collections.abc import Sequence

from hookline.hosts.agent import AgentEvent
from hookline.hosts.install.command import Calling
from hookline.hosts.install.machine import Machine, Scope
from hookline.hosts.install.wanted import OwnFile


def wants(machine: Machine, scope: Scope, calling: Calling, events: Sequence[AgentEvent]) -> tuple[OwnFile, ...]:
    user = machine.home / "Documents" / "Cline" / "Hooks"
    directory = user if scope is Scope.USER else machine.project / ".clinerules" / "hooks"
    return tuple(OwnFile(directory / each.name, _script(calling, each), executable=True) for each in events)


def _script(calling: Calling, event: AgentEvent) -> str:
    guard = f"[ -x {calling.program} ] || {_without(calling, event)}\nexport HOOKLINE_ENTRY=project\n"
    return f"#!/bin/sh\n{guard if calling.shared else ''}exec {calling.plain(event)}\n"


def _without(calling: Calling, event: AgentEvent) -> str:
    """Cline obeys an answer, not an exit code."""
    if not calling.holds_back(event):
        return "exit 0"
    return f"{{ echo '{json.dumps({'cancel': True, 'errorMessage': calling.without})}'; exit 0; }}"
