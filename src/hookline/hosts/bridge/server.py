"""The warm engine: one for each user, on a socket that nobody else can reach."""

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
from hookline.hosts.bridge import client, messages
from hookline.hosts.bridge.call import Call
from hookline.hosts.bridge.deadline import answer_until, margin
from hookline.hosts.bridge.decide import decide
from hookline.hosts.bridge.engine import Warm
from hookline.hosts.table import NAMES, agent
from hookline.project import load_text

_ANY: Final = "hooks: [{on: tool.before, when: {tool: bash, input: {command: 'a.*b'}}, then: {deny: No}}]"
LOCK: Final = "engine.lock"
_MOST: Final = 1_000  # connections
_SOON: Final = 0.1  # seconds until a client hears that its call is being decided
_PATIENCE: Final = 10.0  # seconds for a client to send all of its message, and to take the answer
_FAREWELL: Final = timedelta(seconds=10)  # for background work when the engine ends

log = logging.getLogger("hookline")


async def serve(directory: Path, idle: timedelta, tidy: Callable[[], None] | None = None) -> bool:
    """Serves until nobody called for `idle`, or it is told to end. False at once if another engine serves already.

    `tidy` is called now and then.
    """
    _make_private(directory)
    lock = os.open(directory / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return False
    serving = _Serving(directory, lock, idle, tidy)
    await serving.run()
    return True


def _make_private(directory: Path) -> None:
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    if directory.lstat().st_uid == os.geteuid() and not directory.is_symlink():
        directory.chmod(0o700)
    if not client.is_private(str(directory)):
        raise HooklineError(f"{directory} is not a directory of yours alone, so no engine is started in it")


class _Serving:
    def __init__(self, directory: Path, lock: int, idle: timedelta, tidy: Callable[[], None] | None) -> None:
        self.engine = Warm()
        self.connections: set[_Connection] = set()
        self._path = directory / client.SOCKET
        self._lock = lock
        self._idle = idle.total_seconds()
        self._tidy = tidy
        self._installed = _stamp()
        self._ending = asyncio.Event()
        self._nobody_since = 0.0
        self._left = asyncio.Event()

    async def run(self) -> None:
        loop = asyncio.get_running_loop()
        await _warm_up(self.engine)
        server = await loop.create_unix_server(lambda: _Connection(self), sock=self._bound(), backlog=1024)
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self.end)
        self._nobody_since = loop.time()
        beside = [loop.create_task(work) for work in (self._end_when_idle(), self.engine.keep_looking())]
        log.info("engine %s serves, process %d", client.RELEASE, os.getpid())
        await self._ending.wait()
        for task in beside:
            task.cancel()
        self._make_room(server)
        while self.connections:
            self._left.clear()
            await self._left.wait()
        await self.engine.here.drain(_FAREWELL)
        self.engine.close()
        log.info("engine ends, process %d", os.getpid())

    def end(self) -> None:
        """No new calls; those that have come are answered."""
        self._ending.set()

    @property
    def outdated(self) -> bool:
        """True once another version of the package lies where this one was started from."""
        return self._ending.is_set() or _stamp() != self._installed

    def left(self, connection: _Connection) -> None:
        self.connections.discard(connection)
        self._left.set()
        self._nobody_since = asyncio.get_running_loop().time()

    def _bound(self) -> socket.socket:
        """Whoever holds the lock may remove a dead engine's socket."""
        with suppress(FileNotFoundError):
            os.unlink(self._path)
        bound = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        before = os.umask(0o177)
        try:
            bound.bind(str(self._path))
        except OSError as error:
            bound.close()
            raise HooklineError(f"the engine cannot listen at {self._path}: {error}") from None
        finally:
            os.umask(before)
        return bound

    def _make_room(self, server: asyncio.Server) -> None:
        """For the next engine: the socket goes before the lock, so the next one's is not taken for ours."""
        with suppress(FileNotFoundError):
            os.unlink(self._path)
        server.close()
        os.close(self._lock)

    async def _end_when_idle(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            quiet_until = self._nobody_since + self._idle
            await asyncio.sleep(max(0.05, min(quiet_until - loop.time(), 60)))
            if self._tidy is not None:
                self._tidy()
            if not self.connections and loop.time() >= self._nobody_since + self._idle:
                self.end()


class _Connection(asyncio.Protocol):
    """One client: a message, `working`, an answer. Whoever is slow or goes away is let go."""

    def __init__(self, serving: _Serving) -> None:
        self._serving = serving
        self._data = bytearray()
        self._head: messages.Head | None = None
        self._transport: asyncio.Transport | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._deciding: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        if len(self._serving.connections) >= _MOST or _peer(transport) != os.geteuid():
            log.warning("a client was refused")
            transport.abort()
            return
        self._serving.connections.add(self)
        self._patience(_PATIENCE)

    def data_received(self, data: bytes) -> None:
        if self._deciding is not None or self not in self._serving.connections:
            return
        self._data += data
        try:
            self._read()
        except messages.Refused as refused:
            log.warning("a message was refused: %s", refused)
            self._abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._serving.left(self)
        if self._timer is not None:
            self._timer.cancel()
        if self._deciding is not None:
            self._deciding.cancel()

    def _read(self) -> None:
        if self._head is None and len(self._data) >= messages.HEAD:
            self._head = messages.head(self._data)
        if self._head is None:
            return
        if self._head.version != client.VERSION:
            self._send_away(of_newer_client=self._head.version > client.VERSION)
        elif len(self._data) >= self._head.size:
            request = messages.request(self._head, self._data)
            self._data.clear()
            of_another = request.release not in ("", client.RELEASE)
            if of_another or self._serving.outdated:
                self._send_away(of_newer_client=True)
            else:
                self._begin(request.call)

    def _send_away(self, of_newer_client: bool) -> None:
        self._last(messages.elsewhere())
        if of_newer_client:
            log.info("another version of hookline is installed")
            self._serving.end()

    def _begin(self, call: Call) -> None:
        if self._is_gone():  # it lost patience and decides elsewhere
            self._abort()
            return
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(_SOON, self._say_working, call)
        self._deciding = asyncio.get_running_loop().create_task(self._decide(call))
        self._deciding.add_done_callback(self._decided)

    def _say_working(self, call: Call) -> None:
        """Only where it takes a while: a client that is woken twice has waited longer."""
        left = answer_until(call.agent, call.event, call.spent) - timedelta(seconds=_SOON)
        self._write(messages.working(left + margin(call.agent, call.event) / 4))

    def _is_gone(self) -> bool:
        if self._transport is None:
            return True
        looking = select.poll()
        looking.register(self._transport.get_extra_info("socket").fileno(), 0)
        return bool(looking.poll(0))

    async def _decide(self, call: Call) -> None:
        reply = await decide(call, self._serving.engine)
        self._last(messages.answered(reply))

    def _decided(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and task.exception() is not None:
            log.error("no answer could be given", exc_info=task.exception())
            self._abort()  # the client finds another way

    def _last(self, message: bytes) -> None:
        self._write(message)
        self._patience(_PATIENCE)
        if self._transport is not None:
            self._transport.close()

    def _write(self, message: bytes) -> None:
        if self._transport is not None and not self._transport.is_closing():
            self._transport.write(message)

    def _patience(self, seconds: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._abort)

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()


async def _warm_up(engine: Warm) -> None:
    """What only the first call would need to import, before anyone waits for it."""
    for name in NAMES:
        agent(name)
    book = load_text(_ANY, "hookline.yaml", "native")
    await book.decide(Event("tool.before", {"tool": {"name": "bash", "input": {"command": "ls"}}}), engine.here)


def _peer(transport: asyncio.Transport) -> int | None:
    """The user id of whoever is at the other end; None where the system does not tell."""
    other: socket.socket = transport.get_extra_info("socket")
    if hasattr(socket, "SO_PEERCRED"):
        _, user, _ = struct.unpack("3i", other.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return int(user)
    if sys.platform == "darwin":
        _, user = struct.unpack_from("2I", other.getsockopt(0, 1, 76))  # SOL_LOCAL, LOCAL_PEERCRED
        return int(user)
    return None


def _stamp() -> tuple[int, int, int]:
    """Differs once the package was installed anew: the client's file tells its release."""
    try:
        status = os.stat(client.__file__)
    except OSError:
        return (0, 0, 0)
    return (status.st_ino, status.st_mtime_ns, status.st_size)
