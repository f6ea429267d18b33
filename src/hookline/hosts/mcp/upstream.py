"""The MCP server behind the proxy: its protocol, and a server that is started as a command."""

from __future__ import annotations

import logging
from collections.abc import Callable, Coroutine, Sequence
from pathlib import PurePath
from typing import Any, Protocol

from hookline.formatting import printable, shorten
from hookline.hosts.mcp.json_rpc import InvalidMessageError, Message, parse_messages
from hookline.runners.line_dispatcher import LineTooLongError
from hookline.runners.server_process import PipeClosedError, ServerProcess

MessageHandler = Callable[[Message], Coroutine[Any, Any, None]]


class UpstreamClosedError(Exception):
    """The server has ended; the text says how."""


class Upstream(Protocol):
    @property
    def fallback_name(self) -> str:
        """Its name until it is configured or the server sends one."""

    async def dispatch(self, handle: MessageHandler) -> None:
        """Has each message handled until the server ends, then raises UpstreamClosedError."""

    async def send(self, message: Message) -> None:
        """Raises UpstreamClosedError."""

    async def finish(self) -> None:
        """Says that nothing more will be sent: the server may end, and `messages` with it."""


_log = logging.getLogger("hookline")


class ProcessUpstream:
    def __init__(self, program: ServerProcess) -> None:
        self._program = program

    @classmethod
    async def start(cls, argv: Sequence[str]) -> ProcessUpstream:
        """The server shares our stderr and environment."""
        return cls(await ServerProcess.start("the MCP server", argv))

    @property
    def fallback_name(self) -> str:
        return PurePath(self._program.argv[0]).stem

    async def dispatch(self, handle: MessageHandler) -> None:
        async def handle_line(line: bytes) -> None:
            for message in _parse_line(line):
                await handle(message)

        try:
            await self._program.dispatch_output(handle_line)
        except LineTooLongError as error:
            raise UpstreamClosedError(f"the MCP server was stopped: {error}") from None
        raise UpstreamClosedError(await self._program.describe_exit())

    async def send(self, message: Message) -> None:
        try:
            await self._program.write(message.to_bytes() + b"\n")
        except PipeClosedError:
            raise UpstreamClosedError("the MCP server closed its input") from None

    async def finish(self) -> None:
        await self._program.finish()

    async def close(self) -> None:
        """Ends the server and everything that it started."""
        await self._program.close()


def _parse_line(line: bytes) -> tuple[Message, ...]:
    try:
        return parse_messages(line)
    except InvalidMessageError as error:
        said = shorten(printable(line[:200].decode("utf-8", "replace")))
        _log.warning("invalid JSON-RPC message from the MCP server (%s): %s", error, said)
        return ()
