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
from collections.abc import Callable, Coroutine
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, Protocol

from hookline.errors import HooklineError
from hookline.hooks.event import Event
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.bridge import client, protocol
from hookline.hosts.bridge.hook_cache import HookCache, UserModel, no_model
from hookline.hosts.bridge.protocol import AgentCall
from hookline.hosts.bridge.responder import respond, respond_now, time_for_answer, timeout_margin
from hookline.project import load_text
from hookline.record.recorder import archive_all

_WARM_UP_HOOKS: Final = "hooks: [{on: tool.before, when: {tool: bash, input: {command: 'a.*b'}}, then: {deny: No}}]"
LOCK_NAME: Final = "engine.lock"
_BACKLOG: Final = 1024
_MAX_CONNECTIONS: Final = 1_000
_MAX_ACCEPTED_AT_ONCE: Final = 32
_ACCEPT_RETRY: Final = 1.0  # seconds
_RECEIVE_SIZE: Final = 1 << 16  # bytes
_WORKING_DELAY: Final = 0.1  # seconds until a client gets `working`, because its decision takes long
_CLIENT_TIMEOUT: Final = 10.0  # seconds for a client to send its whole message, and to take the answer
_DRAIN_TIMEOUT: Final = timedelta(seconds=10)  # for background work when the engine ends

_HTTP_METHODS: Final = (b"GET", b"POST", b"HEAD", b"PUT", b"DELETE", b"PATCH", b"OPTIONS")

log = logging.getLogger("hookline")


class HttpApi(Protocol):
    """What answers programs that speak HTTP instead of the bridge's own protocol."""

    async def serve_socket(self, peer: socket.socket, received: bytes) -> None:
        """Serves one client until it leaves. `received` has been read already."""

    async def listen(self) -> None:
        """Serves whatever else it listens on, until it is cancelled."""


OpenApi = Callable[[HookCache], HttpApi]


