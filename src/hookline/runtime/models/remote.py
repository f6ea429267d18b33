"""A model that is reached over HTTP. The libraries for it take seconds to load, so it loads them when it is first asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from hookline.runtime.models.model import Piece, Request
from hookline.runtime.models.providers import Address

if TYPE_CHECKING:
    from hookline.runtime.models.pydantic_ai import Connection

SILENCE: Final = timedelta(minutes=5)
"""The longest that a model may say nothing, at the beginning or in between; some think for minutes."""


class RemoteModel:
    """Of one event loop. A failed call is not tried again here: that is the loop's, with hooks in between."""

    def __init__(self, address: Address, context_limit: int | None = None, silence: timedelta = SILENCE) -> None:
        self.address = address
        self.silence = silence
        self._limit = context_limit or address.context_limit
        self._connection: Connection | None = None
        self._connecting = asyncio.Lock()

    @property
    def name(self) -> str:
        return self.address.name

    @property
    def context_limit(self) -> int:
        return self._limit

    async def stream(self, request: Request) -> AsyncGenerator[Piece]:
        connection = await self._connected()
        async with aclosing(connection.pieces(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        async with self._connecting:
            if self._connection is not None:
                await self._connection.close()
                self._connection = None

    async def _connected(self) -> Connection:
        async with self._connecting:
            if self._connection is None:
                self._connection = await asyncio.to_thread(_connect, self.address, self.silence)
            return self._connection


def _connect(address: Address, silence: timedelta) -> Connection:
    from hookline.runtime.models.pydantic_ai import connect

    return connect(address, silence)
