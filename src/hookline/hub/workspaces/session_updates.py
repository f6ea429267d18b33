"""What happens in a session, as events of the bus: in order, without holding up the session."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final

from hookline.hooks.actions.diagnose import CHANNEL
from hookline.hooks.host import Notice
from hookline.hub.bus.event_bus import DIAGNOSTICS
from hookline.runtime.update_json import has_line, update_json
from hookline.runtime.updates import ApprovalAnswered, ApprovalRequested, Notification, Update

_MAX_FILES: Final = 500  # whose diagnostics are kept for a session
_SEVERITIES: Final = ("error", "warning", "information", "hint")

Publish = Callable[..., Awaitable[None]]
_log = logging.getLogger("hookline.hub")


class SessionUpdates:
    def __init__(self, publish: Publish) -> None:
        self._publish = publish
        self._queue: asyncio.Queue[tuple[str, dict[str, Any], tuple[str, ...], str, str]] = asyncio.Queue()
        self._diagnostics: dict[str, dict[str, dict[str, Any]]] = {}

    def listener(self, session: str, app: str, user: str) -> Callable[[Update], None]:
        """Called by the session for each update."""

        def on_update(update: Update) -> None:
            if isinstance(update, (ApprovalRequested, ApprovalAnswered)) or not has_line(update):
                return  # the approval desk publishes these, and the call's own line has the decision
            rooms = (f"session:{session}",)
            if not isinstance(update, Notification):
                fields = update_json(update)
                self._put(fields.pop("type"), fields, rooms, session, app)
            elif update.notice.channel == CHANNEL:
                self._put_diagnostics(update.notice, session, app)
            else:
                about = _notification_json(update.notice)
                self._put("hook_notification", about, (*rooms, f"app:{app}", f"user:{user}"), session, app)

        return on_update

    def tell(self, type: str, payload: dict[str, Any], session: str, app: str = "") -> None:
        """Something about the session itself."""
        self._put(type, payload, ("live", f"session:{session}"), session, app)

    def tell_message(self, session: str, app: str, text: str) -> None:
        """Somebody wrote it; everybody who watches the session sees it."""
        self._put("user", {"text": text}, (f"session:{session}",), session, app)

    def diagnostics(self, session: str) -> list[dict[str, Any]]:
        return list(self._diagnostics.get(session, {}).values())

    def forget(self, session: str) -> None:
        self._diagnostics.pop(session, None)

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            type, payload, rooms, session, app = await self._queue.get()
            try:
                await self._publish(type, payload, rooms=rooms, session_id=session, app_id=app)
            except Exception:
                _log.warning("an event of a session could not be published", exc_info=True)

    def _put(self, type: str, payload: dict[str, Any], rooms: tuple[str, ...], session: str, app: str) -> None:
        self._queue.put_nowait((type, payload, rooms, session, app))

    def _put_diagnostics(self, notice: Notice, session: str, app: str) -> None:
        held = _diagnostics_json(notice)
        files = self._diagnostics.setdefault(session, {})
        if held["items"]:
            files[held["file_path"]] = held
            while len(files) > _MAX_FILES:
                del files[next(iter(files))]
        else:
            files.pop(held["file_path"], None)
        about = {"channel": CHANNEL, "id": held["file_path"], "payload": held}
        self._put("preview:resource_set", about, (f"session:{session}", DIAGNOSTICS), session, app)


def _notification_json(notice: Notice) -> dict[str, Any]:
    return {
        "title": notice.title,
        "message": notice.message,
        "level": notice.level,
        "tag": notice.tag,
        "hook_id": notice.hook,
    }


def _diagnostics_json(notice: Notice) -> dict[str, Any]:
    """As digitorn names it. No items: the file has none any more."""
    data = notice.data if isinstance(notice.data, dict) else {}
    found = data.get("diagnostics")
    items = [each if isinstance(each, dict) else {"message": str(each)} for each in found or ()]
    present = {str(each.get("severity")) for each in items}
    return {
        "file_path": str(data.get("path", notice.title)),
        "items": items,
        "severity_max": next((each for each in _SEVERITIES if each in present), None),
        "updated_at": time.time(),
        "source_module": "hook",
    }