async def serve(
    directory: Path,
    idle: timedelta,
    tidy: Callable[[], None] | None = None,
    ask_model: UserModel = no_model,
    open_api: OpenApi | None = None,
    beside: Callable[[], Coroutine[Any, Any, None]] | None = None,
) -> bool:
    """Serves until no call came for `idle`, or until it is stopped. Returns False at once if another engine is serving.

    `tidy` is called now and then. `open_api` makes what answers programs that speak HTTP; without it, they are
    rejected. `beside` runs until the engine ends.
    """
    _make_private(directory)
    lock = os.open(directory / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return False
    engine = HookCache(ask_model)
    serving = _Server(directory, lock, idle, tidy, engine, open_api, beside)
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
        self,
        directory: Path,
        lock: int,
        idle: timedelta,
        tidy: Callable[[], None] | None,
        engine: HookCache,
        open_api: OpenApi | None,
        beside: Callable[[], Coroutine[Any, Any, None]] | None,
    ) -> None:
        self.engine = engine
        self._beside = beside
        self.http = None if open_api is None else open_api(engine)
        self.connections: set[_Connection] = set()
        self._path = directory / client.SOCKET_NAME
        self._directory = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
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
        listening = self._bind_socket()
        loop.add_reader(listening, self._accept, listening)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.end)
        self._idle_since = loop.time()
        beside = [loop.create_task(work) for work in (self._end_when_idle(), self.engine.poll_files())]
        if self._beside is not None:
            beside.append(loop.create_task(self._beside()))
        if self.http is not None:
            beside.append(loop.create_task(self.http.listen()))
            beside[-1].add_done_callback(self._on_api_ended)
        log.info("engine %s started, process %d", client.RELEASE, os.getpid())
        await self._ending.wait()
        for task in beside:
            task.cancel()
        loop.remove_reader(listening)
        self._release_socket(listening)
        while self.connections:
            self._left.clear()
            await self._left.wait()
        await self.engine.local_host.drain(_DRAIN_TIMEOUT)
        self.engine.close()
        log.info("engine ends, process %d", os.getpid())

    def _on_api_ended(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            log.error("%s", task.exception())
            self.end()

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
        bound.setblocking(False)
        bound.listen(_BACKLOG)
        return bound

    def _accept(self, listening: socket.socket) -> None:
        """Several at once, but not all: a decision that waits goes on meanwhile."""
        for _ in range(_MAX_ACCEPTED_AT_ONCE):
            try:
                peer, _ = listening.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:  # too many open files: clients wait in the queue until some are closed
                log.error("cannot accept a client: %s", error)
                loop = asyncio.get_running_loop()
                loop.remove_reader(listening)
                loop.call_later(_ACCEPT_RETRY, self._accept_again, listening)
                return
            if len(self.connections) >= _MAX_CONNECTIONS or _peer_user_id(peer) != os.geteuid():
                log.warning("rejected a client")
                peer.close()
            else:
                _Connection(self, peer).begin()

    def _accept_again(self, listening: socket.socket) -> None:
        if listening.fileno() >= 0:
            asyncio.get_running_loop().add_reader(listening, self._accept, listening)

    def _release_socket(self, listening: socket.socket) -> None:
        """Removes the socket before it releases the lock, so that the next engine's socket is never removed.

        The path may be gone: `doctor` starts agents in a temporary home, with a link to the user's directory.
        """
        with suppress(FileNotFoundError):
            os.unlink(self._path.name, dir_fd=self._directory)
        listening.close()
        os.close(self._directory)
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


class _Connection:
    """One client: a request, perhaps `working`, an answer. Slow or disconnected clients are dropped.

    It reads and writes the socket itself: most calls are answered in the callback in which they are accepted, and the
    transports of asyncio cost twice as much as such a call.
    """

    def __init__(self, serving: _Server, peer: socket.socket) -> None:
        self._serving = serving
        self._socket = peer
        self._loop = asyncio.get_running_loop()
        self._received: bytes | bytearray = b""
        self._to_send = b""
        self._head: protocol.RequestHeader | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._deciding: asyncio.Task[None] | None = None
        self._is_watched = False
        self._is_closing = False

    def begin(self) -> None:
        """Answers at once if the whole request is there, as it is from a client that prepares it before it connects."""
        self._receive()
        if not self._is_watched and self._socket.fileno() >= 0:  # a part of the request is missing
            self._wait(_CLIENT_TIMEOUT)

    def _wait(self, seconds: float, then: Callable[[], None] | None = None) -> None:
        """Waits for the client, which is dropped after that, unless there is something else to do then."""
        if not self._is_watched:
            self._is_watched = True
            self._serving.connections.add(self)
            self._loop.add_reader(self._socket, self._receive)
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._loop.call_later(seconds, then or self.close)

    def _receive(self) -> None:
        try:
            data = self._socket.recv(_RECEIVE_SIZE, socket.MSG_DONTWAIT)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self.close()
        elif self._deciding is None and not self._is_closing:
            self._received = _append(self._received, data)
            try:
                self._read()
            except protocol.ProtocolError as refused:
                log.warning("rejected a message: %s", refused)
                self.close()
            except Exception:
                log.exception("could not send the answer")
                self.close()  # the client then decides in its own process

    def close(self) -> None:
        if self._is_watched:
            self._is_watched = False
            self._loop.remove_reader(self._socket)
            self._loop.remove_writer(self._socket)
        if self._timer is not None:
            self._timer.cancel()
        self._socket.close()
        self._to_send = b""
        if self._deciding is not None and not self._is_closing:  # nobody waits for it any more
            self._deciding.cancel()
        self._serving.remove_connection(self)

    def _read(self) -> None:
        if self._head is None and self._serving.http is not None and _is_http(self._received):
            self._hand_over(self._serving.http)
            return
        if self._head is None and len(self._received) >= protocol.HEADER_SIZE:
            self._head = protocol.parse_header(self._received)
        if self._head is None:
            return
        if self._head.version != client.PROTOCOL_VERSION:
            self._decline(of_newer_client=self._head.version > client.PROTOCOL_VERSION)
        elif len(self._received) >= self._head.size:
            request = protocol.parse_request(self._head, self._received)
            self._received = b""
            of_another = request.release not in ("", client.RELEASE)
            if of_another or self._serving.is_outdated:
                self._decline(of_newer_client=True)
            else:
                self._decide(request.call)

    def _hand_over(self, http: HttpApi) -> None:
        """To the HTTP server, which from now on reads the socket."""
        if self._is_watched:
            self._loop.remove_reader(self._socket)
        if self._timer is not None:
            self._timer.cancel()
        self._is_watched = self._is_closing = True
        self._serving.connections.add(self)
        received, self._received = bytes(self._received), b""
        self._socket.setblocking(False)
        serving = self._loop.create_task(http.serve_socket(self._socket, received))
        serving.add_done_callback(lambda _: self._serving.remove_connection(self))
        self._deciding = serving

    def _decline(self, of_newer_client: bool) -> None:
        self._send_and_close(protocol.encode_declined())
        if of_newer_client:
            log.info("another version of hookline is installed")
            self._serving.end()

    def _decide(self, call: AgentCall) -> None:
        if self._is_gone():  # it stopped waiting and decides in its own process
            self.close()
            return
        reply = respond_now(call, self._serving.engine)
        if reply is not None:
            self._send_and_close(protocol.encode_reply(reply))
            return
        self._deciding = self._loop.create_task(self._respond(call))
        self._deciding.add_done_callback(self._on_decided)
        self._wait(_WORKING_DELAY, lambda: self._send_working(call))

    def _send_working(self, call: AgentCall) -> None:
        """Sent only if the decision takes a while: waking a client twice costs time."""
        left = time_for_answer(call) - timedelta(seconds=_WORKING_DELAY)
        self._send(protocol.encode_working(left + timeout_margin(call) / 4))

    def _is_gone(self) -> bool:
        looking = select.poll()
        looking.register(self._socket, 0)
        return bool(looking.poll(0))

    async def _respond(self, call: AgentCall) -> None:
        reply = await respond(call, self._serving.engine)
        self._send_and_close(protocol.encode_reply(reply))

    def _on_decided(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            log.error("could not send the answer", exc_info=task.exception())
            self.close()  # the client then decides in its own process

    def _send_and_close(self, message: bytes) -> None:
        self._is_closing = True
        self._send(message)
        if self._to_send:
            self._wait(_CLIENT_TIMEOUT)

    def _send(self, message: bytes = b"") -> None:
        self._to_send += message
        try:
            with suppress(BlockingIOError, InterruptedError):
                self._to_send = self._to_send[self._socket.send(self._to_send, socket.MSG_DONTWAIT) :]
        except OSError:  # it has gone
            self.close()
            return
        if self._to_send:
            self._loop.add_writer(self._socket, self._send)
        elif self._is_closing:
            self.close()
        else:
            self._loop.remove_writer(self._socket)


def _is_http(received: bytes | bytearray) -> bool:
    """Our own messages begin with MAGIC, those of HTTP with a method in capitals and a space."""
    start = bytes(received[:8])
    return not client.MAGIC.startswith(start) and start.partition(b" ")[0] in _HTTP_METHODS


def _append(received: bytes | bytearray, data: bytes) -> bytes | bytearray:
    """Copies nothing if the whole request comes at once, and not everything for each part of a long one."""
    if not received:
        return data
    received = bytearray(received) if isinstance(received, bytes) else received
    received += data
    return received


async def _warm_up(engine: HookCache) -> None:
    """Imports what only the first call would need, before anyone waits for it."""
    for name in AGENT_NAMES:
        get_agent(name)
    book = load_text(_WARM_UP_HOOKS, "hookline.yaml", "native")
    await book.decide(Event("tool.before", {"tool": {"name": "bash", "input": {"command": "ls"}}}), engine.local_host)


def _peer_user_id(other: socket.socket) -> int | None:
    """The user id of the peer; None if the system does not tell."""
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
