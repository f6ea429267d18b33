from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.hooks.tools import ToolKind
from hookline.hosts.mcp.json_rpc import (
    McpToolCall,
    Message,
    can_elicit,
    declared_kinds,
    parse_text_result,
    parse_tool_call,
    result_of,
    server_name,
)

pytestmark = pytest.mark.slow


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


IMAGE = {"type": "image", "data": "aGk=", "mimeType": "image/png"}


def told(result: dict[str, Any]) -> Any:
    found = result_of(Message({"jsonrpc": "2.0", "id": 1, "result": result}))
    assert found is not None
    return found


_odd = st.sampled_from(
    [None, True, False, 1, "a", "b", "text", "complete", "input_required", [], {}, ["a"], {"result": "a"}]
)
_blocks = st.lists(st.one_of(_odd, st.dictionaries(st.sampled_from(["type", "text", "x"]), _odd)), max_size=2)
_plain = st.just([text("a")])


@given(
    st.fixed_dictionaries(
        {},
        optional={
            "content": st.one_of(_plain, _blocks, _odd),
            "structuredContent": st.one_of(_odd, st.dictionaries(st.sampled_from(["result", "x"]), _odd)),
            "isError": _odd,
            "resultType": _odd,
        },
    )
)
def test_a_result_of_one_text_is_read_as_any_other(result: dict[str, Any]) -> None:
    closely = told({**result, "_meta": {}})  # which hooks need not see, but takes the longer way
    assert (told(result).result, told(result).ok) == (closely.result, closely.ok)


@pytest.mark.parametrize(
    ("result", "seen"),
    [
        ({"content": [text("a")]}, "a"),
        ({"content": [text("a"), text("b")]}, "a\nb"),
        ({"content": []}, ""),
        ({"content": [text("a")], "structuredContent": {"result": "a"}}, "a"),
        ({"content": [text('{"x":1}')], "structuredContent": {"x": 1}}, '{"x":1}'),
        (
            {"content": [text("short")], "structuredContent": {"x": "all of it"}, "_meta": {}},
            {"content": [text("short")], "structuredContent": {"x": "all of it"}},
        ),
        ({"content": [text("a"), IMAGE]}, {"content": [text("a"), IMAGE]}),
        ({"structuredContent": {"x": 1}}, {"structuredContent": {"x": 1}}),
        ({"content": "odd"}, {"content": "odd"}),
        (
            {"content": [text("a")], "_meta": {"note": "AKIA"}},
            {"content": [text("a")], "_meta": {"note": "AKIA"}},
        ),
        ({"content": [text("a") | {"_meta": {"k": "b"}}]}, {"content": [text("a") | {"_meta": {"k": "b"}}]}),
        ({"content": [text("a") | {"_meta": {"k": 1}}]}, "a"),
    ],
)
def test_hooks_see_the_text_or_else_all_of_it(result: dict[str, Any], seen: Any) -> None:
    assert told(result).facts() == {"result": seen, "ok": True}


def test_a_tools_error_is_not_ok() -> None:
    facts = told({"content": [text("it broke")], "isError": True}).facts()
    assert facts == {"result": "it broke", "ok": False, "error": "it broke"}


@pytest.mark.parametrize(
    ("result", "new", "left"),
    [
        ({"content": [text("a"), text("b")], "_meta": {"k": 1}}, "c", {"content": [text("c")], "_meta": {"k": 1}}),
        ({"content": [text("a")], "_meta": {"note": "a"}}, "b", {"content": [text("b")]}),
        (
            {"content": [text("a")], "_meta": {"note": "a"}},
            {"content": [text("a")], "_meta": {"note": "***"}},
            {"content": [text("a")], "_meta": {"note": "***"}},
        ),
        (
            {"content": [text("a")], "structuredContent": {"result": "a"}},
            "b",
            {"content": [text("b")], "structuredContent": {"result": "b"}},
        ),
        (
            {"content": [text('{"x":1}')], "structuredContent": {"x": 1}},
            '{"x":2}',
            {"content": [text('{"x":2}')], "structuredContent": {"x": 2}},
        ),
        ({"content": [text('{"x":1}')], "structuredContent": {"x": 1}}, "none", {"content": [text("none")]}),
        ({"content": [text("a"), IMAGE]}, "b", {"content": [text("b")]}),
        (
            {"content": [text("a"), IMAGE], "structuredContent": {"x": 1}},
            {"content": [IMAGE], "structuredContent": {"x": 0}},
            {"content": [IMAGE], "structuredContent": {"x": 0}},
        ),
        ({"content": [text("a"), IMAGE], "structuredContent": {"x": 1}}, {"content": [IMAGE]}, {"content": [IMAGE]}),
        ({"content": [text("a")], "toolResult": "a"}, "b", {"content": [text("b")]}),
        ({"content": [text("a")]}, {"x": 1}, {"content": [text('{"x":1}')]}),
        ({"content": [text("a")]}, None, {"content": [text("null")]}),
        ({"content": [text("a")]}, {1, 2}, {"content": [text("(cannot be shown)")]}),
    ],
)
def test_a_changed_result_leaves_nothing_of_the_old_one(result: dict[str, Any], new: Any, left: dict[str, Any]) -> None:
    found = told(result)
    assert found.apply_changes({**found.facts(), "result": new}, "").result == left


