"""A thread in memory: its messages pass the hooks as they do in a session."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, Final

from hookline.engine.book import Book
from hookline.errors import HooklineError
from hookline.hooks.event import Event
from hookline.hooks.host import Host, ToolResult
from hookline.hooks.outcome import Verdict
from hookline.hooks.thread import Abort

_MILLISECONDS: Final = 1000


class NotStored(HooklineError):
    """A hook prevented that a message is stored or changed."""


class MemoryThread:
    """`facts` are the session's, for the hooks that see its messages."""

    def __init__(self, id: str, host: Host, book: Book | None = None, facts: Mapping[str, Any] | None = None) -> None:
        self.id = id
        self.abort = Abort()
        self.messages: list[dict[str, Any]] = []
        self.files: dict[str, tuple[bytes, str]] = {}
        self.queued: list[tuple[str, dict[str, Any]]] = []
        self._host = host
        self._book = Book() if book is None else book
        self._facts = {**(facts or {}), "thread": {"id": id}}

    async def get_messages(self, limit: int | None = None, offset: int = 0) -> list[dict[str, Any]]:
        end = max(len(self.messages) - offset, 0)
        start = 0 if limit is None else max(end - limit, 0)
        return copy.deepcopy(self.messages[start:end])

    async def inject_message(self, message: dict[str, Any]) -> dict[str, Any]:
        """Raises NotStored if a hook prevents it."""
        new = {"id": f"message_{len(self.messages) + 1}", "role": "user", "content": None, **message}
        new.setdefault("created_at", int(self._host.clock.wall() * _MILLISECONDS))
        stored = await self._passed("message.create", {"message": new}, "message")
        self.messages.append(stored)
        await self._told("message.created", stored)
        return copy.deepcopy(stored)

    async def update_message(self, id: str, updates: dict[str, Any]) -> dict[str, Any]:
        """Raises NotStored if a hook prevents it."""
        at = next((at for at, held in enumerate(self.messages) if held.get("id") == id), None)
        if at is None:
            raise HooklineError(f"there is no message {id!r} in the thread {self.id}")
        given = await self._passed("message.update", {"message": {"id": id, "updates": updates}}, "message", "updates")
        self.messages[at] = {**self.messages[at], **given}
        await self._told("message.updated", self.messages[at])
        return copy.deepcopy(self.messages[at])

    async def read_file(self, path: str) -> bytes | None:
        found = self.files.get(path)
        return None if found is None else found[0]

    async def write_file(self, path: str, data: bytes, mime_type: str) -> dict[str, Any]:
        self.files[path] = (bytes(data), mime_type)
        return self._reference(path)

    async def list_files(self, path: str = "") -> list[dict[str, Any]]:
        inside = f"{path.strip('/')}/" if path.strip("/") else ""
        return [self._reference(name) for name in sorted(self.files) if name.startswith(inside) or name == path]

    async def invoke_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        return await self._host.call_tool(name, input)

    async def queue_tool(self, name: str, input: dict[str, Any]) -> None:
        self.queued.append((name, input))

    def _reference(self, path: str) -> dict[str, Any]:
        data, mime_type = self.files[path]
        name = path.rpartition("/")[2]
        return {"id": path, "type": "file", "path": path, "name": name, "mimeType": mime_type, "size": len(data)}

    async def _passed(self, event: str, facts: dict[str, Any], *place: str) -> dict[str, Any]:
        decision = await self._book.decide(Event(event, {**self._facts, **facts}), self._host)
        if decision.verdict is Verdict.DENY:
            raise NotStored(decision.reason)
        left = decision.event.read(place)
        return copy.deepcopy(left) if isinstance(left, dict) else {}

    async def _told(self, event: str, message: dict[str, Any]) -> None:
        await self._book.decide(Event(event, {**self._facts, "message": copy.deepcopy(message)}), self._host)
