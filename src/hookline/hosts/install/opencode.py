"""opencode: a plugin that passes each of its hooks on to our launcher and does what it is answered."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from hookline.hosts.agent import AgentEvent
from hookline.hosts.bridge.deadline import host_timeout
from hookline.hosts.install.command import Calling
from hookline.hosts.install.machine import Machine, Scope
from hookline.hosts.install.wanted import OwnFile

_PLUGIN: Final = Path(__file__).with_name("opencode_plugin.js")


def wants(machine: Machine, scope: Scope, calling: Calling, events: Sequence[AgentEvent]) -> tuple[OwnFile, ...]:
    directory = machine.config / "opencode" if scope is Scope.USER else machine.project / ".opencode"
    return (OwnFile(directory / "plugin" / "hookline.js", _text(machine, scope, calling, events)),)


def _text(machine: Machine, scope: Scope, calling: Calling, events: Sequence[AgentEvent]) -> str:
    launcher, home = machine.launcher, machine.home
    if scope is Scope.PROJECT and launcher.is_relative_to(home):
        program = f"join(homedir(), {json.dumps(str(launcher.relative_to(home)))})"
    else:
        program = json.dumps(str(launcher))
    longest = max(host_timeout("opencode", each.name) for each in events)
    text = _PLUGIN.read_text("utf-8").replace('"THE ENTRY"', json.dumps("project" if calling.shared else ""))
    text = text.replace('"THE MISSING"', json.dumps(calling.missing.value))
    text = text.replace('"THE LAUNCHER"', program).replace('"THE EVENTS"', json.dumps([each.name for each in events]))
    return text.replace('"THE TIMEOUT"', str(round(longest.total_seconds() * 1000)))
