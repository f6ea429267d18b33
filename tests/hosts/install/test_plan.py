from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest

from hookline.config.json_edit import Splice
from hookline.config.reader import FileFormat, read_text
from hookline.errors import ConfigError, HooklineError
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.plugin_agent import PluginAgent
from hookline.hosts.install import plan
from hookline.hosts.install.plan import BACKUP_SUFFIX, apply_changes, installed_entries, plan_install, plan_uninstall
from hookline.hosts.install.undo import InstallRecord, save_record
from install_sandbox import install, make_machine, read_files, uninstall

MERGED = {
    "claude-code": ".claude/settings.json",
    "codex": ".codex/hooks.json",
    "gemini-cli": ".gemini/settings.json",
    "copilot-cli": ".copilot/hooks/hookline.json",
    "qwen-code": ".qwen/settings.json",
    "cursor": ".cursor/hooks.json",
    "windsurf": ".codeium/windsurf/hooks.json",
    "kiro": ".kiro/agents/mine.json",
    "grok-build": ".grok/hooks/hookline.json",
    "droid": ".factory/settings.json",
    "deepagents-code": ".deepagents/hooks.json",
    "auggie": ".augment/settings.json",
    "openhands": ".openhands/hooks.json",
    "letta-code": ".letta/settings.json",
    "crush": ".config/crush/crush.json",
    "vscode-copilot": ".copilot/hooks/hookline-vscode.json",
}

TEXTS = {
    "empty": "",
    "spaces": " \n\n",
    "only a comment": "// nothing yet",
    "empty mapping": "{}",
    "empty mapping over lines": "{\n}\n",
    "a comment inside": "{ // to be filled\n}",
    "one line": '{"model": "opus", "env": {"A": "1"}}',
    "one line, trailing comma": '{"model": "opus",}',
    "no newline at the end": '{\n  "model": "opus"\n}',
    "tabs": '{\n\t"model": "opus"\n}\n',
    "four spaces": '{\n    "model": "opus"\n}\n',
    "carriage returns": '{\r\n  "model": "opus"\r\n}\r\n',
    "byte order mark": '\ufeff{\n  "model": "opus"\n}\n',
    "comments": '// mine\n{\n  /* why */ "model": "opus", // the big one\n  // and no more\n}\n',
    "a comment behind the last": '{\n  "model": "opus" // the big one\n}\n',
    "a comment behind the last, one line": '{"model": "opus" /* big */}',
    "closing bracket at the end of a line": '{\n  "model": "opus",\n  "list": [\n    1 ] }',
    "empty hooks": '{"hooks": {}}',
    "empty hooks over lines": '{\n  "hooks": {\n  },\n  "model": "opus"\n}\n',
    "hooks of others": '{\n  "hooks": {\n    "Other": [{"command": "x"}]\n  }\n}\n',
    "the same events": """{
  "model": "opus",
  "hooks": {
    // mine first
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh"}]}, // keep
    ],
    "BeforeTool": [{
      "matcher": "x", "hooks": [{"type": "command", "command": "./check.sh"}]
    }],
    "preToolUse": [],
    "pre_run_command": [ ],
    "Stop": [
      /* none */
    ],
  },
  "after": [1, 2,
    3]
}
""",
    "names with everything": '{"é\\u00e9\\"": "日本語 \\\\", "n": -1.5e3, "t": [true, null, {"": []}]}',
}


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return make_machine(tmp_path)


@pytest.fixture
def accepts_every_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """As 0.1.0, which wrote into files that the agent ignores: `uninstall` has to restore these, too."""
    monkeypatch.setattr(plan, "find_fault", lambda *_: "")


def write_settings(machine: Machine, name: str, text: str) -> Path:
    path = machine.home / MERGED[name]
    path.parent.mkdir(parents=True)
    path.write_bytes(text.encode())
    return path


def read_json(path: Path) -> dict:
    document, problems = read_text(path.read_bytes(), str(path), FileFormat.JSON)
    assert document is not None, problems
    return document.value


def without_own_entries(name: str, value: dict) -> dict:
    """The file without hookline's entries and without empty lists."""
    hooks = value.get("hooks", {})
    kept = {
        event: [e for e in entries if f"/hookline/bridge {name}" not in json.dumps(e)]
        for event, entries in hooks.items()
    }
    return {**value, "hooks": {event: entries for event, entries in kept.items() if entries}}


