"""A question to the person at the client: a form with one yes or no."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any, Final

from hookline.hosts.answer import cut, text_of
from hookline.hosts.mcp.calls import Call
from hookline.hosts.mcp.message import Message, object_in

KEY: Final = "hookline"  # our question among those that a result asks
_SHOWN: Final = 2_000  # bytes of the input


def question(call: Call, name: str, reason: str) -> dict[str, Any]:
    """The parameters of elicitation/create."""
    return {
        "message": f"{reason}\n\n{name}\n{cut(text_of(call.arguments), _SHOWN)}",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "allow": {"type": "boolean", "title": "Allow this tool call?", "default": False},
            },
            "required": ["allow"],
        },
    }


def is_yes(answer: Any) -> bool:
    """Only a form that was sent with its box ticked is a yes."""
    return (
        object_in({"answer": answer}, "answer").get("action") == "accept"
        and object_in(answer, "content").get("allow") is True
    )


def request(params: dict[str, Any]) -> Message:
    """A request of our own to the client; its id is nobody else's."""
    id = f"hookline-{secrets.token_hex(8)}"
    return Message({"jsonrpc": "2.0", "id": id, "method": "elicitation/create", "params": params})


def withdrawal(asked: Message) -> Message:
    params = {"requestId": asked.id, "reason": "the tool call was cancelled"}
    return Message({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params})


def input_required(params: dict[str, Any], state: str) -> dict[str, Any]:
    """The question as a result, for clients that answer by calling again."""
    asked = {"method": "elicitation/create", "params": {"mode": "form", **params}}
    return {"resultType": "input_required", "inputRequests": {KEY: asked}, "requestState": state}


def answer_in(call: Call) -> Any:
    return object_in(call.message.params, "inputResponses").get(KEY)


def same_call(one: Call, other: Call) -> bool:
    return one.tool == other.tool and _canonical(one.arguments) == _canonical(other.arguments)


def _canonical(arguments: Mapping[str, Any]) -> str:
    return json.dumps(arguments, sort_keys=True)


def resumed(again: Call, first: Call, forwarded: Call) -> Call:
    """The call as the server is to see it: the new id and what hooks left, without our question and its answer."""
    params = {**forwarded.message.params}
    for name in ("inputResponses", "requestState"):
        if name in first.message.params:
            params[name] = first.message.params[name]
        else:
            params.pop(name, None)
    if "_meta" in again.message.params:
        params["_meta"] = again.message.params["_meta"]
    return Call(Message({**again.message.value, "params": params}), again.tool, forwarded.arguments)