def test_an_unchanged_result_is_the_message_as_it_came() -> None:
    found = told({"content": [text("a")]})
    assert found.apply_changes(found.facts(), "") is found.message


def test_a_failure_can_be_turned_into_a_success_and_back() -> None:
    failed = told({"content": [text("a")], "isError": True})
    assert failed.apply_changes({**failed.facts(), "ok": True}, "").result["isError"] is False
    worked = told({"content": [text("a")]})
    assert worked.apply_changes({**worked.facts(), "ok": False}, "").result["isError"] is True


def test_a_changed_error_is_what_the_agent_reads() -> None:
    failed = told({"content": [text("password: x")], "isError": True})
    assert failed.apply_changes({**failed.facts(), "error": "***"}, "").result["content"] == [text("***")]


def test_a_changed_protocol_error_says_nothing_beside_it() -> None:
    error = {"code": -32603, "message": "token 123", "data": {"token": 123}}
    failed = result_of(Message({"jsonrpc": "2.0", "id": 1, "error": error, "result": {"content": [text("token 123")]}}))
    assert failed is not None
    left = failed.apply_changes({**failed.facts(), "result": "***"}, "")
    assert left.value == {"jsonrpc": "2.0", "id": 1, "error": {"code": -32603, "message": "***"}}
    assert failed.apply_changes(failed.facts(), "").value == {"jsonrpc": "2.0", "id": 1, "error": error}


def test_notes_stand_behind_the_result() -> None:
    found = told({"content": [IMAGE], "structuredContent": {"x": 1}})
    left = found.apply_changes(found.facts(), "a note").result
    assert left == {"content": [IMAGE, text("a note")], "structuredContent": {"x": 1}}


def test_a_result_nested_too_deep_cannot_be_judged() -> None:
    deep: Any = {}
    for _ in range(200):
        deep = {"a": deep}
    assert result_of(Message({"id": 1, "result": {"structuredContent": deep}})) is None


@pytest.mark.parametrize(
    ("said", "name"),
    [("files", "files"), ("my files", "my_files"), ("a.b/c", "a_b_c"), ("@scope/x", "scope_x"), ("é", ""), ("", "")],
)
def test_a_servers_name_has_no_dots_or_spaces(said: str, name: str) -> None:
    assert server_name(said) == name


@pytest.mark.parametrize(
    ("capabilities", "can"),
    [
        ({}, False),
        ({"elicitation": {}}, True),
        ({"elicitation": {"form": {}}}, True),
        ({"elicitation": {"url": {}}}, False),
        ({"elicitation": {"url": {}, "form": {}}}, True),
        ({"elicitation": None}, False),
        ({"elicitation": True}, False),
    ],
)
def test_elicitation_capability(capabilities: dict[str, Any], can: bool) -> None:
    assert can_elicit(capabilities) is can


def test_what_a_server_declares_adds_the_kind_that_a_name_does_not_tell() -> None:
    def tool(name: str, *fields: str, **annotations: bool) -> dict[str, Any]:
        return {
            "name": name,
            "inputSchema": {"properties": {field: {} for field in fields}},
            "annotations": annotations,
        }

    listed = [
        tool("stat", "path", readOnlyHint=True),
        tool("wipe", "path", destructiveHint=True),
        tool("shell", "line", readOnlyHint=True),
        tool("ping", "host"),
        {"name": 5},
        "odd",
    ]
    assert declared_kinds({"tools": listed}) == {
        "stat": ToolKind.READ,
        "wipe": ToolKind.WRITE,
        "shell": ToolKind.SHELL,
    }
    assert declared_kinds({"tools": "odd"}) == {}


def test_a_call_counts_more_than_what_its_server_declares() -> None:
    call = parse_tool_call(Message({"id": 1, "params": {"name": "stat", "arguments": {"command": "rm -rf /"}}}))
    assert isinstance(call, McpToolCall)
    assert call.facts("fs", ToolKind.READ)["kind"] == "other"  # guessed from the call itself: a shell
    call = parse_tool_call(Message({"id": 1, "params": {"name": "stat", "arguments": {"path": "a"}}}))
    assert isinstance(call, McpToolCall)
    assert call.facts("fs", ToolKind.READ)["kind"] == "read"


@pytest.mark.parametrize(
    "changes",
    [
        {"Result": {}},
        {"error": {}},
        {"method": "x"},
        {"result": None},
        {"result": {"content": [text("a")], "IsError": True}},
        {"result": {"content": [text("a")], "_meta": {}}},
        {"result": {"content": [text("a")], "resultType": "input_required"}},
        {"result": {"content": [text("a"), text("b")]}},
        {"result": {"task": {"taskId": "1"}}},
    ],
)
def test_only_a_plain_text_needs_no_closer_look(changes: dict[str, Any]) -> None:
    plain = {"jsonrpc": "2.0", "id": 1, "result": {"content": [text("a")], "isError": True}}
    assert parse_text_result(Message(plain)) == result_of(Message(plain))
    assert parse_text_result(Message({**plain, **changes})) is None
