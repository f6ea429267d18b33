"""Agents ignore a whole file for one flaw: `install` refuses such a file, and `doctor` names the flaw."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from hookline.engine.book import Book
from hookline.errors import HooklineError
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.entries import EntriesFile, hook_command
from hookline.hosts.agents.json_reader import JsonReader
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.doctor.checks import examine_agent
from install_sandbox import install, make_machine

COMMENTS = ("gemini-cli", "qwen-code", "droid", "cursor")
MARK = ("claude-code", "qwen-code")
STRICT = [name for name in AGENT_NAMES if get_agent(name).json_reader is not None or name == "cursor"]
SECTION = '"version": 1, "hooks": {}'


def _file(name: str, machine: Machine) -> Path:
    agent = get_agent(name)
    wants = agent.desired_files(machine, InstallScope.USER, hook_command(name, machine, InstallScope.USER))
    return next(want.path for want in wants if isinstance(want, EntriesFile))


def _install_into(name: str, machine: Machine, text: str) -> None:
    path = _file(name, machine)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    install(name, machine)


@pytest.mark.parametrize("name", STRICT)
@pytest.mark.parametrize(
    ("text", "flaw", "accepting"),
    [
        ("{ // mine\n SECTION}", "has comments", COMMENTS),
        ("{ /* mine */ SECTION}", "has comments", COMMENTS),
        ("{SECTION,}", "a comma before a closing bracket", ()),
        ("{ // mine\n SECTION,}", "a comma before a closing bracket", ()),
        ("\ufeff{SECTION}", "a byte order mark", MARK),
    ],
)
def test_file_that_the_agent_ignores_is_refused(
    tmp_path: Path, name: str, text: str, flaw: str, accepting: tuple[str, ...]
) -> None:
    machine = make_machine(tmp_path)
    section = SECTION if name in ("cursor", "copilot-cli") else '"hooks": {}'
    text = text.replace("SECTION", section)
    if name in accepting:
        _install_into(name, machine, text)
        return
    with pytest.raises(HooklineError, match=f"ignores this file: .*{flaw}"):
        _install_into(name, machine, text)
    assert _file(name, machine).read_text("utf-8") == text


@pytest.mark.parametrize("name", STRICT)
def test_doctor_names_the_flaw(tmp_path: Path, name: str) -> None:
    machine = make_machine(tmp_path)
    install(name, machine)
    path = _file(name, machine)
    path.write_text(path.read_text("utf-8").rstrip().removesuffix("}").rstrip() + ",\n}\n", "utf-8")
    (finding,) = [each for each in examine_agent(get_agent(name), machine, Book(())).findings if each.about == "entry"]
    assert finding.mark == "problem"
    assert "ignores this file: it has a comma before a closing bracket" in finding.message


def test_text_that_looks_like_a_comment_is_none() -> None:
    assert JsonReader().find_flaw(json.dumps({"a": "// b", "c": '/* "', "d": '*/ \\" //'})) == ""


GROUP: dict[str, Any] = {"hooks": [{"type": "command", "command": "true"}]}


@pytest.mark.parametrize(
    ("handler", "group", "ignored_by"),
    [
        ({}, {}, ()),
        ({"command": 5}, {}, ("codex", "droid")),
        ({"type": "http"}, {}, ("codex", "droid")),
        ({"type": "prompt", "prompt": "a"}, {}, ("droid",)),
        ({"timeout": "5"}, {}, ("codex", "droid")),
        ({"timeout": -1}, {}, ("codex",)),
        ({"timeout": 1.5}, {}, ("codex",)),
        ({"timeout": None}, {}, ("droid",)),
        ({"async": "no"}, {}, ("codex",)),
        ({"statusMessage": 5}, {}, ("codex",)),
        ({"other": 5}, {"other": 5}, ()),
        ({}, {"matcher": None}, ("droid",)),
        ({}, {"matcher": 5}, ("codex", "droid")),
    ],
)
@pytest.mark.parametrize("name", ["codex", "droid", "claude-code", "deepagents-code"])
def test_entry_that_makes_the_agent_ignore_all_others_is_refused(
    tmp_path: Path, name: str, handler: dict[str, Any], group: dict[str, Any], ignored_by: tuple[str, ...]
) -> None:
    """Seen in Codex 0.166.0, Droid 0.215.0, Claude Code 2.1.325 and deepagents-code 0.1.57."""
    machine = make_machine(tmp_path)
    entry = {**GROUP, **group, "hooks": [{**GROUP["hooks"][0], **handler}]}
    text = json.dumps({"hooks": {"Stop": [entry]}})
    if name not in ignored_by:
        _install_into(name, machine, text)
        return
    with pytest.raises(HooklineError, match=r"ignores .* Stop\[0\]|ignores .*hooks\.Stop\[0\]"):
        _install_into(name, machine, text)


@pytest.mark.parametrize("entry", ["x", {}, {"matcher": "a"}, {"hooks": {}}])
def test_group_without_hooks_is_refused_where_it_counts(tmp_path: Path, entry: Any) -> None:
    text = json.dumps({"hooks": {"Stop": [entry]}})
    machine = make_machine(tmp_path)
    for name in ("droid", *(("codex",) if entry in ("x", {"hooks": {}}) else ())):
        with pytest.raises(HooklineError, match="Stop"):
            _install_into(name, machine, text)


@pytest.mark.parametrize("settings", [{"version": 1, "hooks": {}}, {"description": 5, "hooks": {}}])
def test_codex_accepts_two_keys_only(tmp_path: Path, settings: dict[str, Any]) -> None:
    with pytest.raises(HooklineError, match="ignores this file because of its"):
        _install_into("codex", make_machine(tmp_path), json.dumps(settings))


@pytest.mark.parametrize(
    ("settings", "wrong"),
    [
        ({"hooks": {}}, "its version"),
        ({"version": "1", "hooks": {}}, "its version"),
        ({"version": 1, "hooks": {"onStop": []}}, r"hooks\.onStop"),
        ({"version": 1, "hooks": {"stop": [{"command": 5}]}}, r"hooks\.stop\[0\]"),
        ({"version": 1, "hooks": {"stop": [{"type": "prompt"}]}}, r"hooks\.stop\[0\]"),
        ({"version": 1, "hooks": {"stop": [{"command": "a", "timeout": 0}]}}, r"hooks\.stop\[0\]"),
        ({"version": 1, "hooks": {"stop": [{"command": "a", "loop_limit": 0}]}}, r"hooks\.stop\[0\]"),
        ({"version": 1, "hooks": {"stop": [{"command": "a", "failClosed": "yes"}]}}, r"hooks\.stop\[0\]"),
        ({"version": 1, "hooks": {"stop": [{"command": "ls a/*"}, {"command": "ls */b"}]}}, r"takes the /\* in"),
    ],
)
def test_cursor_ignores_a_file_for_one_value(tmp_path: Path, settings: dict[str, Any], wrong: str) -> None:
    with pytest.raises(HooklineError, match=wrong):
        _install_into("cursor", make_machine(tmp_path), json.dumps(settings))


def test_cursor_reads_what_its_sdk_accepts(tmp_path: Path) -> None:
    stop = [{"command": "ls a/* b"}, {"type": "prompt", "prompt": "a", "loop_limit": None, "timeout": 1.5}]
    text = "{ // mine\n" + json.dumps({"version": 1, "hooks": {"stop": stop, "workspaceOpen": []}})[1:]
    _install_into("cursor", make_machine(tmp_path), text)


def test_cursor_ignores_a_projects_file_behind_a_link(tmp_path: Path) -> None:
    machine = make_machine(tmp_path)
    (machine.project / "shared").mkdir()
    (machine.project / ".cursor").symlink_to("shared")
    with pytest.raises(HooklineError, match=r"\.cursor is a link"):
        install("cursor", machine, InstallScope.PROJECT)
    install("claude-code", machine, InstallScope.PROJECT)
