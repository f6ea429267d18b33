"""One name for a tool, everywhere."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.hooks.event import Event
from hookline.hooks.fields import input_in
from hookline.hooks.tools import TONGUES, Kind, ToolName, declared_kind, main_field, name_in, names_of

CLAUDE, FLO, OPENCODE, GEMINI = (TONGUES[name] for name in ("claude_code", "flo", "opencode", "gemini_cli"))


def event(name: Any = "read_file", input: Any = None, kind: Any = None, host: Any = None) -> Event:
    tool = {"name": name, "input": {} if input is None else input}
    return Event("tool.before", {"tool": tool | ({"kind": kind} if kind else {}), **({"host": host} if host else {})})


@pytest.mark.parametrize(
    ("own", "kind", "tongue", "names"),
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
    own: str, kind: str | None, tongue: str, names: tuple[str, ...]
) -> None:
    assert names_of(own, kind, tongue) == names
    assert ToolName(TONGUES[tongue]).texts(event(own, kind=kind)) == names


def test_an_mcp_server_or_tool_with_underscores_keeps_its_own_name_first() -> None:
    assert names_of("mcp__my__server__tool", None, "flo")[0] == "mcp__my__server__tool"
    assert "mcp__fs__read__all" in names_of("mcp__fs__read__all", None, "flo")


@pytest.mark.parametrize(
    "tool", [5, None, [], "bash", {}, {"name": 5}, {"name": None}, {"name": ["bash"], "kind": "shell"}]
)
def test_a_tool_without_a_name_has_no_names(tool: Any) -> None:
    assert ToolName().texts(Event("tool.before", {"tool": tool})) == ()
    assert name_in(Event("tool.before", {"tool": tool}), CLAUDE) == ""


def test_long_names_are_not_kept() -> None:
    """Whoever names tools and fields at will must not fill our memory."""
    names_of.cache_clear()
    for n in range(50):
        long = f"{n}" * 1000
        assert ToolName().texts(event(long))[0] == long
        assert declared_kind({"name": long}) is Kind.OTHER
        assert input_in(event(input={long: 1}), CLAUDE) == {long: 1}
    assert names_of.cache_info().currsize == 0


@pytest.mark.parametrize(
    ("own", "tongue", "told"), [("bash", CLAUDE, "Bash"), ("Bash", CLAUDE, "Bash"), ("odd", CLAUDE, "odd"), ("MultiEdit", CLAUDE, "MultiEdit")]
)  # fmt: skip
def test_a_program_is_told_the_name_that_it_knows(own: str, tongue: Any, told: str) -> None:
    assert name_in(event(own), tongue) == told


def test_every_kind_but_other_has_a_main_field() -> None:
    assert [kind for kind in Kind if main_field(kind) is None] == [Kind.OTHER]


def test_no_name_means_two_kinds_that_guards_tell_apart() -> None:
    """A name that two tongues use for different kinds would be judged as the wrong one."""
    kinds: dict[str, set[Kind]] = {}
    for tongue in TONGUES.values():
        for kind, names in tongue.names.items():
            for name in names:
                kinds.setdefault(name, set()).add(kind)
    assert {name: found for name, found in kinds.items() if len(found) > 1} == {"Write": {Kind.WRITE, Kind.EDIT}}
