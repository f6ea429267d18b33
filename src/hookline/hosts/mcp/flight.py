"""What the proxy remembers of the client's requests until they are answered."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from hookline.hosts.mcp.calls import Call
from hookline.hosts.mcp.message import Message

_MOST: Final = 200

T = TypeVar("T")


@dataclass(slots=True)
class Flight:
    """A request that has no answer yet."""

    id: Any
    method: str
    call: Call | None = None  # of a tool: as the client made it
    forwarded: Call | None = None  # as the hooks left it; None as long as the server has not seen it
    notes: str = ""  # for the agent, with the result
    deciding: asyncio.Task[None] | None = None
    asked: Message | None = None  # our question to the person at the client
    reason: str = ""  # of that question, where the client answers it by calling again

    @property
    def is_being_decided(self) -> bool:
        return self.deciding is not None and not self.deciding.done()


class Kept(Generic[T]):
    """The latest of something, by name; the oldest are forgotten, however many a peer makes."""

    def __init__(self, most: int = _MOST) -> None:
        self._most = most
        self._held: dict[str, T] = {}

    def put(self, name: str, value: T) -> None:
        self._held.pop(name, None)
        self._held[name] = value
        if len(self._held) > self._most:
            del self._held[next(iter(self._held))]

    def get(self, name: object) -> T | None:
        return self._held.get(name) if isinstance(name, str) else None

    def pop(self, name: object) -> T | None:
        return self._held.pop(name, None) if isinstance(name, str) else None