@pytest.mark.usefixtures("accepts_every_file")
@pytest.mark.parametrize("name", MERGED)
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_uninstall_restores_every_text_byte_for_byte(machine: Machine, name: str, text: str) -> None:
    path = write_settings(machine, name, text)
    before = read_files(machine.home)
    value = read_json(path)
    install(name, machine)
    found = [event for _, _, events in installed_entries(get_agent(name), machine) for event in events]
    assert sorted(found) == sorted(event.name for event in get_agent(name).events)
    if value:
        assert without_own_entries(name, read_json(path)) == without_own_entries(name, value)
        assert list(read_json(path))[: len(value)] == list(value)
    assert (path.parent / (path.name + BACKUP_SUFFIX)).read_bytes() == text.encode()
    uninstall(name, machine)
    assert read_files(machine.home) == before


@pytest.mark.parametrize("scope", InstallScope)
@pytest.mark.parametrize("name", AGENT_NAMES)
def test_a_new_file_is_removed_again(machine: Machine, name: str, scope: InstallScope) -> None:
    if scope is InstallScope.PROJECT and not get_agent(name).has_project_hooks:
        return
    install(name, machine, scope)
    assert next(found for found, _, _ in installed_entries(get_agent(name), machine)) is scope
    uninstall(name, machine, scope)
    left = {path.relative_to(machine.home).parts[0] for path in machine.home.rglob("*")}
    assert left == {".local"}
    assert not list(machine.project.iterdir())
    assert not list(machine.records_directory.iterdir())


@pytest.mark.parametrize("order", [1, -1])
@pytest.mark.parametrize("scope", InstallScope)
def test_the_last_of_two_agents_removes_the_directory_that_they_share(
    machine: Machine, scope: InstallScope, order: int
) -> None:
    names = ["copilot-cli", "vscode-copilot"]
    for name in names:
        install(name, machine, scope)
    for name in names[::order]:
        uninstall(name, machine, scope)
    assert not list(machine.project.iterdir())
    assert [path.name for path in machine.home.iterdir()] == [".local"]


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_a_second_install_changes_nothing(machine: Machine, name: str) -> None:
    install(name, machine)
    before = read_files(machine.home)
    assert not [change for change in plan_install(get_agent(name), machine, InstallScope.USER) if change.is_needed]
    install(name, machine)
    assert read_files(machine.home) == before


def test_only_a_key_that_the_user_added_since_stays(machine: Machine) -> None:
    path = write_settings(machine, "gemini-cli", '{\n  "a": 1 // one\n}\n')
    install("gemini-cli", machine)
    text = path.read_text()
    path.write_text(text.replace("\n}\n", ',\n  "b": 2\n}\n'))
    uninstall("gemini-cli", machine)
    assert path.read_text() == '{\n  "a": 1, // one\n  "b": 2\n}\n'


def test_hooks_that_the_user_adds_since_stay(machine: Machine) -> None:
    path = write_settings(machine, "claude-code", '{"a": 1}')
    install("claude-code", machine)
    value = json.loads(path.read_text())
    value["hooks"]["PreToolUse"][0]["hooks"].insert(0, {"type": "command", "command": "./mine.sh"})
    value["hooks"]["Stop"].append({"hooks": [{"type": "command", "command": "./stop.sh"}]})
    path.write_text(json.dumps(value, indent=3))
    uninstall("claude-code", machine)
    assert read_json(path) == {
        "a": 1,
        "hooks": {
            "PreToolUse": [{"hooks": [{"type": "command", "command": "./mine.sh"}]}],
            "Stop": [{"hooks": [{"type": "command", "command": "./stop.sh"}]}],
        },
    }


def test_a_new_file_with_something_of_the_users_stays(machine: Machine) -> None:
    install("cursor", machine)
    path = machine.home / MERGED["cursor"]
    value = json.loads(path.read_text())
    value["hooks"]["stop"].insert(0, {"command": "./mine.sh"})
    path.write_text(json.dumps(value))
    uninstall("cursor", machine)
    assert read_json(path) == {"version": 1, "hooks": {"stop": [{"command": "./mine.sh"}]}}


