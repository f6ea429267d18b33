"""For each event and dialect: a real hook of that dialect fires in a real run, and is told what the dialect promises."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from hookline.hooks.events import COMMON_FACTS, EVENTS
from runtime.event_recorder import DIALECTS, event_names, recorded_events
from runtime.session_scenario import USER, value_at

PROMISED: dict[str, dict[str, Any]] = yaml.safe_load(
    (Path(__file__).parent / "events" / "promised.yaml").read_text("utf-8")
)
ROWS = [(dialect, name) for dialect in DIALECTS for name in PROMISED[dialect]]
_UNKNOWN_HERE = {"session.mode", "session.model"}  # a fact of other hosts, and the name of a model that has none here
_MAYBE = {"tool.result", "tool.error", "tool.attachments", "tool.more", "notification.title"}


@pytest.mark.parametrize(("dialect", "name"), ROWS, ids=[f"{dialect}: {name}" for dialect, name in ROWS])
def test_a_hook_is_told_what_its_format_promises(dialect: str, name: str) -> None:
    told = [saw.told for saw in recorded_events(dialect) if saw.name == name]
    rows = PROMISED[dialect][name]
    for row in rows if isinstance(rows, list) else [rows]:
        _is_told(told[row.get("at", 0)], row)


def _is_told(told: dict[str, Any], row: dict[str, Any]) -> None:
    for path, expected in row["told"].items():
        value = value_at(told, path)
        if isinstance(expected, str) and expected.startswith("~"):
            assert re.fullmatch(expected[1:], str(value), re.DOTALL), (path, value)
        elif expected == "{workspace}":
            assert "/story-" in value, (path, value)
        else:
            assert value == (USER if expected == "{user}" else expected), path
    for path in row.get("absent", ()):
        assert value_at(told, path) is None, path
    assert list(told) == row.get("keys", list(told))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_event_of_a_dialect_has_its_row(dialect: str) -> None:
    assert set(PROMISED[dialect]) == set(event_names(dialect))


def test_every_event_tells_all_that_is_known() -> None:
    everywhere = {*COMMON_FACTS} - _UNKNOWN_HERE
    for saw in recorded_events("native"):
        wanted = {*everywhere, *EVENTS[saw.event].facts} - _MAYBE
        assert [path for path in sorted(wanted) if not _has(saw.told, path)] == [], saw.name


def _has(told: Any, path: str) -> bool:
    for step in path.split("."):
        if not isinstance(told, dict) or step not in told:
            return False
        told = told[step]
    return True
