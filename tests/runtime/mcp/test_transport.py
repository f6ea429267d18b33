"""Which tools of a server are dropped; whole connections are in test_server_tools.py."""

from __future__ import annotations

from typing import Any

from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

from hookline.runtime.mcp.transport import ToolListFilter

GOOD = {"name": "good", "inputSchema": {"type": "object"}}


def filtered(version: str | None, *tools: Any) -> list[Any]:
    sieve = ToolListFilter("notes")
    sieve.version = version
    message = SessionMessage(JSONRPCResponse(jsonrpc="2.0", id=1, result={"tools": list(tools)}))
    sieve.drop_malformed_tools(message)
    result: list[Any] = message.message.result["tools"]  # type: ignore[union-attr]
    return result


def test_a_malformed_tool_does_not_cost_the_others() -> None:
    assert filtered("2025-06-18", {"name": 3}, GOOD, "text", {"inputSchema": {}}) == [GOOD]


def test_before_the_version_is_known_nothing_is_dropped() -> None:
    assert filtered(None, "text", GOOD) == ["text", GOOD]


def test_an_error_instead_of_a_message_passes() -> None:
    sieve = ToolListFilter("notes")
    sieve.version = "2025-06-18"
    sieve.drop_malformed_tools(ValueError("broken"))
