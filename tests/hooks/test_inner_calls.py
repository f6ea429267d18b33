"""Calls within the input of a call."""

from __future__ import annotations

import json
from collections import UserDict, deque
from collections.abc import Callable
from typing import Any

import pytest

from hookline.errors import ConditionError
from hookline.hooks.inner_calls import _LISTS, _OWN_NAMES, decode_container, find_inner_calls, has_inner_calls
from hookline.hosts.agents import payload


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
    assert list(find_inner_calls(input)) == calls


CALLS = {
    **{f"a list in {key}": {key: [{"name": "a", "args": {}}]} for key in _LISTS},
    **{f"one call in {key}": {key: {"name": "a", "args": {}}} for key in _LISTS},
    **{f"a call as JSON text in {key}": {key: '{"name": "a", "args": {}}'} for key in _LISTS},
    **{f"the name in {key}": {key: "a", "arguments": {}} for key in (*_OWN_NAMES, "name")},
}


@pytest.mark.parametrize("input", CALLS.values(), ids=CALLS)
def test_an_input_with_other_fields_is_searched_for_calls(input: dict[str, Any]) -> None:
    """Most inputs have no field that could hold a call, and are not looked at more closely."""
    for given in (input, {"path": "x", **input}):
        found = payload.inner_call_facts("mcp", given)
        assert found is not None
        assert "a" in [facts["name"] for facts in found]
        assert [name for name, _ in find_inner_calls(given)] == ["a"]


@pytest.mark.parametrize("wrap", [list, tuple, deque, json.dumps, lambda calls: json.dumps(calls).encode()])
@pytest.mark.parametrize("call", [{"name": "a", "arguments": {"x": 1}}, UserDict(name="a", arguments={"x": 1})])
def test_calls_in_other_collections_are_read(wrap: Callable[[list[Any]], Any], call: Any) -> None:
    if wrap not in (list, tuple, deque):  # JSON knows plain mappings only
        call = dict(call)
    assert list(find_inner_calls({"tool_calls": wrap([call])})) == [("a", {"x": 1})]


@pytest.mark.parametrize("text", ["[" + " " * 1_000_001 + "]", "[" * 100_000, '{"a":' * 100_000])
def test_text_that_cannot_be_read_may_hold_any_call(text: str) -> None:
    with pytest.raises(ConditionError):
        list(find_inner_calls({"tool_calls": text}))
    assert has_inner_calls({"name": "act", "input": {"tool_calls": text}})
    assert payload.inner_call_facts("mcp", {"tool_calls": text}) is None


@pytest.mark.parametrize("key", ["commands", "edits", "replacements", "operations", "files", "requests"])
def test_too_many_parts_are_no_calls(key: str) -> None:
    parts = ["x" if key == "commands" else {"x": 1}] * (payload.MAX_PARTS + 1)
    assert payload.inner_call_facts("mcp", {key: parts}) is None
    assert payload.inner_call_facts("mcp", {"path": "x", key: parts[:2]}) == []


def test_a_container_in_json_text() -> None:
    assert decode_container('[{"a": 1}]') == [{"a": 1}]
    assert decode_container('"[1]"') == [1]
    for other in ("text", '"text"', "{", 3, None):
        assert decode_container(other) == other