@pytest.mark.usefixtures("accepts_every_file")
@pytest.mark.parametrize("name", MERGED)
def test_without_a_record_entries_are_recognised_by_their_commands(machine: Machine, name: str) -> None:
    path = write_settings(machine, name, '{"a": [1], "hooks": {"x": [{"command": "y"}]}}')
    install(name, machine)
    for record in machine.records_directory.iterdir():
        record.unlink()
    uninstall(name, machine)
    assert path.read_text() == '{"a": [1], "hooks": {"x": [{"command": "y"}]}}'


def test_entries_of_another_version_are_replaced(machine: Machine) -> None:
    old = {"hooks": [{"type": "command", "command": "/old/share/hookline/bridge claude-code PreToolUse", "timeout": 5}]}
    text = json.dumps({"hooks": {"PreToolUse": [old, old], "Gone": [old]}})
    path = write_settings(machine, "claude-code", text)
    install("claude-code", machine)
    found = read_json(path)["hooks"]
    assert "/old/" not in path.read_text()
    assert "Gone" not in found
    assert len(found["PreToolUse"]) == 1


HTTP_BEFORE = '{\n  "model": "opus"\n}\n'
HTTP_ENTRIES = """,
  "hooks": {
    "SessionStart": [
      {
        "hooks": [
          {
            "type": "command",
            "command": "/old/share/hookline/bridge AGENT SessionStart",
            "timeout": 600
          }
        ]
      }
    ],
    "PreToolUse": [
      {
        "hooks": [
          {
            "type": "http",
            "url": "http://127.0.0.1:25834/hookline/AGENT/PreToolUse",
            "headers": {
              "Authorization": "Bearer Zm9yLXRoaXMtdGVzdC1hbmQtbm93aGVyZS1lbHNlIQ"
            },
            "timeout": 600,
            "onFailure": "block"
          }
        ]
      }
    ],
    "Stop": [
      {
        "hooks": [
          {
            "type": "http",
            "url": "http://127.0.0.1:25834/hookline/AGENT/Stop",
            "headers": {
              "Authorization": "Bearer Zm9yLXRoaXMtdGVzdC1hbmQtbm93aGVyZS1lbHNlIQ"
            },
            "timeout": 600
          }
        ]
      }
    ]
  }"""


def put_http_entries(machine: Machine, name: str) -> Path:
    """The file as an older version left it: with a token, and so not readable by others."""
    at = HTTP_BEFORE.index('"opus"') + len('"opus"')
    splice = Splice(at, HTTP_ENTRIES.replace("AGENT", name))
    path = write_settings(machine, name, HTTP_BEFORE[:at] + splice.text + HTTP_BEFORE[at:])
    path.chmod(0o600)
    save_record(InstallRecord(name, InstallScope.USER, machine.project, path, HTTP_BEFORE, (splice,)), machine)
    (record,) = machine.records_directory.iterdir()
    record.write_text(json.dumps({**json.loads(record.read_text()), "mode": 0o644}))
    return path


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("name", ["claude-code", "qwen-code"])
def test_http_entries_of_an_older_version_are_replaced(machine: Machine, name: str, recorded: bool) -> None:
    path = put_http_entries(machine, name)
    if not recorded:
        next(machine.records_directory.iterdir()).unlink()
    ((_, _, events),) = installed_entries(get_agent(name), machine)
    assert events == {"SessionStart", "PreToolUse", "Stop"}
    install(name, machine)
    assert "http:" not in path.read_text()
    assert "Bearer" not in path.read_text()
    assert all(len(groups) == 1 for groups in read_json(path)["hooks"].values())
    assert stat.S_IMODE(path.stat().st_mode) == (0o644 if recorded else 0o600)
    uninstall(name, machine)
    assert path.read_text() == HTTP_BEFORE


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("name", ["claude-code", "qwen-code"])
def test_http_entries_of_an_older_version_are_removed(machine: Machine, name: str, recorded: bool) -> None:
    path = put_http_entries(machine, name)
    if not recorded:
        next(machine.records_directory.iterdir()).unlink()
    uninstall(name, machine)
    assert path.read_text() == HTTP_BEFORE
    assert stat.S_IMODE(path.stat().st_mode) == (0o644 if recorded else 0o600)


