"""The engine: one long-lived process per user, on a socket that only this user can reach."""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import select
import signal
import socket
import struct
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

from hookline.errors import HooklineError
from hookline.hooks.event import Event
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.bridge import client, protocol
from hookline.hosts.bridge.hook_cache import HookCache, UserModel, no_model
from hookline.hosts.bridge.protocol import AgentCall
from hookline.hosts.bridge.responder import respond, time_for_answer, timeout_margin
from hookline.project import load_text
from hookline.record.recorder import archive_all

_WARM_UP_HOOKS: Final = "hooks: [{on: tool.before, when: {tool: bash, input: {command: 'a.*b'}}, then: {deny: No}}]"
LOCK_NAME: Final = "engine.lock"
_MAX_CONNECTIONS: Final = 1_000  # connections
_WORKING_DELAY: Final = 0.1  # seconds until a client gets `working`, because its decision takes long
_CLIENT_TIMEOUT: Final = 10.0  # seconds for a client to send its whole message, and to take the answer
_DRAIN_TIMEOUT: Final = timedelta(seconds=10)  # for background work when the engine ends

log = logging.getLogger("hookline")


async def serve(
    directory: Path, idle: timedelta, tidy: Callable[[], None] | None = None, ask_model: UserModel = no_model
) -> bool:
    """Serves until no call came for `idle`, or until it is stopped. Returns False at once if another engine is serving.

    `tidy` is called now and then.
    """
    _make_private(directory)
    lock = os.open(directory / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return False
    serving = _Server(directory, lock, idle, tidy, HookCache(ask_model))
    await serving.run()
    return True


def _make_private(directory: Path) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if directory.lstat().st_uid == os.geteuid() and not directory.is_symlink():
        directory.chmod(0o700)
    if not client.is_private(str(directory)):
        raise HooklineError(f"cannot start the engine: other users can access {directory}")


class _Server:
    def __init__(
        self, directory: Path, lock: int, idle: timedelta, tidy: Callable[[], None] | None, engine: HookCache
    ) -> None:
        self.engine = engine
        self.connections: set[_Connection] = set()
        self._path = directory / client.SOCKET_NAME
        self._lock = lock
        self._idle = idle.total_seconds()
        self._tidy = tidy
        self._installed = _file_stamp()
        self._ending = asyncio.Event()
        self._idle_since = 0.0
        self._left = asyncio.Event()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        await _warm_up(self.engine)
        server = await loop.create_unix_server(lambda: _Connection(self), sock=self._bind_socket(), backlog=1024)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.end)
        self._idle_since = loop.time()
        beside = [loop.create_task(work) for work in (self._end_when_idle(), self.engine.poll_files())]
        log.info("engine %s started, process %d", client.RELEASE, os.getpid())
        await self._ending.wait()
        for task in beside:
            task.cancel()
        self._release_socket(server)
        while self.connections:
            self._left.clear()
            await self._left.wait()
        await self.engine.local_host.drain(_DRAIN_TIMEOUT)
        self.engine.close()
        log.info("engine ends, process %d", os.getpid())

    def end(self) -> None:
        """Accepts no new calls and answers those that have come."""
        self._ending.set()

    @property
    def is_outdated(self) -> bool:
        """True if another version of the package has been installed since this one started."""
        return self._ending.is_set() or _file_stamp() != self._installed

    def remove_connection(self, connection: _Connection) -> None:
        self.connections.discard(connection)
        self._left.set()
        self._idle_since = asyncio.get_running_loop().time()

    def _bind_socket(self) -> socket.socket:
        """Binds the socket. The holder of the lock may remove a dead engine's socket."""
        with suppress(FileNotFoundError):
            os.unlink(self._path)
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            bound.bind(str(self._path))
        except OSError as error:
            bound.close()
            raise HooklineError(f"the engine cannot listen on {self._path}: {error}") from None
        finally:
            os.umask(before)
        return bound

    def _release_socket(self, server: asyncio.Server) -> None:
        """Removes the socket before it releases the lock, so that the next engine's socket is never removed."""
        with suppress(FileNotFoundError):
            os.unlink(self._path)
        server.close()
        os.close(self._lock)

    async def _end_when_idle(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            idle_until = self._idle_since + self._idle
            await asyncio.sleep(max(0.05, min(idle_until - loop.time(), 60)))
            if self._tidy is not None:
                self._tidy()
            await asyncio.to_thread(archive_all)
            if not self.connections and loop.time() >= self._idle_since + self._idle:
                self.end()


class _Connection(asyncio.Protocol):
    """One client: a request, perhaps `working`, an answer. Slow or disconnected clients are dropped."""

    def __init__(self, serving: _Server) -> None:
        self._serving = serving
        self._data = bytearray()
        self._head: protocol.RequestHeader | None = None
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._deciding: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if len(self._serving.connections) >= _MAX_CONNECTIONS or _peer_user_id(transport) != os.geteuid():
            log.warning("rejected a client")
            transport.abort()
            return
        self._serving.connections.add(self)
        self._set_timeout(_CLIENT_TIMEOUT)

    def data_received(self, data: bytes) -> None:
        if self._deciding is not None or self not in self._serving.connections:
            return
        self._data += data
        try:
            self._read()
        except protocol.ProtocolError as refused:
            log.warning("rejected a message: %s", refused)
            self._abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._serving.remove_connection(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._deciding is not None:
            self._deciding.cancel()

    def _read(self) -> None:
        if self._head is None and len(self._data) >= protocol.HEADER_SIZE:
            self._head = protocol.parse_header(self._data)
        if self._head is None:
            return
        if self._head.version != client.PROTOCOL_VERSION:
            self._decline(of_newer_client=self._head.version > client.PROTOCOL_VERSION)
        elif len(self._data) >= self._head.size:
            request = protocol.parse_request(self._head, self._data)
            self._data.clear()
            of_another = request.release not in ("", client.RELEASE)
            if of_another or self._serving.is_outdated:
                self._decline(of_newer_client=True)
            else:
                self._start_deciding(request.call)

    def _decline(self, of_newer_client: bool) -> None:
        self._send_and_close(protocol.encode_declined())
        if of_newer_client:
            log.info("another version of hookline is installed")
            self._serving.end()

    def _start_deciding(self, call: AgentCall) -> None:
        if self._is_gone():  # it stopped waiting and decides in its own process
            self._abort()
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(_WORKING_DELAY, self._send_working, call)
        self._deciding = asyncio.get_running_loop().create_task(self._respond(call))
        self._deciding.add_done_callback(self._on_decided)

    def _send_working(self, call: AgentCall) -> None:
        """Sent only if the decision takes a while: waking a client twice costs time."""
        left = time_for_answer(call.agent, call.event, call.spent) - timedelta(seconds=_WORKING_DELAY)
        self._write(protocol.encode_working(left + timeout_margin(call.agent, call.event) / 4))

    def _is_gone(self) -> bool:
        if self._transport is None:
            return True
        looking = select.poll()
        looking.register(self._transport.get_extra_info("socket").fileno(), 0)
        return bool(looking.poll(0))

    async def _respond(self, call: AgentCall) -> None:
        reply = await respond(call, self._serving.engine)
        self._send_and_close(protocol.encode_reply(reply))

    def _on_decided(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            log.error("could not send the answer", exc_info=task.exception())
            self._abort()  # the client then decides in its own process

    def _send_and_close(self, message: bytes) -> None:
        self._write(message)
        self._set_timeout(_CLIENT_TIMEOUT)
        if self._transport is not None:
            self._transport.close()

    def _write(self, message: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(message)

    def _set_timeout(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._abort)

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


async def _warm_up(engine: HookCache) -> None:
    """Imports what only the first call would need, before anyone waits for it."""
    for name in AGENT_NAMES:
        get_agent(name)
    book = load_text(_WARM_UP_HOOKS, "hookline.yaml", "native")
    await book.decide(Event("tool.before", {"tool": {"name": "bash", "input": {"command": "ls"}}}), engine.local_host)


def _peer_user_id(transport: asyncio.Transport) -> int | None:
    """The user id of the peer; None if the system does not tell."""
    other: socket.socket = transport.get_extra_info("socket")
    if hasattr(socket, "SO_PEERCRED"):
        _, user, _ = struct.unpack("3i", other.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return int(user)
    if sys.platform == "darwin":
        _, user = struct.unpack_from("2I", other.getsockopt(0, 1, 76))  # SOL_LOCAL, LOCAL_PEERCRED
        return int(user)
    return None


def _file_stamp() -> tuple[int, int, int]:
    """Changes when the package is installed again: the client's file contains the release."""
    try:
        status = os.stat(client.__file__)
    except OSError:
        return (0, 0, 0)
    return (status.st_ino, status.st_mtime_ns, status.st_size)
