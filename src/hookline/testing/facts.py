"""Facts that nobody gave, as a session in a directory would have them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from hookline.hooks.tools import declared_kind

_AFTER_A_TOOL: Final = ("tool.succeeded", "tool.failed", "tool.after", "tool.store")


@dataclass(frozen=True, slots=True)
class Session:
    id: str
    user: str
    directory: Path
    wall: float  # seconds since 1970, UTC


def session_facts(event: str, given: Mapping[str, Any], session: Session) -> dict[str, Any]:
    """`given`, and beside it what every session knows. What was given is never changed, not even where it is odd."""
    facts = dict(given)
    directory = str(session.directory)
    for name, value in (("cwd", directory), ("workspace", directory), ("time", _iso(session.wall))):
        facts.setdefault(name, value)
    for name, key, value in (
        ("host", "name", "hookline"),
        ("session", "id", session.id),
        ("user", "name", session.user),
    ):
        _set_in(facts, name, key, value)
    tool = facts.get("tool")
    if isinstance(tool, dict):
        facts["tool"] = _tool(event, tool)
    return facts


def _tool(event: str, tool: dict[str, Any]) -> dict[str, Any]:
    known = dict(tool)
    if isinstance(tool.get("name"), str):
        known.setdefault("kind", str(declared_kind(tool)))
    if event == "tool.before":
        known.setdefault("input", {})
    if event in _AFTER_A_TOOL:
        known.setdefault("ok", event != "tool.failed" and not tool.get("error"))
    return known


def _set_in(facts: dict[str, Any], name: str, key: str, value: str) -> None:
    held = facts.get(name, {})
    if isinstance(held, dict) and key not in held:
        facts[name] = {**held, key: value}


def _iso(wall: float) -> str:
    return datetime.fromtimestamp(wall, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
