"""Cline: an executable file for each event, in a directory for hooks."""

from __future__ import annotations

from collections.abc import Sequence

from hookline.hosts.agent import AgentEvent
from hookline.hosts.install.command import Calling
from hookline.hosts.install.machine import Machine, Scope
from hookline.hosts.install.wanted import OwnFile


def wants(machine: Machine, scope: Scope, calling: Calling, events: Sequence[AgentEvent]) -> tuple[OwnFile, ...]:
    user = machine.home / "Documents" / "Cline" / "Hooks"
    directory = user if scope is Scope.USER else machine.project / ".clinerules" / "hooks"
    return tuple(
        OwnFile(directory / each.name, f"#!/bin/sh\nexec {calling.command(each.name)}\n", executable=True)
        for each in events
    )
