"""A diagnostic as the protocol says it → as people read it: lines and columns from 1, the severity as a word."""

from __future__ import annotations

from typing import Any, Final

from hookline.hosts.mcp.message import object_in

_SEVERITIES: Final = {1: "error", 2: "warning", 3: "information", 4: "hint"}
_LONGEST: Final = 500  # characters of a message


def finding(said: dict[str, Any], server: str) -> dict[str, Any] | None:
    """None for what has no message."""
    message = said.get("message")
    if not isinstance(message, str) or not message.strip():
        return None
    start = object_in(said, "range", "start")
    severity, code, source = said.get("severity"), said.get("code"), said.get("source")
    found: dict[str, Any] = {
        "line": _from_one(start.get("line")),
        "column": _from_one(start.get("character")),
        "severity": _SEVERITIES.get(severity, "error") if isinstance(severity, int) else "error",
        "message": "; ".join(line.strip() for line in message.splitlines() if line.strip())[:_LONGEST],
        "source": source if isinstance(source, str) else server,
    }
    return found | ({"code": code} if isinstance(code, (str, int)) else {})


def _from_one(number: Any) -> int:
    return number + 1 if isinstance(number, int) and not isinstance(number, bool) and number >= 0 else 1
