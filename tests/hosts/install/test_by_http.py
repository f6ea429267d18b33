from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from hookline.dialects.ourselves import launched
from hookline.errors import HooklineError
from hookline.hosts.bridge.address import address_in, choose_address
from hookline.hosts.install.by_http import forget_unused, reached, refuse_http
from hookline.hosts.install.command import Form
from hookline.hosts.install.machine import Machine, Scope
from hookline.hosts.install.plan import BACKUP, has_entry, installed, installing, listening
from hookline.hosts.table import NAMES, agent
from hookline.project import load_text
from installing import files_below, install, machine_in, uninstall

TEXT = '{\n  // mine\n  "hooks": {"PreToolUse": []}\n}\n'
FILES = {"claude-code": ".claude/settings.json", "qwen-code": ".qwen/settings.json"}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return machine_in(tmp_path)


def put(machine: Machine, name: str) -> Path:
    path = machine.home / FILES[name]
    path.parent.mkdir()
    path.write_text(TEXT)
    path.chmod(0o644)
    return path


@pytest.mark.parametrize("name", FILES)
def test_it_comes_in_and_goes_out_to_the_byte_and_the_rights(machine: Machine, name: str) -> None:
    path = put(machine, name)
    before = files_below(machine.home)
    address = choose_address(machine.kept)
    install(name, machine, form=Form(http=address))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert address.token in path.read_text()
    assert address.token not in path.with_name(path.name + BACKUP).read_text()
    assert listening(agent(name), machine)
    assert has_entry(agent(name), machine)
    assert not any(change.needed for change in installing(agent(name), machine, Scope.USER, Form(http=address)))
    ((_, _, events),) = installed(agent(name), machine)
    assert events == {each.name for each in agent(name).events}
    uninstall(name, machine)
    forget_unused(machine)
    assert files_below(machine.home) == before
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert address_in(machine.kept) is None


def test_sessions_and_prompts_begin_with_a_command_which_starts_the_engine(machine: Machine) -> None:
    address = choose_address(machine.kept)
    install("claude-code", machine, form=Form(http=address))
    hooks = json.loads((machine.home / FILES["claude-code"]).read_text())["hooks"]
    entries = {name: group[0]["hooks"][0] for name, group in hooks.items()}
    assert {name for name, entry in entries.items() if entry["type"] == "command"} == {
        "SessionStart",
        "UserPromptSubmit",
    }
    assert entries["PreToolUse"] == {
        "type": "http",
        "url": f"http://127.0.0.1:{address.port}/hookline/claude-code/PreToolUse",
        "headers": {"Authorization": f"Bearer {address.token}"},
        "timeout": 600,
        "onFailure": "block",
    }
    assert launched(entries["Stop"]["url"]) == "claude-code"


def test_commands_replace_http_entries_and_the_address_goes(machine: Machine) -> None:
    install("claude-code", machine, form=Form(http=choose_address(machine.kept)))
    install("claude-code", machine)
    forget_unused(machine)
    assert "http:" not in (machine.home / FILES["claude-code"]).read_text()
    assert address_in(machine.kept) is None


def test_an_address_that_another_agent_uses_stays(machine: Machine) -> None:
    form = Form(http=choose_address(machine.kept))
    for name in FILES:
        install(name, machine, form=form)
    uninstall("qwen-code", machine)
    forget_unused(machine)
    assert address_in(machine.kept) == form.http


def test_a_projects_file_gets_no_token(machine: Machine) -> None:
    with pytest.raises(HooklineError, match="goes to other people; use --user"):
        refuse_http(agent("claude-code"), machine, Scope.PROJECT)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in FILES])
def test_an_agent_that_cannot_do_it_is_refused_with_the_reason(machine: Machine, name: str) -> None:
    with pytest.raises(HooklineError, match="https" if name == "copilot-cli" else "does not call HTTP hooks"):
        refuse_http(agent(name), machine, Scope.USER)


def test_a_file_in_a_repository_gets_no_token(machine: Machine) -> None:
    path = put(machine, "claude-code")
    dotfiles = machine.home / "dotfiles"
    (dotfiles / ".git").mkdir(parents=True)
    path.rename(dotfiles / "settings.json")
    path.symlink_to(dotfiles / "settings.json")
    with pytest.raises(HooklineError, match="git repository"):
        refuse_http(agent("claude-code"), machine, Scope.USER)


def test_a_proxy_gets_no_token(machine: Machine) -> None:
    behind = Machine(machine.home, machine.project, {"HTTP_PROXY": "http://proxy:3128"})
    with pytest.raises(HooklineError, match="NO_PROXY"):
        refuse_http(agent("claude-code"), behind, Scope.USER)
    spared = Machine(machine.home, machine.project, {**behind.environ, "no_proxy": "localhost, 127.0.0.1"})
    refuse_http(agent("claude-code"), spared, Scope.USER)


def test_nobody_and_somebody_else_are_told_apart(machine: Machine) -> None:
    address = choose_address(machine.kept)
    assert "nobody answers" in str(reached(address, "claude-code"))


def test_an_http_entry_of_ours_is_no_hook_elsewhere(machine: Machine) -> None:
    install("claude-code", machine, form=Form(http=choose_address(machine.kept)))
    text = (machine.home / FILES["claude-code"]).read_text()
    assert load_text(text, ".claude/settings.json", "claude_code").hooks == ()
