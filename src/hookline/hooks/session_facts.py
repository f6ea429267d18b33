"""The facts that every event of a session has: host, session, user, directories and time."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final

from hookline.hooks.tools import tool_kind
from hookline.lazy_dataclasses import dataclass

_AFTER_TOOL_EVENTS: Final = ("tool.succeeded", "tool.failed", "tool.after", "tool.store")


@dataclass(frozen=True, slots=True)
class SessionInfo:
    id: str | None
    user: str | None
    directory: str | Path
    wall: float  # seconds since 1970, UTC
    host: str = "hookline"
    tool_calls: int | None = None


@cache
def login_name() -> str:
    """The name of the user who runs this process, by the user id: a project could set the variables USER and LOGNAME."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # the user id has no name, as in many containers
        return str(os.getuid())


def base_facts(session: SessionInfo) -> dict[str, Any]:
    """The session's own facts. What is None has no fact."""
    facts: dict[str, Any] = {"host": {"name": session.host}}
    if session.id is not None:
        facts["session"] = {"id": session.id}
        if session.tool_calls is not None:
            facts["session"]["tool_calls"] = session.tool_calls
    if session.user is not None:
        facts["user"] = {"name": session.user}
    facts["cwd"] = facts["workspace"] = str(session.directory)
    facts["time"] = format_second(int(session.wall))
    return facts


@lru_cache(8)  # the events of one second share the text
def format_second(wall: int) -> str:
    """Seconds since 1970 as a fact."""
    return format_utc(datetime.fromtimestamp(wall, UTC))


def session_facts(event: str, given: Mapping[str, Any], session: SessionInfo) -> dict[str, Any]:
    """The given facts, completed with the session's own. A given fact is never changed, even if it is odd."""
    facts = dict(given)
    for name, value in base_facts(session).items():
        if isinstance(value, dict) and isinstance(held := facts.get(name, {}), dict):
            facts[name] = {**held, **{key: part for key, part in value.items() if key not in held}}
        else:
            facts.setdefault(name, value)
    tool = facts.get("tool")
    if isinstance(tool, dict):
        facts["tool"] = _complete_tool(event, tool)
    return facts


def _complete_tool(event: str, tool: dict[str, Any]) -> dict[str, Any]:
    known = dict(tool)
    if isinstance(tool.get("name"), str):
        known.setdefault("kind", str(tool_kind(tool)))
    if event == "tool.before":
        known.setdefault("input", {})
    if event in _AFTER_TOOL_EVENTS:
        known.setdefault("ok", event != "tool.failed" and not tool.get("error"))
    return known


def format_utc(moment: datetime) -> str:
    """The time as `2025-12-31T10:30:00Z`."""
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
