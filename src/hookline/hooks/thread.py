"""A conversation that a hook's code may read and write, through its host."""

from __future__ import annotations

import asyncio
from threading import Lock
from typing import Any, Protocol

from hookline.hooks.host import ToolResult


class Abort:
    """Whether somebody wants what is going on to end; whoever waits for it may do so in any loop."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._aborted = False
        self._reason: str | None = None
        self._waiting: list[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = []

    @property
    def aborted(self) -> bool:
        return self._aborted

    @property
    def reason(self) -> str | None:
        return self._reason

    def abort(self, reason: str = "aborted") -> None:
        """The first one counts."""
        with self._lock:
            if self._aborted:
                return
            self._aborted, self._reason = True, reason
            waiting, self._waiting = self._waiting, []
        for loop, signal in waiting:
            if not loop.is_closed():
                loop.call_soon_threadsafe(signal.set)

    async def wait(self) -> None:
        waiter = (asyncio.get_running_loop(), asyncio.Event())
        with self._lock:
            if self._aborted:
                return
            self._waiting.append(waiter)
        try:
            await waiter[1].wait()
        finally:
            with self._lock:
                if waiter in self._waiting:
                    self._waiting.remove(waiter)


class Thread(Protocol):
    """Messages and files are plain data with the keys that the host stores."""

    @property
    def abort(self) -> Abort: ...
    async def get_messages(self, limit: int | None = None, offset: int = 0) -> list[dict[str, Any]]:
        """As stored, oldest first; with a limit, the last so many before the last `offset`."""

    async def inject_message(self, message: dict[str, Any]) -> dict[str, Any]:
        """Stores a message as any other is stored, hooks included, and returns it as it was stored."""

    async def update_message(self, id: str, updates: dict[str, Any]) -> dict[str, Any]: ...
    async def read_file(self, path: str) -> bytes | None:
        """None if there is no such file."""

    async def write_file(self, path: str, data: bytes, mime_type: str) -> dict[str, Any]:
        """Returns a reference to the stored file."""

    async def list_files(self, path: str = "") -> list[dict[str, Any]]: ...
    async def invoke_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        """Now; the call is decided like any other."""

    async def queue_tool(self, name: str, input: dict[str, Any]) -> None:
        """After what is going on."""
