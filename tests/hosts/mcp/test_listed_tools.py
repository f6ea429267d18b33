"""Arguments whose names differ only in case from those that a server declares."""

from typing import Any

import pytest

from hookline.hosts.mcp.json_rpc import Message
from hookline.hosts.mcp.listed_tools import ListedTools

PLACE: dict[str, Any] = {"properties": {"path": {}}}
SCHEMA: dict[str, Any] = {
    "properties": {
        "path": {"type": "string"},
        "options": PLACE,
        "edits": {"items": {"$ref": "#/$defs/Edit"}},
        "maybe": {"anyOf": [{"type": "null"}, PLACE]},
        "env": {"additionalProperties": {"type": "string"}},
        "URL": {},
    },
    "$defs": {"Edit": {"properties": {"path": {}, "next": {"$ref": "#/$defs/Edit"}}}},
}


def misspelt(arguments: dict[str, Any], schema: dict[str, Any] = SCHEMA) -> str | None:
    declared = ListedTools()
    declared.learn({"tools": [{"name": "t", "inputSchema": schema}, "odd", {"name": 5}]})
    return declared.find_misspelling(Message({"params": {"name": "t", "arguments": arguments}}))


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"Path": "a"}, "Path"),
        ({"path": "a", "PATH": "b"}, "PATH"),
        ({"path": "a", "path\0": "b"}, "path\0"),
        ({"pa\u200bth": "a"}, "pa\u200bth"),
        ({"url": "a"}, "url"),
        ({"options": {"Path": "a"}}, "Path"),
        ({"edits": [{"path": "a"}, {"patH": "b"}]}, "patH"),
        ({"edits": [{"path": "a", "next": {"next": {"Path": "b"}}}]}, "Path"),
        ({"maybe": {"Path": "a"}}, "Path"),
    ],
)
def test_a_name_in_another_case_is_found_at_any_depth(arguments: dict[str, Any], name: str) -> None:
    assert misspelt(arguments) == name


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "a", "options": {"path": "b"}, "edits": [{"path": "c"}], "maybe": None, "URL": "d"},
        {"env": {"PATH": "/bin", "http_proxy": "a", "HTTP_PROXY": "b"}},
        {"other": 1, "edits": "text", "options": ["Path"]},
    ],
)
def test_names_that_are_declared_or_free_are_left_alone(arguments: dict[str, Any]) -> None:
    assert misspelt(arguments) is None


def test_all_alternatives_of_a_schema_count() -> None:
    choices = [{"properties": {f"name{number}": {}}} for number in range(1_000)]
    assert misspelt({"Path": "a"}, {"anyOf": [PLACE, *choices]}) == "Path"
    assert misspelt({"Path": "a"}, {"anyOf": [*choices, PLACE]}) == "Path"


def test_a_schema_that_refers_to_itself_ends() -> None:
    loop = {"$ref": "#/$defs/A", "$defs": {"A": {"allOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/A"}]}}}
    assert misspelt({"Path": "a"}, loop) is None


@pytest.mark.parametrize(
    ("name", "is_misspelt"),
    [
        ("Danger", True),
        ("DANGER", True),
        ("danger\u200b", True),
        (" danger", True),
        ("danger", False),
        ("dangers", False),
    ],
)
def test_a_tool_whose_name_differs_only_in_case_from_a_listed_one_is_found(name: str, is_misspelt: bool) -> None:
    declared = ListedTools()
    declared.learn({"tools": [{"name": "danger"}, {"name": "t", "inputSchema": SCHEMA}]})
    found = declared.find_misspelling(Message({"params": {"name": name, "arguments": {}}}))
    assert found == (name if is_misspelt else None)


def test_tools_that_a_server_lists_in_both_spellings_are_left_alone() -> None:
    declared = ListedTools()
    declared.learn({"tools": [{"name": "danger"}, {"name": "Danger"}]})
    assert declared.find_misspelling(Message({"params": {"name": "Danger"}})) is None


def test_a_tool_that_the_server_did_not_list_has_no_declared_arguments() -> None:
    assert ListedTools().find_misspelling(Message({"params": {"name": "t", "arguments": {"Path": "a"}}})) is None


def test_what_was_found_in_one_call_is_not_said_of_another() -> None:
    declared = ListedTools()
    declared.learn({"tools": [{"name": "t", "inputSchema": SCHEMA}, {"name": "u", "inputSchema": {"type": "object"}}]})

    def search(tool: str, arguments: dict[str, Any]) -> str | None:
        return declared.find_misspelling(Message({"params": {"name": tool, "arguments": arguments}}))

    assert search("t", {"path": "a", "options": "b"}) is None
    assert search("t", {"path": "a", "options": {"Path": "b"}}) == "Path"
    assert search("t", {"options": "a", "Path": "b"}) == "Path"
    assert search("u", {"Path": "a"}) is None
    declared.learn({"tools": [{"name": "u", "inputSchema": {"properties": {"path": {}}}}]})
    assert search("u", {"Path": "a"}) == "Path"


CALL: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}


def call(arguments: Any = None, **changes: Any) -> Message:
    return Message({**CALL, "params": {"name": "t", "arguments": arguments or {"path": "a"}}, **changes})


def known_calls() -> ListedTools:
    declared = ListedTools()
    declared.remember_correct(call())
    return declared


def test_a_call_with_the_names_of_a_correct_one_is_known() -> None:
    declared = known_calls()
    found = declared.parse_known_call(call({"path": "b"}, id="x"))
    assert found is not None
    assert (found.tool, found.arguments) == ("t", {"path": "b"})
    declared.learn({"tools": []})  # it may declare other names now
    assert declared.parse_known_call(call()) is None


@pytest.mark.parametrize(
    "message",
    [
        call({"path": "a", "Path": "b"}),
        call({"path": {"x": 1}}),
        call({"path": [1]}),
        call(id=None),
        call(id=True),
        call(id=1.0),
        call(method="tools/Call"),
        call(method=["tools/call"]),
        call(result={}),
        call(Method="x"),
        call(params=None),
        call(params={"name": "t", "Name": "u", "arguments": {"path": "a"}}),
        call(params={"name": "u", "arguments": {"path": "a"}}),
        call(params={"name": ["t"], "arguments": {"path": "a"}}),
        call(params={"name": "t", "arguments": ["path"]}),
        call(params={"name": "t"}),
        Message({"id": 1, "method": "tools/call", "params": {"name": "t", "arguments": {"path": "a"}}}),
    ],
)
def test_every_other_call_is_looked_at_more_closely(message: Message) -> None:
    assert known_calls().parse_known_call(message) is None


def test_long_names_are_not_remembered() -> None:
    declared = ListedTools()
    declared.remember_correct(call({"x" * 1_000: "a"}))
    assert declared.parse_known_call(call({"x" * 1_000: "a"})) is None
