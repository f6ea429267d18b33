"""Notifications and diagnostics of hooks, as digitorn names them."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from hookline.hooks.host import Notice
from hookline.hub.workspaces.session_updates import SessionUpdates
from hookline.runtime.updates import ApprovalAnswered, Notification, TextDelta, Update
from hub.hub_sandbox import eventually

ERROR = {"line": 1, "severity": "error", "message": "undefined name"}


def publish_all(*updates: Update) -> tuple[list[tuple[str, dict[str, Any], tuple[str, ...]]], SessionUpdates]:
    events: list[tuple[str, dict[str, Any], tuple[str, ...]]] = []

    async def publish(type: str, payload: dict[str, Any], rooms: tuple[str, ...], **more: Any) -> None:
        if type == "text" and payload["text"] == "fails":
            raise RuntimeError("the bus is gone")
        events.append((type, payload, rooms))

    async def work() -> SessionUpdates:
        found = SessionUpdates(publish)
        listener = found.listener("s1", "app1", "u1")
        running = asyncio.ensure_future(found.run())
        for update in updates:
            listener(update)
        await eventually(found._queue.empty)
        await asyncio.sleep(0)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running
        return found

    return events, asyncio.run(work())


def test_a_notification_reaches_session_app_and_user() -> None:
    notice = Notice("notify", "built", "Build", "success", "ci", "h1")
    events, _ = publish_all(Notification("t", "a", notice))
    about = {"title": "Build", "message": "built", "level": "success", "tag": "ci", "hook_id": "h1"}
    assert events == [("hook_notification", about, ("session:s1", "app:app1", "user:u1"))]


def test_diagnostics_are_set_by_file_and_cleared() -> None:
    found = Notice("diagnostics", "1 error", "a.py", data={"path": "a.py", "diagnostics": [ERROR]})
    gone = Notice("diagnostics", "no problems", "a.py", data={"path": "a.py", "diagnostics": []})
    events, updates = publish_all(Notification("t", "a", found))
    type, payload, rooms = events[0]
    assert (type, rooms) == ("preview:resource_set", ("session:s1", "channel:diagnostics"))
    assert (payload["channel"], payload["id"]) == ("diagnostics", "a.py")
    held = payload["payload"]
    assert (held["file_path"], held["items"], held["severity_max"]) == ("a.py", [ERROR], "error")
    assert held["source_module"] == "hook"
    assert [each["file_path"] for each in updates.diagnostics("s1")] == ["a.py"]
    events, updates = publish_all(Notification("t", "a", found), Notification("t", "a", gone))
    assert events[1][1]["payload"]["items"] == []
    assert updates.diagnostics("s1") == []


def test_the_approval_desk_tells_of_approvals() -> None:
    events, _ = publish_all(ApprovalAnswered("t", "a", "approval_1", True, "maria"))
    assert events == []


def test_an_event_that_cannot_be_published_does_not_stop_the_next() -> None:
    events, _ = publish_all(TextDelta("t", "a", "fails"), TextDelta("t", "a", "works"))
    assert [payload["text"] for _, payload, _ in events] == ["works"]