def test_http_entries_of_others_stay(machine: Machine) -> None:
    others = {
        "hooks": [{"type": "http", "url": "http://127.0.0.1:8080/hook", "headers": {"Authorization": "Bearer x"}}]
    }
    path = write_settings(machine, "claude-code", json.dumps({"hooks": {"PreToolUse": [others]}}))
    install("claude-code", machine)
    assert others in read_json(path)["hooks"]["PreToolUse"]
    uninstall("claude-code", machine)
    assert read_json(path) == {"hooks": {"PreToolUse": [others]}}


def test_a_record_survives_an_edit_and_a_second_install(machine: Machine) -> None:
    path = write_settings(machine, "claude-code", '{"a": 1,}')
    install("claude-code", machine)
    path.write_text(path.read_text().replace('"a": 1', '"a": 2').replace('"timeout": 30', '"timeout": 31'))
    install("claude-code", machine)
    uninstall("claude-code", machine)
    assert read_json(path) == {"a": 2}


@pytest.mark.parametrize("name", AGENT_NAMES)
def test_commands_never_change(machine: Machine, name: str) -> None:
    """Codex trusts a hook by the text of its command: after a change, every user must trust it again."""
    install(name, machine)
    texts = "\n".join(data.decode() for path, data in read_files(machine.home).items() if ".local" not in path)
    launcher = machine.home / ".local/share/hookline/bridge"
    if isinstance(get_agent(name), PluginAgent):
        assert json.dumps(str(launcher)) in texts
        assert f'["{name}", event]' in texts
    else:
        assert all(f"{launcher} {name} {event.name}" in texts for event in get_agent(name).events)


def test_a_projects_file_names_no_users_home(machine: Machine) -> None:
    for name in (name for name in AGENT_NAMES if get_agent(name).has_project_hooks):
        install(name, machine, InstallScope.PROJECT)
    texts = read_files(machine.project)
    assert texts
    assert not [file for file, data in texts.items() if str(machine.home).encode() in data]


def test_a_home_with_a_space_is_quoted(tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    machine = make_machine(tmp_path / "a b")
    install("claude-code", machine)
    entry = read_json(machine.home / MERGED["claude-code"])["hooks"]["Stop"][0]["hooks"][0]
    assert entry["command"] == f"'{machine.launcher}' claude-code Stop"
    uninstall("claude-code", machine)
    assert not (machine.home / ".claude").exists()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"hooks": []}', "hooks must be an object"),
        ('{\n"hooks": {"PreToolUse": {}}}', "settings.json:2  hooks.PreToolUse must be a list"),
        ("[1]", "expected a JSON object"),
        ('{"a": 1', "never closed"),
        ('{"a": 1, "a": 2}', "Duplicate key"),
    ],
)
def test_a_file_that_cannot_be_edited_is_not_touched(machine: Machine, text: str, said: str) -> None:
    path = write_settings(machine, "claude-code", text)
    with pytest.raises(HooklineError) as error:
        install("claude-code", machine)
    assert said in str(error.value)
    assert read_files(machine.home) == {MERGED["claude-code"]: text.encode()}
    assert path.exists()


def test_a_file_that_is_not_utf8_is_not_touched(machine: Machine) -> None:
    path = write_settings(machine, "claude-code", "{}")
    path.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(HooklineError, match="UTF-8"):
        install("claude-code", machine)


def test_permissions_are_kept_and_the_backup_has_the_same(machine: Machine) -> None:
    path = write_settings(machine, "claude-code", '{"env": {"KEY": "secret"}}')
    path.chmod(0o600)
    install("claude-code", machine)
    for file in (path, path.with_name(path.name + BACKUP_SUFFIX), *machine.records_directory.iterdir()):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_link_stays_a_link(machine: Machine) -> None:
    path = write_settings(machine, "claude-code", "{}")
    target = machine.home / "dotfiles.json"
    path.rename(target)
    path.symlink_to(target)
    install("claude-code", machine)
    assert path.is_symlink()
    assert "hookline" in target.read_text()
    uninstall("claude-code", machine)
    assert path.is_symlink()
    assert target.read_text() == "{}"


def test_a_projects_link_to_elsewhere_is_refused(machine: Machine) -> None:
    (machine.home / "private.json").write_text("{}")
    (machine.project / ".claude").mkdir()
    (machine.project / ".claude/settings.json").symlink_to(machine.home / "private.json")
    with pytest.raises(HooklineError, match="leads out of the project"):
        install("claude-code", machine, InstallScope.PROJECT)
    assert (machine.home / "private.json").read_text() == "{}"


