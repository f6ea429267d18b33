"""What the engine answers over HTTP, on its own socket and, if you ask for it, on a loopback port with a token."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import socket
from pathlib import Path
from typing import Final

from hookline.errors import HooklineError
from hookline.hosts.bridge.hook_cache import Engine
from hookline.hosts.protocols.agent_hooks_protocol import AgentHooksBackend, ahp_routes
from hookline.hosts.protocols.decide_api import decide_routes
from hookline.hosts.protocols.http_endpoint import HttpEndpoint, TokenCheck
from hookline.hosts.protocols.local_decider import LocalDecider
from hookline.lazy_dataclasses import replace

TOKEN_NAME: Final = "api.token"
_MIN_TOKEN_LENGTH: Final = 32  # characters
_LOOPBACK: Final = "127.0.0.1"
_MAX_CONNECTIONS: Final = 100

log = logging.getLogger("hookline")


class LocalApi:
    def __init__(self, engine: Engine, directory: Path, port: int | None = None) -> None:
        """`directory` keeps the token of the loopback port."""
        decider = LocalDecider(engine, dict(os.environb))
        routes = {**decide_routes(decider), **ahp_routes(AgentHooksBackend(decider.decide, Path.home()))}
        self._endpoint = self._loopback = HttpEndpoint(routes)
        self._directory = directory
        self._port = port
        self._places = asyncio.Semaphore(_MAX_CONNECTIONS)

    async def serve_socket(self, peer: socket.socket, received: bytes) -> None:
        await self._endpoint.serve_socket(peer, received)

    async def listen(self) -> None:
        """Serves the loopback port until it is cancelled. Returns at once without one."""
        if self._port is None:
            return
        try:
            server = await asyncio.start_server(self._serve_client, _LOOPBACK, self._port)
        except OSError as error:
            raise HooklineError(f"cannot listen on {_LOOPBACK}:{self._port}: {error.strerror}") from None
        port = server.sockets[0].getsockname()[1]
        hosts = frozenset(f"{name}:{port}" for name in (_LOOPBACK, "localhost"))
        access = TokenCheck(read_or_make_token(self._directory), hosts)
        self._loopback = replace(self._endpoint, access=access)
        log.warning(
            "the API listens on http://%s:%d; the token is in %s", _LOOPBACK, port, self._directory / TOKEN_NAME
        )
        async with server:
            await server.serve_forever()

    async def _serve_client(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._places.locked():
            writer.close()
            return
        async with self._places:
            await self._loopback.serve(reader, writer)


def read_or_make_token(directory: Path) -> str:
    """The token that clients of the loopback port send. Only this user can read it."""
    path = directory / TOKEN_NAME
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return _make_token(path)
    with open(descriptor, encoding="ascii") as file:
        status = os.fstat(descriptor)
        if status.st_uid != os.geteuid() or status.st_mode & 0o077:
            raise HooklineError(f"other users can read {path}; delete it and start the engine again")
        token = file.read().strip()
    if len(token) < _MIN_TOKEN_LENGTH:
        raise HooklineError(f"{path} holds no token; delete it and start the engine again")
    return token


def _make_token(path: Path) -> str:
    """Clients wait for the file, and a crash may happen at any point: it appears with the whole token in it."""
    token = secrets.token_urlsafe(32)
    unfinished = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "w", encoding="ascii") as file:
            file.write(token)
        os.link(unfinished, path)
    finally:
        unfinished.unlink()
    return token
