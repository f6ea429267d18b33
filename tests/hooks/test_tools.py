"""One name for a tool, everywhere."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.hooks.event import Event
from hookline.hooks.tool_input import to_vocabulary
from hookline.hooks.tools import VOCABULARIES, ToolKind, ToolName, all_tool_names, main_field, tool_kind, tool_name_in

CLAUDE, FLO, OPENCODE, GEMINI = (VOCABULARIES[name] for name in ("claude_code", "flo", "opencode", "gemini_cli"))


def event(name: Any = "read_file", input: Any = None, kind: Any = None, host: Any = None) -> Event:
    tool = {"name": name, "input": {} if input is None else input}
    return Event("tool.before", {"tool": tool | ({"kind": kind} if kind else {}), **({"host": host} if host else {})})


@pytest.mark.parametrize(
    ("own", "kind", "vocabulary", "names"),
    [
        ("bash", None, "claude_code", ("bash", "Bash")),
        ("Bash", None, "flo", ("Bash", "bash")),
        ("run_shell_command", None, "native", ("run_shell_command", "bash")),
        ("my_shell", "shell", "native", ("my_shell", "bash")),
        ("my_shell", None, "native", ("my_shell",)),
        ("bash", "other", "claude_code", ("bash",)),
        ("bash", "nonsense", "claude_code", ("bash", "Bash")),
        ("mcp__fs__read", None, "flo", ("mcp__fs__read", "mcp.fs.read", "mcp_fs.read")),
        ("mcp.fs.read", None, "flo", ("mcp.fs.read", "mcp_fs.read", "mcp__fs__read")),
        ("mcp_fs.read", None, "flo", ("mcp_fs.read", "mcp.fs.read", "mcp__fs__read")),
        ("mcp__fs", None, "flo", ("mcp__fs",)),
        ("mcp____read", None, "flo", ("mcp____read",)),
        ("", None, "flo", ("",)),
    ],
)
def test_a_tool_answers_to_its_own_name_and_to_those_of_its_kind(
    own: str, kind: str | None, vocabulary: str, names: tuple[str, ...]
) -> None:
    assert all_tool_names(own, kind, vocabulary) == names
    assert ToolName(VOCABULARIES[vocabulary]).texts(event(own, kind=kind)) == names


def test_an_mcp_server_or_tool_with_underscores_keeps_its_own_name_first() -> None:
    assert all_tool_names("mcp__my__server__tool", None, "flo")[0] == "mcp__my__server__tool"
    assert "mcp__fs__read__all" in all_tool_names("mcp__fs__read__all", None, "flo")


@pytest.mark.parametrize(
    "tool", [5, None, [], "bash", {}, {"name": 5}, {"name": None}, {"name": ["bash"], "kind": "shell"}]
)
def test_a_tool_without_a_name_has_no_names(tool: Any) -> None:
    assert ToolName().texts(Event("tool.before", {"tool": tool})) == ()
    assert tool_name_in(Event("tool.before", {"tool": tool}), CLAUDE) == ""


def test_long_names_are_not_kept() -> None:
    """Whoever names tools and fields at will must not fill our memory."""
    all_tool_names.cache_clear()
    for n in range(50):
        long = f"{n}" * 1000
        assert ToolName().texts(event(long))[0] == long
        assert tool_kind({"name": long}) is ToolKind.OTHER
        assert to_vocabulary(event(input={long: 1}), CLAUDE) == {long: 1}
    assert all_tool_names.cache_info().currsize == 0


@pytest.mark.parametrize(
    ("own", "vocabulary", "told"), [("bash", CLAUDE, "Bash"), ("Bash", CLAUDE, "Bash"), ("odd", CLAUDE, "odd"), ("MultiEdit", CLAUDE, "MultiEdit")]
)  # fmt: skip
def test_a_program_is_told_the_name_that_it_knows(own: str, vocabulary: Any, told: str) -> None:
    assert tool_name_in(event(own), vocabulary) == told


def test_every_kind_but_other_has_a_main_field() -> None:
    assert [kind for kind in ToolKind if main_field(kind) is None] == [ToolKind.OTHER]


def test_no_name_means_two_kinds_that_guards_tell_apart() -> None:
    """A name that two vocabularies use for different kinds would be judged as the wrong one."""
    kinds: dict[str, set[ToolKind]] = {}
    for vocabulary in VOCABULARIES.values():
        for kind, names in vocabulary.names.items():
            for name in names:
                kinds.setdefault(name, set()).add(kind)
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {
        "Write": {ToolKind.WRITE, ToolKind.EDIT}
    }
