"""An agent whose hooks are plugins in JavaScript. hookline's plugin calls the launcher for each hook and applies the reply.

The first part of the plugin, which calls the launcher, is the same for every agent.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Final

from hookline.hosts.agents.agent import CodingAgent
from hookline.hosts.agents.entries import HookCommand
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.lazy_dataclasses import dataclass

_LAUNCHER_CALL: Final = Path(__file__).with_name("launcher_call.js")


@dataclass(frozen=True)
class PluginAgent(CodingAgent):
    @property
    def signature(self) -> str:
        """In the first line of every version of the plugin."""
        return f"`hookline install {self.name}`"

    def plugin_text(self, source: Path, machine: Machine, scope: InstallScope, command: HookCommand) -> str:
        launcher, home = machine.launcher, machine.home
        if scope is InstallScope.PROJECT and launcher.is_relative_to(home):
            program = f"join(homedir(), {json.dumps(str(launcher.relative_to(home)))})"
        else:
            program = json.dumps(str(launcher))
        values = {
            "THE_NAME": self.name,
            '"THE ENTRY"': json.dumps("project" if command.is_shared else ""),
            '"THE MISSING"': json.dumps(command.missing.value),
            '"THE MISSING MESSAGE"': json.dumps(
                command.missing_message if command.is_shared else command.failed_message
            ),
            '"THE LAUNCHER"': program,
            '"THE EVENTS"': json.dumps([each.name for each in self.events]),
            '"THE TIMEOUT"': str(round(self.timeout.total_seconds() * 1000)),
        }
        text = _LAUNCHER_CALL.read_text("utf-8") + source.read_text("utf-8")
        for placeholder, value in values.items():
            text = text.replace(placeholder, value)
        return text
