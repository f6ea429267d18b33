"""Facts that nobody gave, as a session in a directory would have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from hookline.hooks.tools import tool_kind

_AFTER_TOOL_EVENTS: Final = ("tool.succeeded", "tool.failed", "tool.after", "tool.store")


@dataclass(frozen=True, slots=True)
class SessionInfo:
    id: str
    user: str
    directory: Path
    wall: float  # seconds since 1970, UTC


def session_facts(event: str, given: Mapping[str, Any], session: SessionInfo) -> dict[str, Any]:
    """`given`, and beside it what every session knows. What was given is never changed, not even where it is odd."""
    facts = dict(given)
    directory = str(session.directory)
    for name, value in (("cwd", directory), ("workspace", directory), ("time", _iso_time(session.wall))):
        facts.setdefault(name, value)
    for name, key, value in (
        ("host", "name", "hookline"),
        ("session", "id", session.id),
        ("user", "name", session.user),
    ):
        _set_default_in(facts, name, key, value)
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


def _set_default_in(facts: dict[str, Any], name: str, key: str, value: str) -> None:
    held = facts.get(name, {})
    if isinstance(held, dict) and key not in held:
        facts[name] = {**held, key: value}


def _iso_time(wall: float) -> str:
    return datetime.fromtimestamp(wall, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
