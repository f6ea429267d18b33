"""Files that a call names in more than one field."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.hooks.further_values import further_paths
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
        (ToolKind.READ, {"params": {"path": "a", "note": "b"}}, ["a"]),
        (ToolKind.READ, {"input": '{"path": "a"}'}, ["a"]),
        (ToolKind.READ, {"request": {"paths": ["a", "b"], "tags": ["c"]}}, ["a", "b"]),
        (ToolKind.WRITE, {"files": [{"name": "a", "content": "b"}]}, ["a"]),
        (ToolKind.WRITE, {"content": {"path": "a"}}, []),
        (ToolKind.WRITE, {"directory": "d", "name": "a"}, ["d/a"]),
        (ToolKind.WRITE, {"path": "a", "filename": "b"}, []),
        (ToolKind.WRITE, {"path_parts": ["d", "a"]}, ["d/a"]),
        (ToolKind.EDIT, {"patch": "diff --git a/x b/y\nrename from x\nrename to y"}, ["x", "y"]),
        (ToolKind.EDIT, {"patches": ["+++ b/x\n"]}, ["x"]),
    ],
)
def test_paths(kind: ToolKind, input: dict[str, Any], paths: list[str]) -> None:
    assert list(dict.fromkeys(further_paths(input, kind))) == paths
