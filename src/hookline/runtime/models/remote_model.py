"""A model over HTTP. Its libraries take seconds to import, so they are loaded with the first request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from hookline.runtime.models.model import Chunk, CompletionRequest
from hookline.runtime.models.providers import ModelAddress

if TYPE_CHECKING:
    from hookline.runtime.models.pydantic_ai import ProviderConnection

MAX_SILENCE: Final = timedelta(minutes=5)
"""How long a model may send nothing. Some models think for minutes."""


class RemoteModel:
    """Belongs to one event loop. It does not retry: the caller does, with hooks in between."""

    def __init__(
        self, address: ModelAddress, context_limit: int | None = None, silence: timedelta = MAX_SILENCE
    ) -> None:
        self.address = address
        self.silence = silence
        self._limit = context_limit or address.context_limit
        self._connection: ProviderConnection | None = None
        self._connecting = asyncio.Lock()

    @property
    def name(self) -> str:
        return self.address.name

    @property
    def context_limit(self) -> int:
        return self._limit

    async def stream(self, request: CompletionRequest) -> AsyncGenerator[Chunk]:
        connection = await self._get_connection()
        async with aclosing(connection.stream(request)) as pieces:
            async for piece in pieces:
                yield piece

    async def close(self) -> None:
        async with self._connecting:
            if self._connection is not None:
                await self._connection.close()
                self._connection = None

    async def _get_connection(self) -> ProviderConnection:
        async with self._connecting:
            if self._connection is None:
                self._connection = await asyncio.to_thread(_import_and_connect, self.address, self.silence)
            return self._connection


def _import_and_connect(address: ModelAddress, silence: timedelta) -> ProviderConnection:
    from hookline.runtime.models.pydantic_ai import connect_provider

    return connect_provider(address, silence)
