"""Kilo: opencode's plugin in its own directories, and one more shell."""

from __future__ import annotations

from pathlib import Path

from agent_payloads import payloads
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.machine import InstallScope
from install_sandbox import install, make_machine, read_files, uninstall

KILO = get_agent("kilo")


def test_its_plugin_calls_the_launcher_by_its_name(tmp_path: Path) -> None:
    machine = make_machine(tmp_path)
    for scope, path in (
        (InstallScope.USER, machine.home / ".config/kilo/plugin/hookline.js"),
        (InstallScope.PROJECT, machine.project / ".kilo/plugin/hookline.js"),
    ):
        install("kilo", machine, scope)
        text = path.read_text()
        assert 'spawn(LAUNCHER, ["kilo", event]' in text
        assert "hookline install kilo" in text.splitlines()[0]
        uninstall("kilo", machine, scope)
        assert not path.exists()
    assert not read_files(machine.project)


def test_background_processes_are_shells() -> None:
    (event,) = KILO.read("tool.execute.before", payloads("kilo")["tool.execute.before-background"]).events
    assert event.facts["tool"]["kind"] == "shell"
    assert event.facts["host"]["name"] == "kilo"
