"""What an entry does on a machine with hookline, and on one without."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from hookline.dialects.settings_json import agent_of_own_entry
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.agent_event import AgentEvent
from hookline.hosts.agents.entries import MissingPolicy, hook_command
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.plugin_agent import PluginAgent
from hookline.hosts.install.plan import installed_entries, plan_install
from install_sandbox import install, make_machine, read_files, uninstall

FAIL_CLOSED = {"tool.before", "approval.request", "prompt.submit", "subagent.start"}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return make_machine(tmp_path)


def run_shell(command: str, machine: Machine, shell: str = "sh") -> tuple[int, str, str]:
    environ = {"HOME": str(machine.home), "PATH": os.environ["PATH"]}
    done = subprocess.run([shell, "-c", command], env=environ, capture_output=True, text=True, input="{}")
    return done.returncode, done.stdout, done.stderr


def find_event(name: str, event: str) -> AgentEvent:
    return next(each for each in get_agent(name).events if each.event == event)


@pytest.mark.parametrize("name", [name for name in AGENT_NAMES if name not in ("opencode", "cline")])
def test_a_projects_entry_blocks_where_hookline_is_not_installed(machine: Machine, name: str) -> None:
    call = hook_command(name, machine, InstallScope.PROJECT)
    for each in get_agent(name).events:
        code, out, err = run_shell(call.shell_command(each), machine)
        assert out == ""
        if each.event in FAIL_CLOSED:
            assert code == 2, "every agent holds back after 2 with a text"
            assert "hookline is not installed here" in err
            assert f"hookline install {name} --project" in err
        elif each.event == "session.start":
            assert (code, "not installed" in err) == (1, True)
        else:
            assert (code, err) == (0, ""), "after 2, an agent that stops would go on"


@pytest.mark.parametrize("name", [name for name in AGENT_NAMES if name not in ("opencode", "cline")])
def test_missing_open_continues_without_hooks(machine: Machine, name: str) -> None:
    call = hook_command(name, machine, InstallScope.PROJECT, MissingPolicy.OPEN)
    for each in get_agent(name).events:
        code, out, err = run_shell(call.shell_command(each), machine)
        assert code == (1 if each.event == "session.start" else 0)
        assert out == ""
        assert ("not installed" in err) is (each.event == "session.start")


@pytest.mark.parametrize("missing", MissingPolicy)
def test_where_hookline_is_installed_only_the_launcher_runs(machine: Machine, missing: MissingPolicy) -> None:
    machine.launcher.parent.mkdir(parents=True)
    machine.launcher.write_text('#!/bin/sh\ncat\necho "$HOOKLINE_ENTRY $*"\nexit 2\n')
    machine.launcher.chmod(0o755)
    command = hook_command("codex", machine, InstallScope.PROJECT, missing).shell_command(
        find_event("codex", "tool.before")
    )
    assert run_shell(command, machine) == (2, "{}project codex PreToolUse\n", "")
    assert run_shell(command, machine, "bash") == (2, "{}project codex PreToolUse\n", "")


WITH_ENTRIES = [
    name for name in AGENT_NAMES if name not in ("cline", "hermes") and not isinstance(get_agent(name), PluginAgent)
]
FAILURES = {
    "killed": "kill -9 $$",
    "failed": "exit 1",
    "failed with a text": "echo oops >&2; exit 3",
    "not executable": None,
    "missing": "",
}


@pytest.mark.parametrize("failure", FAILURES)
@pytest.mark.parametrize("scope", InstallScope)
@pytest.mark.parametrize("name", WITH_ENTRIES)
def test_launcher_that_fails_blocks_a_tool(machine: Machine, name: str, scope: InstallScope, failure: str) -> None:
    """Most agents run the tool after any exit code but 2, and Codex and Gemini CLI also after 2 without a text."""
    script = FAILURES[failure]
    if script != "":
        machine.launcher.parent.mkdir(parents=True)
        machine.launcher.write_text(f"#!/bin/sh\n{script}\n")
        machine.launcher.chmod(0o644 if script is None else 0o755)
    call = hook_command(name, machine, scope)
    for each in get_agent(name).events:
        code, out, err = run_shell(call.shell_command(each), machine)
        if each.event in ("tool.before", "approval.request"):
            assert (code, out) == (2, "")
            assert f"hookline doctor {name}" in err or f"hookline install {name} --project" in err
        elif each.event in ("stop", "subagent.end"):
            assert code != 2, "the agent would go on"


@pytest.mark.parametrize("scope", InstallScope)
def test_missing_open_runs_a_tool_if_the_launcher_fails(machine: Machine, scope: InstallScope) -> None:
    machine.launcher.parent.mkdir(parents=True)
    machine.launcher.write_text("#!/bin/sh\nexit 1\n")
    machine.launcher.chmod(0o755)
    call = hook_command("codex", machine, scope, MissingPolicy.OPEN)
    assert run_shell(call.shell_command(find_event("codex", "tool.before")), machine) == (1, "", "")


def test_deny_by_exit_code_is_passed_on_with_its_reason_alone(machine: Machine) -> None:
    machine.launcher.parent.mkdir(parents=True)
    machine.launcher.write_text("#!/bin/sh\necho reason >&2\nexit 2\n")
    machine.launcher.chmod(0o755)
    for scope in InstallScope:
        command = hook_command("kimi-code", machine, scope).shell_command(find_event("kimi-code", "tool.before"))
        assert run_shell(command, machine) == (2, "", "reason\n")


def test_every_form_of_a_command_is_recognised(machine: Machine) -> None:
    for name in AGENT_NAMES:
        for scope in InstallScope:
            for missing in MissingPolicy:
                call = hook_command(name, machine, scope, missing)
                for each in get_agent(name).events:
                    assert agent_of_own_entry(call.shell_command(each)) == name


@pytest.mark.parametrize("missing", MissingPolicy)
@pytest.mark.parametrize("name", [name for name in AGENT_NAMES if get_agent(name).has_project_hooks])
def test_each_missing_policy_is_installed_found_and_removed(
    machine: Machine, name: str, missing: MissingPolicy
) -> None:
    install(name, machine, InstallScope.PROJECT, missing)
    (events,) = {frozenset().union(*(events for _, _, events in installed_entries(get_agent(name), machine)))}
    assert events == {each.name for each in get_agent(name).events}
    assert not any(change.is_needed for change in plan_install(get_agent(name), machine, InstallScope.PROJECT, missing))
    uninstall(name, machine, InstallScope.PROJECT)
    assert read_files(machine.project) == {}


def test_the_other_missing_policy_replaces_the_first(machine: Machine) -> None:
    install("claude-code", machine, InstallScope.PROJECT)
    closed = read_files(machine.project)[".claude/settings.json"]
    install("claude-code", machine, InstallScope.PROJECT, MissingPolicy.OPEN)
    opened = read_files(machine.project)[".claude/settings.json"]
    assert closed != opened
    assert b"exit 2" not in opened
    assert b"onFailure" not in opened
    install("claude-code", machine, InstallScope.PROJECT)
    assert read_files(machine.project)[".claude/settings.json"] == closed


def test_claude_code_blocks_when_a_command_cannot_start(machine: Machine) -> None:
    install("claude-code", machine)
    hooks = json.loads((machine.home / ".claude/settings.json").read_text())["hooks"]
    blocking = {name for name, (group,) in hooks.items() if group["hooks"][0].get("onFailure") == "block"}
    assert blocking == {"PreToolUse", "PermissionRequest", "UserPromptSubmit", "SubagentStart"}


@pytest.mark.parametrize("missing", MissingPolicy)
def test_cline_gets_a_reply_in_its_own_protocol(machine: Machine, missing: MissingPolicy) -> None:
    install("cline", machine, InstallScope.PROJECT, missing)
    hooks = machine.project / ".clinerules/hooks"
    code, out, err = run_shell(str(hooks / "PreToolUse"), machine)
    assert (code, err) == (0, "")
    assert out == "" if missing is MissingPolicy.OPEN else json.loads(out)["cancel"] is True
    assert run_shell(str(hooks / "TaskComplete"), machine) == (0, "", "")
