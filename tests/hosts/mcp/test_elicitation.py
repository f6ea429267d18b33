"""The question to the person at the MCP client."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.hosts.mcp.elicitation import (
    REQUEST_KEY,
    cancel_notification,
    elicitation_answer,
    elicitation_params,
    elicitation_request,
    input_required_result,
    is_accepted,
    is_accepted_reply,
    is_same_call,
    resume_call,
)
from hookline.hosts.mcp.json_rpc import McpToolCall, Message


def tool_call(arguments: dict[str, Any], id: int = 1, tool: str = "t", **params: Any) -> McpToolCall:
    value = {
        "jsonrpc": "2.0",
        "id": id,
        "method": "tools/call",
        "params": {"name": tool, "arguments": arguments, **params},
    }
    return McpToolCall(Message(value), tool, arguments)


@pytest.mark.parametrize(
    ("answer", "accepted"),
    [
        ({"action": "accept", "content": {"allow": True}}, True),
        ({"action": "accept", "content": {"allow": False}}, False),
        ({"action": "accept", "content": {"allow": True}, "error": {"code": 1}}, False),
        ({"action": "accept", "content": {"allow": "true"}}, False),
        ({"action": "accept", "content": {"allow": 1}}, False),
        ({"action": "accept"}, False),
        ({"action": "accept", "content": [True]}, False),
        ({"action": "decline", "content": {"allow": True}}, False),
        ({"action": "cancel"}, False),
        ({}, False),
        (None, False),
        ("accept", False),
    ],
)
def test_only_a_ticked_and_submitted_box_is_a_yes(answer: Any, accepted: bool) -> None:
    assert is_accepted(answer) is accepted


def test_the_question_shows_the_call_but_not_all_of_a_long_one() -> None:
    params = elicitation_params(tool_call({"path": "x" * 5000}), "server.t", "Sure?")
    assert params["message"].startswith('Sure?\n\nserver.t\n{"path')
    assert len(params["message"]) < 2100
    assert params["requestedSchema"]["properties"]["allow"]["default"] is False


def test_each_question_has_an_id_of_its_own_and_can_be_cancelled() -> None:
    first, second = (elicitation_request({}) for _ in range(2))
    assert first.id != second.id
    assert cancel_notification(first).params["requestId"] == first.id


def test_a_question_as_a_result_is_answered_under_its_key() -> None:
    result = input_required_result({"message": "Sure?"}, "state")
    assert result["requestState"] == "state"
    assert result["inputRequests"][REQUEST_KEY]["params"] == {"mode": "form", "message": "Sure?"}
    assert elicitation_answer(tool_call({}, inputResponses={REQUEST_KEY: {"action": "accept"}})) == {"action": "accept"}
    assert elicitation_answer(tool_call({})) is None


def test_the_same_call_has_the_same_tool_and_arguments() -> None:
    assert is_same_call(tool_call({"a": 1, "b": 2}), tool_call({"b": 2, "a": 1}, id=2))
    assert not is_same_call(tool_call({"a": 1}), tool_call({"a": True}))
    assert not is_same_call(tool_call({}), tool_call({}, tool="other"))


def test_the_server_sees_the_new_id_and_the_changes_but_not_our_question() -> None:
    first = tool_call({"a": 1}, requestState="the server's")
    again = tool_call({"a": 1}, id=2, requestState="ours", inputResponses={REQUEST_KEY: {}}, _meta={"token": 2})
    resumed = resume_call(again, first, first.with_arguments({"a": 9}))
    assert resumed.message.id == 2
    assert resumed.message.params == {
        "name": "t",
        "arguments": {"a": 9},
        "requestState": "the server's",
        "_meta": {"token": 2},
    }
    assert resumed.arguments == {"a": 9}


@pytest.mark.parametrize(
    ("more", "accepted"),
    [
        ({}, True),
        ({"error": {"code": -32603, "message": "no"}}, False),
        ({"error": None}, False),
        ({"result": None}, False),
    ],
)
def test_a_response_with_an_error_is_no(more: dict[str, Any], accepted: bool) -> None:
    result = {"action": "accept", "content": {"allow": True}}
    assert is_accepted_reply(Message({"jsonrpc": "2.0", "id": "x", "result": result, **more})) is accepted


@pytest.mark.parametrize(
    "answer",
    [
        {"action": "accept", "Action": "decline", "content": {"allow": True}},
        {"action": "accept", "content": {"allow": True}, "CONTENT": {"allow": False}},
        {"action": "accept", "content": {"allow": True, "Allow": False}},
        {"action": "accept", "content": {"allow": True}, "Error": {}},
    ],
)
def test_an_answer_that_could_be_read_in_two_ways_is_no(answer: dict[str, Any]) -> None:
    assert not is_accepted(answer)
