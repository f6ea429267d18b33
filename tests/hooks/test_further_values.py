"""Files and commands that a call names in more than one field."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.hooks.further_values import further_commands, further_paths
from hookline.hooks.tools import ToolKind


@pytest.mark.parametrize(
    ("kind", "input", "paths"),
    [
        (ToolKind.WRITE, {"source": "a", "destination": "b"}, ["a", "b"]),
        (ToolKind.WRITE, {"path": "a", "newPath": "b"}, ["b"]),
        (ToolKind.READ, {"files": ["a", {"path": "b", "lines": "1-2"}]}, ["a", "b"]),
        (ToolKind.READ, {"paths": '["a", "b"]'}, ["a", "b"]),
        (ToolKind.READ, {"source": "a"}, []),
        (ToolKind.WRITE, {"from": 1, "to": 2.5, "target": None}, []),
        (ToolKind.EDIT, {"from": "old text", "to": "new text"}, []),
        (ToolKind.EDIT, {"patch": "*** Add File: a\n*** Move to: b\n+*** Add File: c"}, ["a", "b"]),
        (ToolKind.EDIT, {"command": ["apply_patch", "*** Delete File: a"]}, ["a"]),
        (ToolKind.EDIT, {"diff": "--- /dev/null\n+++ b/x y\t2026-01-01\n"}, ["x y"]),
        (ToolKind.GREP, {"paths": ["a"], "include": "*.py"}, ["a"]),
        (ToolKind.SHELL, {"files": ["a"]}, []),
    ],
)
def test_paths(kind: ToolKind, input: dict[str, Any], paths: list[str]) -> None:
    assert list(further_paths(input, kind)) == paths


@pytest.mark.parametrize(
    ("input", "commands"),
    [
        ({"commands": ["a", "b"]}, ["a", "b"]),
        ({"command": "rm", "args": ["-r", "x"]}, [["rm", "-r", "x"]]),
        ({"command": "rm", "args": "-r x"}, ["rm -r x"]),
        ({"command": "rm", "args": []}, []),
        ({"command": "rm", "args": '["-r", "x"]'}, [["rm", "-r", "x"]]),
        (
            {"command": "rm", "flags": {"force": True, "r": True, "depth": 3, "quiet": False, "more": None}},
            [["rm", "--force", "-r", "--depth", "3"]],
        ),
        (
            {"command": "rm", "args": ["-r"], "options": ["-f"]},
            [["rm", "-r"], ["rm", "-f"], ["rm", "-r", "-f"], ["rm", "-f", "-r"]],
        ),
        ({"command": "rm", "args": ["a b"], "options": "-f"}, [["rm", "a b"], "rm -f", "rm 'a b' -f", "rm -f 'a b'"]),
        ({"command": ["rm"], "args": ["x"]}, []),
    ],
)
def test_commands(input: dict[str, Any], commands: list[Any]) -> None:
    heads = (input["command"],) if "command" in input else ()
    assert list(further_commands(input, heads)) == commands