def test_a_file_that_changed_since_the_plan_is_not_overwritten(machine: Machine) -> None:
    path = write_settings(machine, "claude-code", "{}")
    plan = plan_install(get_agent("claude-code"), machine, InstallScope.USER)
    path.write_text('{"new": 1}')
    with pytest.raises(HooklineError, match="try again"):
        apply_changes(plan, machine)
    assert path.read_text() == '{"new": 1}'


def test_a_file_of_the_users_in_the_same_place_is_not_overwritten(machine: Machine) -> None:
    mine = machine.home / "Documents/Cline/Hooks/PreToolUse"
    mine.parent.mkdir(parents=True)
    mine.write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(HooklineError, match="is not hookline's"):
        install("cline", machine)
    assert list(read_files(machine.home)) == ["Documents/Cline/Hooks/PreToolUse"]
    assert not plan_uninstall(get_agent("cline"), machine, InstallScope.USER)


def test_clines_files_can_be_run(machine: Machine) -> None:
    install("cline", machine)
    assert os.access(machine.home / "Documents/Cline/Hooks/PreToolUse", os.X_OK)


def test_environment_variables_move_the_files(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    machine = make_machine(
        tmp_path, CODEX_HOME=str(elsewhere), XDG_DATA_HOME=str(tmp_path / "data"), COPILOT_HOME="relative"
    )
    install("codex", machine)
    install("copilot-cli", machine)
    assert str(tmp_path / "data/hookline/bridge") in (elsewhere / "hooks.json").read_text()
    assert (machine.home / ".copilot/hooks/hookline.json").exists()


def test_every_agent_of_kiro_is_guarded(machine: Machine) -> None:
    first = write_settings(machine, "kiro", '{"name": "mine", "tools": ["*"]}')
    second = first.with_name("other.json")
    second.write_text("{}")
    install("kiro", machine)
    assert read_json(first)["name"] == "mine"
    in_agents = {"agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop"}
    assert set(read_json(first)["hooks"]) == set(read_json(second)["hooks"]) == in_agents
    uninstall("kiro", machine)
    assert second.read_text() == "{}"


def test_a_file_of_hooks_guards_every_agent_of_kiro(machine: Machine) -> None:
    install("kiro", machine)
    file = machine.home / ".kiro/hooks/hookline.json"
    written = read_json(file)
    assert written["version"] == "v1"
    assert [each["trigger"] for each in written["hooks"]] == [
        "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop",
    ]  # fmt: skip
    assert written["hooks"][2]["action"]["command"].endswith("/hookline/bridge kiro PreToolUse")
    assert written["hooks"][2]["timeout"] == 30
    uninstall("kiro", machine)
    assert not file.exists()


def test_every_problem_of_a_broken_file_is_reported(machine: Machine) -> None:
    write_settings(machine, "gemini-cli", '{"a": 1, "a": 2, "b": 1, "b": 2}')
    with pytest.raises(ConfigError) as error:
        install("gemini-cli", machine)
    assert len(error.value.problems) == 2


def test_a_plugin_of_another_version_is_replaced_and_removed_without_a_record(tmp_path: Path) -> None:
    """A cloned project has the file, but this machine has no record of it."""
    machine, opencode = make_machine(tmp_path), get_agent("opencode")
    plugin = machine.project / ".opencode" / "plugin" / "hookline.js"
    older = "// Written by `hookline install opencode`, and taken away by `hookline uninstall opencode`.\nold()\n"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(older)
    apply_changes(plan_install(opencode, machine, InstallScope.PROJECT), machine)
    assert "old()" not in plugin.read_text()

    plugin.write_text("// mine\n")
    with pytest.raises(HooklineError, match="not hookline's"):
        plan_install(opencode, machine, InstallScope.PROJECT)

    (tmp_path / "other").mkdir()
    other = make_machine(tmp_path / "other")
    plugin = other.project / ".opencode" / "plugin" / "hookline.js"
    plugin.parent.mkdir(parents=True)
    plugin.write_text(older)
    apply_changes(plan_uninstall(opencode, other, InstallScope.PROJECT), other)
    assert not plugin.exists()
