from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookline.engine.book import Book
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.agent import SAMPLE_COMMAND
from hookline.hosts.agents.agent_tools import SeenTools, seen_tools_directory
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.doctor import checks
from hookline.hosts.doctor.checks import examine_agent, is_plugged_in
from hookline.hosts.doctor.finding import Diagnosis, Finding, Mark
from hookline.hosts.install import launcher
from hookline.project import load_for_directory, load_text
from install_sandbox import install, make_machine, running_engine

pytestmark = pytest.mark.slow


HOOKS = """\
hooks:
  - {id: guard, on: tool.before, when: {tool: bash}, then: {deny: no}}
  - {id: off, on: tool.before, then: {deny: no}, enabled: false}
  - {id: elsewhere, on: thread.created, then: {log: here}}
"""


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """With a program that is called as every agent is, and no place for an engine, so that none is left behind."""
    programs = tmp_path / "bin"
    programs.mkdir()
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    return make_machine(tmp_path, PATH=path, XDG_RUNTIME_DIR="/dev/null", CLAUDECODE="1", COPILOT_CLI="1")


def write_program(machine: Machine, name: str, text: str) -> None:
    file = Path(machine.environ["PATH"].split(os.pathsep)[0], name)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def diagnose(name: str, machine: Machine, book: Book | None = None) -> Diagnosis:
    return examine_agent(get_agent(name), machine, book or Book(()))


def finding_about(diagnosis: Diagnosis, about: str) -> Finding:
    return next(finding for finding in diagnosis.findings if finding.about == about)


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_a_sample_is_an_event_of_the_agent(name: str) -> None:
    (read,) = get_agent(name).read(*get_agent(name).sample_call("/p")).events
    assert (read.name, read.facts["tool"]["kind"], read.facts["tool"]["input"]["command"]) == (
        "tool.before",
        "shell",
        SAMPLE_COMMAND,
    )
    if name != "windsurf":  # names the directory of the tool only
        assert read.facts["cwd"] == "/p"


def test_a_program_that_does_not_tell_its_version_in_time_is_not_called_broken(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checks, "_VERSION_TIMEOUT", 0.2)
    write_program(machine, "claude", "exec sleep 60")
    finding = finding_about(diagnose("claude-code", machine), "agent")
    assert finding.mark is Mark.UNKNOWN
    assert "did not answer" in finding.message


@pytest.mark.parametrize("name", ["claude-code", "windsurf"])
def test_an_agent_that_is_plugged_in_is_proved_by_a_test_call(machine: Machine, name: str) -> None:
    install(name, machine)
    write_program(machine, {"claude-code": "claude"}.get(name, name), "echo 1.2.3 from $0")
    with running_engine(machine.home) as runtime:
        warm = Machine(machine.home, machine.project, {**machine.environ, "XDG_RUNTIME_DIR": runtime})
        launcher.install_launcher(warm)
        diagnosis = diagnose(name, warm, load_text(HOOKS, "hookline.yaml"))
    assert diagnosis.is_good, diagnosis
    assert finding_about(diagnosis, "agent").message.startswith("1.2.3")
    assert finding_about(diagnosis, "answer").mark is Mark.GOOD
    assert finding_about(diagnosis, "proof").mark is Mark.UNKNOWN
    assert diagnosis.hooks == ("guard  on tool.before  hookline.yaml:2",)
    assert diagnosis.silent_hooks == ("elsewhere  on thread.created  hookline.yaml:4",)
    assert diagnosis.round_trip
    assert diagnosis.as_json()["verified_by_running"] is (name == "claude-code")


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_a_hook_is_listed_by_whether_its_event_comes_in_that_agent(name: str, machine: Machine) -> None:
    agent = get_agent(name)
    hooks = "".join(
        f"\n    - {{id: {on}, on: {on}, action: {{type: log, message: x}}}}" for on in ("session_start", "turn_end")
    )
    diagnosis = diagnose(name, machine, load_text(f"runtime:\n  hooks:{hooks}\n", "digitorn.yaml"))
    has_start = any(event.event == "session.start" for event in agent.events)
    listed = ["session_start  on session_start  digitorn.yaml:3"]
    assert list(diagnosis.hooks) == (listed if has_start else [])
    assert list(diagnosis.silent_hooks) == [*([] if has_start else listed), "turn_end  on turn_end  digitorn.yaml:4"]


def test_without_a_launcher_nothing_fires(machine: Machine) -> None:
    install("claude-code", machine)
    diagnosis = diagnose("claude-code", machine)
    assert finding_about(diagnosis, "launcher").mark is Mark.PROBLEM
    assert finding_about(diagnosis, "answer").mark is Mark.PROBLEM
    assert "hookline install" in finding_about(diagnosis, "answer").fix


def test_a_launcher_that_is_bound_to_other_directories_is_a_problem(machine: Machine) -> None:
    install("claude-code", machine)
    launcher.install_launcher(machine)
    assert finding_about(diagnose("claude-code", machine), "launcher").mark is Mark.GOOD
    moved = Machine(machine.home, machine.project, {**machine.environ, "XDG_CONFIG_HOME": str(machine.home / "new")})
    finding = finding_about(diagnose("claude-code", moved), "launcher")
    assert (finding.mark, "other directories" in finding.message) == (Mark.PROBLEM, True)


