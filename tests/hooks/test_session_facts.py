"""The facts that every event of a session has."""

from __future__ import annotations

import os
import pwd
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from hookline.hooks.session_facts import SessionInfo, base_facts, format_utc, login_name, session_facts

SESSION = SessionInfo("s1", "me", "/project", 0.0, tool_calls=3)


def test_a_session_has_its_facts() -> None:
    assert base_facts(SESSION) == {
        "host": {"name": "hookline"},
        "session": {"id": "s1", "tool_calls": 3},
        "user": {"name": "me"},
        "cwd": "/project",
        "workspace": "/project",
        "time": "1970-01-01T00:00:00Z",
    }
    assert set(base_facts(SessionInfo(None, None, "/", 0.0, tool_calls=3))) == {"host", "cwd", "workspace", "time"}


def test_the_user_is_that_of_the_process_whatever_the_environment_says(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.setenv(variable, "somebody")
    login_name.cache_clear()
    assert login_name() == pwd.getpwuid(os.getuid()).pw_name


def test_a_given_fact_is_never_changed() -> None:
    given: dict[str, Any] = {"session": {"id": "mine", "mode": "plan"}, "user": "odd", "cwd": None}
    facts = session_facts("stop", given, SESSION)
    assert facts["session"] == {"id": "mine", "mode": "plan", "tool_calls": 3}
    assert (facts["user"], facts["cwd"], facts["workspace"]) == ("odd", None, "/project")
    assert given == {"session": {"id": "mine", "mode": "plan"}, "user": "odd", "cwd": None}


@pytest.mark.parametrize(
    ("event", "tool", "completed"),
    [
        ("tool.before", {"name": "bash"}, {"name": "bash", "kind": "shell", "input": {}}),
        ("tool.before", {"name": "bash", "kind": "read"}, {"name": "bash", "kind": "read", "input": {}}),
        ("tool.after", {"name": "bash"}, {"name": "bash", "kind": "shell", "ok": True}),
        ("tool.after", {"name": "bash", "error": "x"}, {"name": "bash", "kind": "shell", "error": "x", "ok": False}),
        ("tool.failed", {}, {"ok": False}),
        ("tool.after", {"ok": False}, {"ok": False}),
        ("stop", {"name": 5}, {"name": 5}),
    ],
)
def test_a_tool_is_completed_for_its_event(event: str, tool: dict[str, Any], completed: dict[str, Any]) -> None:
    assert session_facts(event, {"tool": tool}, SESSION)["tool"] == completed


def test_a_time_is_written_in_utc_to_the_second() -> None:
    moment = datetime(2025, 12, 31, 12, 30, 0, 999, tzinfo=timezone(timedelta(hours=2)))
    assert format_utc(moment) == "2025-12-31T10:30:00Z"
    assert format_utc(moment.astimezone(UTC)) == "2025-12-31T10:30:00Z"
