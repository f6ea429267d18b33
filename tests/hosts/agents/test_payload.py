"""Guards see every part of a call, wherever it is in the input."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.hooks.tools import ToolKind
from hookline.hosts.agents.payload import decode_object, kind_in_vocabulary, known_facts, split_call, tool_facts

PATCH = "*** Begin Patch\n*** Delete File: {}\n*** End Patch"


def _inputs(name: str, input: Any) -> list[Any]:
    return [part for _, part in split_call(name, ToolKind.EDIT, input)]


def test_each_edit_of_a_list_is_a_call() -> None:
    edits = [{"new_string": "a"}, {"new_string": "b"}]
    assert _inputs("MultiEdit", {"file_path": "x", "edits": edits}) == [
        {"file_path": "x", "new_string": "a"},
        {"file_path": "x", "new_string": "b"},
    ]


def test_fields_beside_the_list_are_a_call_too() -> None:
    input = {"file_path": "x", "new_string": "secret", "edits": [{"new_string": "harmless"}]}
    assert _inputs("Edit", input)[0] == input


def test_two_patches_in_one_call_are_both_split() -> None:
    found = _inputs("apply_patch", {"command": PATCH.format("harmless"), "patchText": PATCH.format(".env")})
    assert [each["path"] for each in found] == ["harmless", ".env"]


@pytest.mark.parametrize("edits", [[], [1], [{"new_string": "a"}, "b"], "x", None])
def test_a_list_of_anything_else_stays_as_it_is(edits: Any) -> None:
    assert _inputs("Edit", {"edits": edits}) == [{"edits": edits}]


@pytest.mark.parametrize("input", [None, 3, "text", [], {}])
def test_never_no_call(input: Any) -> None:
    assert len(split_call("apply_patch", ToolKind.EDIT, input)) >= 1
    assert len(split_call("Edit", ToolKind.EDIT, input)) == 1


def _called(name: str, input: Any) -> list[tuple[str, str, Any]]:
    return [(each["name"], each["kind"], each["input"]) for each in tool_facts("opencode", name, "1", input)]


@pytest.mark.parametrize(
    ("tool", "schema", "is_call"),
    [
        ("bash", {"type": "object", "properties": {"command": {"type": "string"}}}, False),
        ("bash", {"properties": {"command": {"type": "string", "description": "rm x"}}}, False),
        ("bash", {"properties": {"command": {"type": "string"}}, "command": "x"}, True),
        ("bash", {"properties": {"command": {"type": "string"}}, "description": "rm x"}, True),
        ("bash", {"type": "object", "properties": {"command": "rm x"}}, True),
        ("bash", {"type": "object", "properties": {"command": {"value": "rm x"}}}, True),
        ("bash", {"type": "object", "properties": {"command": {"type": "string", "value": "rm x"}}}, True),
        ("bash", {"type": "rm x", "properties": {}}, True),
        ("create_page", {"type": "object", "properties": {"title": "x"}}, True),  # it may take such an input
    ],
)
def test_the_description_of_a_shell_is_no_call(tool: str, schema: Any, is_call: bool) -> None:
    called = _called("load_tools", {"tools": [{"name": tool, "parameters": schema}]})
    assert [name for name, _, _ in called] == ["load_tools", *([tool] if is_call else [])]


@pytest.mark.parametrize(
    ("name", "input"),
    [
        ("batch", {"tool_calls": [{"tool": "read", "parameters": {"filePath": "a"}}, {"tool": "bash", "parameters": {"command": "x"}}]}),
        ("multi_tool_use.parallel", {"tool_uses": [{"recipient_name": "functions.bash", "parameters": {"command": "x"}}]}),
        ("parallel", {"calls": [{"name": "bash", "arguments": '{"command": "x"}'}]}),
        ("batch", {"tool_calls": [{"tool": "batch", "parameters": {"tool_calls": [{"tool": "bash", "parameters": {"command": "x"}}]}}]}),
        ("batch", {"tool_calls": ' [{"tool": "bash", "parameters": {"command": "x"}}]'}),
        ("batch", {"tool_calls": ['{"tool": "bash", "parameters": {"command": "x"}}']}),
        ("batch", {"tool_calls": {"tool": "bash", "parameters": {"command": "x"}}}),
        ("batch", {"tool_calls": [{"type": "function", "function": {"name": "bash", "arguments": '{"command": "x"}'}}]}),
        ("batch", {"tool_calls": json.dumps(json.dumps([{"tool": "bash", "parameters": {"command": "x"}}]))}),
        ("batch", {"function_calls": [{"name": "default_api.bash", "args": {"command": "x"}}]}),
        ("batch", {"calls": [{"method": "tools/call", "params": {"name": "bash", "arguments": {"command": "x"}}}]}),
        ("batch", {"steps": [{"tool": " bash ", "input": {"command": "x"}}]}),
        ("batch", {"tool_call": {"function": "bash", "kwargs": {"command": "x"}}}),
        ("call_tool", {"name": "bash", "arguments": {"command": "x"}}),
        ("call_tool", {"tool_name": "bash", "parameters": '{"command": "x"}'}),
        ("invoke", {"tool": "bash", "input": '{"command": "x"}'}),
    ],
)  # fmt: skip
def test_calls_that_a_call_makes_are_calls_too(name: str, input: Any) -> None:
    found = _called(name, input)
    assert found[0] == (name, "other", input)
    assert ("bash", "shell", {"command": "x"}) in found


@pytest.mark.parametrize("calls", [[], [1], [{}], [{"tool": 5}], "bash", None, [{"parameters": {"command": "x"}}]])
def test_a_list_without_calls_is_one_call(calls: Any) -> None:
    assert _called("batch", {"tool_calls": calls}) == [("batch", "other", {"tool_calls": calls})]


def test_calls_too_deep_or_too_many_are_not_judged() -> None:
    deep: Any = {"command": "x"}
    for _ in range(10):
        deep = {"tool_calls": [{"tool": "batch", "parameters": deep}]}
    (found,) = tool_facts("opencode", "batch", "1", deep)
    assert found["parts"] > 1_000
    text = json.dumps({"command": "x"})
    for _ in range(8):
        text = json.dumps({"tool_calls": json.dumps([{"tool": "batch", "parameters": text}])})
    (found,) = tool_facts("opencode", "batch", "1", json.loads(text))
    assert found["parts"] > 1_000
    many = {"tool_calls": [{"tool": "bash", "parameters": {"command": "x"}}] * 1_001}
    (found,) = tool_facts("opencode", "batch", "1", many)
    assert found["parts"] > 1_000


def test_a_call_with_many_names_and_inputs_is_not_multiplied() -> None:
    value: Any = {"command": "x"}
    for _ in range(4):
        call = dict.fromkeys(("tool", "name", "tool_name", "toolName", "function", "method"), "batch")
        call |= {key: f"batch{key}" for key in call}
        value = {"tool_calls": [call | dict.fromkeys(("parameters", "input", "arguments", "args", "params"), value)]}
    (found,) = tool_facts("opencode", "batch", "1", value)
    assert found["parts"] == 1_001


def test_a_tool_that_calls_the_tool_of_a_server() -> None:
    input = {"server_name": "fs", "tool_name": "delete", "arguments": '{"path": "a"}'}
    names = [name for name, _, given in _called("use_mcp_tool", input) if given == {"path": "a"}]
    assert names == ["delete", "mcp__fs__delete"]


@pytest.mark.parametrize(
    "input",
    [
        {"name": "Ann", "input": {}},
        {"items": [{"name": "Ann"}]},
        {"steps": ["bash"]},
        {"tool": "hammer"},
        {"arguments": {"a": 1}},
    ],
)
def test_what_only_looks_like_a_call_is_none(input: Any) -> None:
    assert _called("mcp__x__go", input) == [("mcp__x__go", "other", input)]


def test_an_object_sent_as_text_is_decoded() -> None:
    assert decode_object('{"a": 1}') == {"a": 1}
    for other in ("[1]", "3", "{", "x" * 10, "[" * 100_000, None, 3):
        assert decode_object(other) == other


def test_a_kind_comes_from_the_agents_own_names_first() -> None:
    assert kind_in_vocabulary("kiro", "read") is ToolKind.READ
    assert kind_in_vocabulary("kiro", "Bash") is ToolKind.SHELL
    assert kind_in_vocabulary("kiro", "dance") is ToolKind.OTHER


def test_unknown_facts_are_left_out() -> None:
    assert known_facts(a="", b=None, c={}, d=0, e=False, f=[]) == {"d": 0, "e": False, "f": []}


def test_a_list_of_other_things_has_no_calls() -> None:
    calls = [{"name": "Ann", "phone": "1"}]
    assert _called("mcp__crm__log", {"calls": calls}) == [("mcp__crm__log", "other", {"calls": calls})]


def test_every_name_of_a_nested_call_is_judged() -> None:
    call = {"tool": "read", "name": "bash", "function": {"name": "edit", "arguments": {}}, "input": {"command": "x"}}
    found = _called("batch", {"tool_calls": [call]})
    assert [name for name, _, _ in found] == ["batch", "read", "bash", "edit"]


def test_every_input_of_a_nested_call_is_judged() -> None:
    call = {"tool": "bash", "parameters": {}, "arguments": {"command": "x"}}
    assert ("bash", "shell", {"command": "x"}) in _called("batch", {"tool_calls": [call]})
