"""Calls within the input of a call."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.hosts.agents.wrapped_calls import decode_container, wrapped_calls


@pytest.mark.parametrize(
    ("input", "calls"),
    [
        ({"tool_calls": [{"name": "a", "arguments": {"x": 1}}]}, [("a", {"x": 1})]),
        ({"tool_calls": '[{"name": "a", "arguments": "{\\"x\\": 1}"}]'}, [("a", {"x": 1})]),
        ({"calls": [{"name": "functions.a", "args": {}}, "text"]}, [("a", {})]),
        ({"tool_name": "a", "arguments": {}}, [("a", {})]),
        ({"server": "s", "tool": "a", "input": {}}, [("a", {}), ("mcp__s__a", {})]),
        ({"calls": [{"name": "a", "args": 1, "input": 2}]}, [("a", 2), ("a", 1)]),
        ({"calls": [{"name": "Ann"}]}, []),
        ({"calls": "[not json"}, []),
        ({"name": "Ann", "input": {}}, []),
        ("text", []),
        (None, []),
    ],
)
def test_calls(input: Any, calls: list[tuple[str, Any]]) -> None:
    assert list(wrapped_calls(input)) == calls


def test_a_container_in_json_text() -> None:
    assert decode_container('[{"a": 1}]') == [{"a": 1}]
    assert decode_container('"[1]"') == [1]
    for other in ("text", '"text"', "{", "[" * 100_000, 3, None):
        assert decode_container(other) == other
