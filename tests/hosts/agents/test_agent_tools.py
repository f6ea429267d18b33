"""What each tool of an agent is taken for, and the unknown tools that it has called."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookline.hooks.tools import ToolKind
from hookline.hosts.agents import AGENT_NAMES
from hookline.hosts.agents.agent_tools import AgentTool, SeenTools, seen_tools_directory, tools_of_agent
from hookline.hosts.agents.machine import Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path / "home", tmp_path)


@pytest.fixture
def seen(machine: Machine) -> SeenTools:
    return SeenTools(seen_tools_directory(machine))


def _listed(agent: str, machine: Machine) -> dict[str, AgentTool]:
    return {tool.name: tool for tool in tools_of_agent(agent, machine)}


@pytest.mark.parametrize("agent", AGENT_NAMES)
def test_every_agents_shell_is_matched_by_bash(agent: str, machine: Machine) -> None:
    shells = [tool for tool in tools_of_agent(agent, machine) if tool.kind is ToolKind.SHELL]
    assert shells
    assert {tool.native_name for tool in shells} == {"bash"}
    assert all(tool.is_known for tool in shells)


def test_an_unknown_tool_is_listed_once_it_was_called(machine: Machine, seen: SeenTools) -> None:
    seen.remember("cline", {"name": "shellTool", "kind": "other", "input": {"cmd": "secret", "other": 1}})
    seen.remember("cline", {"name": "ponder", "input": {}})
    found = _listed("cline", machine)
    assert found["shellTool"].kind is ToolKind.SHELL
    assert found["shellTool"].why == "a guess from its field cmd: for guards only"
    assert found["ponder"].why == "unknown: matched by its own name only"
    assert not found["ponder"].is_known
    assert "shellTool" not in _listed("codex", machine)


def test_a_name_of_another_agents_tool_is_listed_if_it_is_used_otherwise(machine: Machine, seen: SeenTools) -> None:
    seen.remember("droid", {"name": "process", "kind": "other", "input": {"command": "ls"}})
    seen.remember("droid", {"name": "view", "kind": "read", "input": {"path": "a"}})  # as Copilot uses it
    seen.remember("openclaw", {"name": "process", "kind": "other", "input": {"command": "ls"}})  # its own
    found = _listed("droid", machine)
    assert found["process"].kind is ToolKind.SHELL
    assert found["process"].why == "a guess from its field command: for guards only"
    assert not found["process"].is_known
    assert "view" not in found
    assert seen.read("openclaw") == {}


def test_only_names_are_kept(machine: Machine, seen: SeenTools) -> None:
    seen.remember("cline", {"name": "shellTool", "input": {"cmd": "secret", "other": 1}})
    (file,) = seen_tools_directory(machine).iterdir()
    assert file.read_text() == '{"shellTool": ["cmd"]}'


@pytest.mark.parametrize(
    "tool",
    [
        None,
        {},
        {"name": 5},
        {"name": ""},
        {"name": "x" * 101},
        {"name": "a\nb"},
        {"name": "Bash"},
        {"name": "mcp__a__b"},
    ],
)
def test_other_names_are_not_kept(tool: Any, seen: SeenTools) -> None:
    seen.remember("cline", tool)
    assert seen.read("cline") == {}


def test_the_number_of_names_is_limited(seen: SeenTools) -> None:
    for number in range(205):
        seen.remember("cline", {"name": f"odd{number}", "input": {}})
    assert len(seen.read("cline")) == 200


@pytest.mark.parametrize("text", ["", "[]", "{", '{"a": 5}'])
def test_a_file_that_cannot_be_read_is_empty(text: str, machine: Machine, seen: SeenTools) -> None:
    directory = seen_tools_directory(machine)
    directory.mkdir(parents=True)
    (directory / "cline.json").write_text(text)
    assert seen.read("cline") == {}


def test_a_directory_that_cannot_be_written_is_no_error(machine: Machine, seen: SeenTools) -> None:
    directory = seen_tools_directory(machine)
    directory.parent.mkdir(parents=True)
    directory.write_text("a file")
    seen.remember("cline", {"name": "odd", "input": {}})
    assert seen.read("cline") == {}
