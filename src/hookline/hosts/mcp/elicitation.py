"""Asks the person at the MCP client: a form with one yes-or-no field."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any, Final

from hookline.hosts.agents.merged_decision import truncate_utf8, value_text
from hookline.hosts.mcp.json_rpc import McpToolCall, Message, get_object, name_in_other_case

REQUEST_KEY: Final = "hookline"  # our question among those in a result
_ANSWER_KEYS: Final = frozenset(("action", "content", "error"))
_CONTENT_KEYS: Final = frozenset(("allow",))
_MAX_INPUT_BYTES: Final = 2_000  # bytes of the input


def elicitation_params(call: McpToolCall, name: str, reason: str) -> dict[str, Any]:
    """The parameters of elicitation/create."""
    return {
        "message": f"{reason}\n\n{name}\n{truncate_utf8(value_text(call.arguments), _MAX_INPUT_BYTES)}",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "allow": {"type": "boolean", "title": "Allow this tool call?", "default": False},
            },
            "required": ["allow"],
        },
    }


def is_accepted(answer: Any) -> bool:
    """True only for a form that was submitted with its box ticked, without an error and with each name once."""
    given = get_object({"answer": answer}, "answer")
    content = get_object(given, "content")
    if name_in_other_case(given, _ANSWER_KEYS) is not None or name_in_other_case(content, _CONTENT_KEYS) is not None:
        return False
    return given.get("action") == "accept" and "error" not in given and content.get("allow") is True


def is_accepted_reply(reply: Message) -> bool:
    """A response with both a result and an error is invalid, so it is no."""
    return "error" not in reply.value and is_accepted(reply.value.get("result"))


def is_dismissed_reply(reply: Message) -> bool:
    """Nobody chose: the person closed the question, or the client could not show it."""
    result = reply.value.get("result")
    return "error" in reply.value or (isinstance(result, dict) and result.get("action") == "cancel")


def elicitation_request(params: dict[str, Any]) -> Message:
    """A request from the proxy to the client, with an id that nobody else uses."""
    id = f"hookline-{secrets.token_hex(8)}"
    return Message({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})


def cancel_notification(asked: Message, reason: str = "the tool call was cancelled") -> Message:
    params = {"requestId": asked.id, "reason": reason}
    return Message({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})


def input_required_result(params: dict[str, Any], state: str) -> dict[str, Any]:
    """The question as a result, for clients that answer by calling again."""
    asked = {"method": "elicitation/create", "params": {"mode": "form", **params}}
    return {"resultType": "input_required", "inputRequests": {REQUEST_KEY: asked}, "requestState": state}


def elicitation_answer(call: McpToolCall) -> Any:
    return get_object(call.message.params, "inputResponses").get(REQUEST_KEY)


def is_same_call(one: McpToolCall, other: McpToolCall) -> bool:
    return one.tool == other.tool and _canonical_json(one.arguments) == _canonical_json(other.arguments)


def _canonical_json(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True)


def resume_call(again: McpToolCall, first: McpToolCall, forwarded: McpToolCall) -> McpToolCall:
    """The call for the server: with the new id and the hooks' changes, without our question and its answer."""
    params = {**forwarded.message.params}
    for name in ("inputResponses", "requestState"):
        if name in first.message.params:
            params[name] = first.message.params[name]
        else:
            params.pop(name, None)
    if "_meta" in again.message.params:
        params["_meta"] = again.message.params["_meta"]
    return McpToolCall(Message({**again.message.value, "params": params}), again.tool, forwarded.arguments)
