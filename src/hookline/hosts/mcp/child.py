"""An MCP server that we start."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import PurePath

from hookline.config.problem import printable, short
from hookline.hosts.mcp.lines import Gone, TooLong, lines_of
from hookline.hosts.mcp.message import Malformed, Message, messages_in
from hookline.hosts.mcp.program import Program
from hookline.hosts.mcp.server import Ended

_log = logging.getLogger("hookline")


class Child:
    def __init__(self, program: Program) -> None:
        self._program = program

    @classmethod
    async def started(cls, argv: Sequence[str]) -> Child:
        """Its stderr is ours, and so is its environment."""
        return cls(await Program.started("the MCP server", argv))

    @property
    def fallback_name(self) -> str:
        return PurePath(self._program.argv[0]).stem

    async def messages(self) -> AsyncIterator[Message]:
        try:
            async for line in lines_of(self._program.output):
                for message in _read(line):
                    yield message
        except TooLong as error:
            raise Ended(f"the MCP server was stopped: {error}") from None
        raise Ended(await self._program.how_it_ended())

    async def send(self, message: Message) -> None:
        try:
            await self._program.write(message.wire() + b"\n")
        except Gone:
            raise Ended("the MCP server reads no more") from None

    async def finish(self) -> None:
        await self._program.finish()

    async def close(self) -> None:
        """Nothing that the server started is left."""
        await self._program.close()


def _read(line: bytes) -> tuple[Message, ...]:
    try:
        return messages_in(line)
    except Malformed as error:
        said = short(printable(line[:200].decode("utf-8", "replace")))
        _log.warning("the MCP server said something that is no message (%s): %s", error, said)
        return ()
