"""The MCP server behind the proxy, however it is reached."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Protocol

from hookline.hosts.mcp.message import Message


class Ended(Exception):
    """The server is gone; the text says how."""


class Server(Protocol):
    @property
    def fallback_name(self) -> str:
        """What it is called as long as nobody named it."""

    def messages(self) -> AsyncIterator[Message]:
        """Until it ends; then raises Ended."""

    async def send(self, message: Message) -> None:
        """Raises Ended."""

    async def finish(self) -> None:
        """There will be no more to send: it may end by itself, and `messages` with it."""
