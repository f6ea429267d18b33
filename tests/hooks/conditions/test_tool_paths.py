"""The path that a tool is called with."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.hooks.conditions.tool import ToolPath
from hookline.hooks.event import Event


def texts(given: Any, cwd: Any = "/p/src", workspace: Any = "/p") -> tuple[str, ...]:
    facts = {"cwd": cwd, "workspace": workspace, "tool": {"name": "read_file", "input": {"file_path": given}}}
    return ToolPath(("path",)).texts(Event("tool.before", facts))


@pytest.mark.parametrize(
    ("given", "ways"),
    [
        ("a.py", ("a.py", "src/a.py")),
        ("./a.py", ("./a.py", "src/a.py")),
        ("../b/a.py", ("../b/a.py", "b/a.py")),
        ("/p/b/a.py", ("/p/b/a.py", "b/a.py")),
        ("/p/../etc/x", ("/etc/x",)),
        ("../../etc/x", ("../../etc/x", "/etc/x")),
        ("b/../a.py", ("src/a.py",)),
        ("./b/../../a.py", ("a.py",)),
        ("/etc/x", ("/etc/x",)),
        ("/pp/x", ("/pp/x",)),
        ("/p", ("/p", ".")),
        ("", ("",)),
    ],
)
def test_it_is_said_as_given_and_from_the_project(given: str, ways: tuple[str, ...]) -> None:
    assert texts(given) == ways


@pytest.mark.parametrize("nowhere", [None, "", "relative", 5])
def test_without_a_project_a_detour_is_still_none(nowhere: Any) -> None:
    assert texts("a/../b", cwd=nowhere, workspace=nowhere) == ("b",)


def test_what_is_not_text_is_no_path() -> None:
    assert texts(["a"]) == ()
    assert ToolPath(("path",)).texts(Event("tool.before", {})) == ()


def test_it_reads_where_it_is() -> None:
    reads = ToolPath(("path",)).reads()
    assert {("tool", "input", "path"), ("cwd",), ("workspace",)} <= set(reads)