@pytest.mark.parametrize("text", ["exit 0", "echo '{}'", "echo broken >&2; exit 1", "cat"])
def test_a_launcher_that_does_not_deny_is_a_problem(machine: Machine, text: str) -> None:
    install("claude-code", machine)
    machine.launcher.parent.mkdir(parents=True)
    machine.launcher.write_text(f"#!/bin/sh\n{text}\n")
    machine.launcher.chmod(0o755)
    assert finding_about(diagnose("claude-code", machine), "answer").mark is Mark.PROBLEM


def test_an_event_that_is_missing_is_named(machine: Machine) -> None:
    install("claude-code", machine)
    path = machine.home / ".claude/settings.json"
    path.write_text(path.read_text().replace("claude-code PreToolUse", "somebody PreToolUse"))
    entry = finding_about(diagnose("claude-code", machine), "entry")
    assert entry.mark is Mark.PROBLEM
    assert entry.message.endswith("lacks PreToolUse")
    assert entry.fix == "hookline install claude-code --user"


@pytest.mark.parametrize("scope", InstallScope)
@pytest.mark.parametrize(("old", "new"), [(".local/share/hookline", "old/hookline"), ('"timeout": ', '"timeout": 9')])
def test_entries_that_are_not_as_they_should_be_are_a_problem(
    machine: Machine, scope: InstallScope, old: str, new: str
) -> None:
    install("claude-code", machine, scope)
    path = (machine.home if scope is InstallScope.USER else machine.project) / ".claude/settings.json"
    assert finding_about(diagnose("claude-code", machine), "entry").mark is Mark.GOOD
    path.write_text(path.read_text().replace(old, new))
    entry = finding_about(diagnose("claude-code", machine), "entry")
    assert entry.mark is Mark.PROBLEM
    assert entry.fix == f"hookline install claude-code --{scope}"


def test_an_agent_is_not_blamed_for_a_launcher_that_does_not_answer(machine: Machine) -> None:
    install("claude-code", machine)
    write_program(machine, "claude", "echo 1.2.3")
    proof = finding_about(diagnose("claude-code", machine), "proof")
    assert (proof.mark, "test call" in proof.message) == (Mark.UNKNOWN, True)


def test_hooks_that_wait_for_trust_are_marked(machine: Machine) -> None:
    (machine.project / "hookline.yaml").write_text(
        "hooks: [{id: lint, on: tool.after, then: {run: ruff check}, on_error: open}]"
    )
    book = load_for_directory(machine.project, machine.home)
    assert diagnose("claude-code", machine, book).hooks[0].endswith("waits for hookline trust")


def test_no_entry_and_no_program_are_problems(machine: Machine) -> None:
    assert not is_plugged_in(get_agent("kiro"), machine)
    diagnosis = diagnose("kiro", machine)
    assert not diagnosis.is_good
    assert finding_about(diagnosis, "agent").mark is Mark.PROBLEM
    assert finding_about(diagnosis, "entry").fix == "hookline install kiro"


def test_entries_in_both_scopes_are_reported(machine: Machine) -> None:
    install("cursor", machine)
    install("cursor", machine, InstallScope.PROJECT)
    twice = finding_about(diagnose("cursor", machine), "twice")
    assert twice.mark is Mark.GOOD
    assert "~/.cursor/hooks.json and .cursor/hooks.json" in twice.message
    assert "decided once" in twice.message


def test_a_file_that_cannot_be_read_is_a_problem(machine: Machine) -> None:
    path = machine.home / ".gemini/settings.json"
    path.parent.mkdir()
    path.write_text('{"a": ')
    assert is_plugged_in(get_agent("gemini-cli"), machine)
    assert "settings.json:1" in finding_about(diagnose("gemini-cli", machine), "entry").message


def test_disabled_hooks_are_a_problem(machine: Machine) -> None:
    path = machine.home / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text('{"disableAllHooks": true}')
    install("claude-code", machine)
    assert finding_about(diagnose("claude-code", machine), "switch").mark is Mark.PROBLEM


def test_a_program_that_hangs_or_fails_is_a_problem(machine: Machine) -> None:
    write_program(machine, "codex", "echo no >&2; exit 3")
    assert finding_about(diagnose("codex", machine), "agent").mark is Mark.PROBLEM


def test_tools_that_no_table_knows_are_named(machine: Machine) -> None:
    SeenTools(seen_tools_directory(machine)).remember("cline", {"name": "shellTool", "input": {}})
    finding = finding_about(diagnose("cline", machine), "tools")
    assert finding.mark is Mark.UNKNOWN
    assert "shellTool (taken for shell)" in finding.message
    assert "hookline list --tools --agent cline" in finding.message
    assert not [each for each in diagnose("codex", machine).findings if each.about == "tools"]


def test_a_pack_of_two_files_is_named_once_with_both(machine: Machine) -> None:
    user = machine.home / ".config/hookline/hookline.yaml"
    user.parent.mkdir(parents=True)
    for file in (user, machine.project / "hookline.yaml"):
        file.write_text("extends: hookline:workspace\n")
    diagnosis = diagnose("claude-code", machine, load_for_directory(machine.project, machine.home))
    said = finding_about(diagnosis, "packs")
    assert said.mark is Mark.GOOD
    assert all(name in said.message for name in ("hookline.yaml and ", ".config/hookline", "hookline:workspace"))
    assert len(diagnosis.hooks) == len(set(diagnosis.hooks)) == 3
