"""Agents whose hooks are plugins: the text of hookline's plugin."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.entries import OwnFile, hook_command
from hookline.hosts.agents.machine import InstallScope
from hookline.hosts.agents.plugin_agent import PluginAgent
from install_sandbox import make_machine

AGENTS = [agent for agent in map(get_agent, AGENT_NAMES) if isinstance(agent, PluginAgent)]


@pytest.mark.parametrize("scope", InstallScope)
@pytest.mark.parametrize("agent", AGENTS, ids=lambda agent: agent.name)
def test_every_placeholder_is_filled(tmp_path: Path, agent: PluginAgent, scope: InstallScope) -> None:
    machine = make_machine(tmp_path)
    if scope is InstallScope.PROJECT and not agent.has_project_hooks:
        return
    command = hook_command(agent.name, machine, scope)
    for want in agent.desired_files(machine, scope, command):
        assert isinstance(want, OwnFile)
        assert not re.findall(r"THE[_ ][A-Z]+", want.text)
        if want.path.suffix == ".js":
            assert agent.signature in want.text.splitlines()[0]
            assert (str(machine.home) in want.text) == (scope is InstallScope.USER)
