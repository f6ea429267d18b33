"""Entries between marks in TOML and YAML files, in every shape that a user's file may have."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
import yaml

from hookline.errors import HooklineError
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.install.marked_text import BEGIN
from hookline.hosts.install.plan import has_current_entries, installed_entries, plan_install
from install_sandbox import install, make_machine, read_files, uninstall

KIMI, HERMES = get_agent("kimi-code"), get_agent("hermes")
TOML = {
    "none": None,
    "empty": "",
    "no newline": 'default_model = "k2"',
    "tables": 'default_model = "k2"\n[providers.x]\ntype = "openai"\n',
    "own hooks": '# mine\n[[hooks]]\nevent = "Stop"\ncommand = "mine"\n\n[models.y]\nmodel = "y"\n',
}
YAML = {
    "none": None,
    "empty": "",
    "no newline": "model:\n  default: x",
    "no hooks": "model: # the big one\n  default: x\n",
    "own hooks": "hooks:\n  pre_tool_call:\n    - command: mine\n      timeout: 3\nmodel: x\n",
    "items at the level of the key": "hooks:\n  pre_tool_call:\n  - command: mine\n  on_session_reset:\n  - command: more",
    "another event": "hooks:\n    on_session_reset:\n        - command: mine\n",
    "comments": "# mine\nhooks: # these\n  # first\n  pre_tool_call: # guard\n    # why\n    - command: mine # x\n",
}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return make_machine(tmp_path)


def _file(machine: Machine, name: str, text: str | None) -> Path:
    path = machine.home / name
    if text is not None:
        path.parent.mkdir()
        path.write_text(text)
    return path


@pytest.mark.parametrize("text", TOML.values(), ids=TOML)
def test_toml_file_gets_each_entry_and_is_restored(machine: Machine, text: str | None) -> None:
    path = _file(machine, ".kimi-code/config.toml", text)
    before = read_files(machine.home)
    install("kimi-code", machine)
    found = tomllib.loads(path.read_text())
    events = [hook["event"] for hook in found["hooks"] if "hookline/bridge" in hook["command"]]
    assert events == [event.name for event in KIMI.events]
    assert all(hook.keys() <= {"event", "matcher", "command", "timeout"} for hook in found["hooks"])
    assert {**tomllib.loads(text or ""), "hooks": 0} == {**found, "hooks": 0}
    _check_round_trip(machine, "kimi-code", path, before)


@pytest.mark.parametrize("text", YAML.values(), ids=YAML)
def test_yaml_file_gets_each_entry_and_is_restored(machine: Machine, text: str | None) -> None:
    path = _file(machine, ".hermes/config.yaml", text)
    before = read_files(machine.home)
    install("hermes", machine)
    found, own = yaml.safe_load(path.read_text()), yaml.safe_load(text or "") or {}
    for event in HERMES.events:
        (entry,) = [each for each in found["hooks"][event.name] if "hookline/bridge" in each["command"]]
        assert entry["command"].endswith(f"hermes {event.name}")
    for event_name, entries in own.get("hooks", {}).items():
        assert all(each in found["hooks"][event_name] for each in entries)
    assert {**found, "hooks": 0} == {**own, "hooks": 0}
    _check_round_trip(machine, "hermes", path, before)


def _check_round_trip(machine: Machine, name: str, path: Path, before: dict[str, bytes]) -> None:
    agent = get_agent(name)
    assert has_current_entries(agent, machine)
    ((_, where, events),) = installed_entries(agent, machine)
    assert (where, events) == (path, {event.name for event in agent.events})
    assert not any(change.is_needed for change in plan_install(agent, machine, InstallScope.USER))
    uninstall(name, machine)
    assert read_files(machine.home) == before


@pytest.mark.parametrize(("name", "file"), [("kimi-code", ".kimi-code/config.toml"), ("hermes", ".hermes/config.yaml")])
def test_edits_since_the_installation_stay(machine: Machine, name: str, file: str) -> None:
    path = _file(machine, file, "")
    install(name, machine)
    line = 'x = "y"\n' if name == "kimi-code" else "x: y\n"
    path.write_text(line + path.read_text())
    uninstall(name, machine)
    assert path.read_text() == line


@pytest.mark.parametrize(
    ("name", "file", "text"),
    [
        ("kimi-code", ".kimi-code/config.toml", "hooks = []\n"),
        ("kimi-code", ".kimi-code/config.toml", "this is not TOML"),
        ("hermes", ".hermes/config.yaml", "hooks: {pre_tool_call: [{command: mine}]}\n"),
        ("hermes", ".hermes/config.yaml", "hooks:\n"),
        ("hermes", ".hermes/config.yaml", "hooks:\n  pre_tool_call: [{command: mine}]\n"),
        ("hermes", ".hermes/config.yaml", "- a list\n"),
        ("hermes", ".hermes/config.yaml", "a: b: c\n"),
        ("hermes", ".hermes/config.yaml", "a: 1\n---\nb: 2\n"),
    ],
)
def test_file_that_cannot_be_edited_safely_is_refused(machine: Machine, name: str, file: str, text: str) -> None:
    path = _file(machine, file, text)
    with pytest.raises(HooklineError, match="config"):
        install(name, machine)
    assert path.read_text() == text


def test_agent_without_project_hooks_says_so(machine: Machine) -> None:
    with pytest.raises(HooklineError, match="--user"):
        install("kimi-code", machine, InstallScope.PROJECT)
    assert BEGIN not in str(read_files(machine.project))
