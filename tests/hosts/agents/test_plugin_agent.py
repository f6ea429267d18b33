"""Agents whose hooks are plugins: the text of hookline's plugin, and how it calls the launcher."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.entries import OwnFile, hook_command
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.plugin_agent import PluginAgent
from install_sandbox import make_machine

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs node")
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


CALL = """
const payload = {payload}
try {{ console.log(JSON.stringify(await callLauncher("e", payload, {directory}))) }}
catch (error) {{ console.log("failed: " + explain(error)) }}
"""


def _call(
    machine: Machine, answer: str, *, directory: Path | None = None, payload: str = "{}", scope: InstallScope
) -> str:
    """What the plugin makes of the launcher's answer. It must end by itself."""
    if answer:
        machine.launcher.parent.mkdir(parents=True, exist_ok=True)
        machine.launcher.write_text(f"#!/bin/sh\ncat > /dev/null\n{answer}\n")
        machine.launcher.chmod(0o755)
    agent = get_agent("opencode")
    (want,) = agent.desired_files(machine, scope, hook_command("opencode", machine, scope))
    assert isinstance(want, OwnFile)
    call = CALL.format(payload=payload, directory=json.dumps(str(directory or machine.project)))
    module = machine.home / "plugin.mjs"
    module.write_text(want.text + call)
    done = subprocess.run(
        [str(NODE), str(module)],
        env={"HOME": str(machine.home)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    return done.stdout.strip()


@needs_node
@pytest.mark.parametrize("answer", ["null", "[]", '"deny"', "5", "", '{"deny": "no"} {}'])
def test_an_answer_that_is_no_object_is_none(tmp_path: Path, answer: str) -> None:
    machine = make_machine(tmp_path)
    assert _call(machine, f"printf '%s' '{answer}'", scope=InstallScope.USER).startswith("failed: hookline did not")
    assert _call(machine, "echo '{}'", scope=InstallScope.USER) == "{}"


@needs_node
def test_a_payload_that_cannot_be_sent_starts_nothing(tmp_path: Path) -> None:
    machine = make_machine(tmp_path)
    found = _call(machine, f"touch '{tmp_path}/started'", payload="{input: 5n}", scope=InstallScope.USER)
    assert "BigInt" in found
    assert not (tmp_path / "started").exists()


@needs_node
def test_hooks_are_asked_after_the_agent_has_removed_its_directory(tmp_path: Path) -> None:
    machine = make_machine(tmp_path)
    answer = _call(machine, """echo '{"deny": "no"}'""", directory=tmp_path / "gone", scope=InstallScope.USER)
    assert answer == '{"deny":"no"}'


@needs_node
def test_without_hookline_a_projects_plugin_says_how_to_install_it(tmp_path: Path) -> None:
    machine = make_machine(tmp_path)
    missing = _call(machine, "", scope=InstallScope.PROJECT)
    assert missing.endswith("Install it, then run: hookline install opencode --project")
    assert _call(machine, "", scope=InstallScope.USER).startswith("failed: hookline could not be run.")
