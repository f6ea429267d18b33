"""A warm interpreter for hooks that are Python files: a fork instead of a start.

An event loop keeps a few interpreters that have started already (see warm_server). A call is handed over in two steps:
a forked child says that it is ready, and is told to go. Until then nothing of the hook has run, and whatever is amiss,
the caller spawns it. After that it is never run again: if the interpreter breaks, the call has failed.

The first call of its kind is always spawned, and so is the second, which starts an interpreter for those that follow: a
process that asks one hook and ends does not pay for it.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import shlex
import socket
import subprocess
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import ContextVar
from datetime import timedelta
from typing import Any, Final

from hookline.runners.python_file import PythonFile
from hookline.runners.warm_kind import Kind, mark, standing

SERVER: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "warm_server.py")
CALLS_OF_ONE: Final = 500  # then another one takes over: its hash seed and its memory layout are all its children's
IDLE: Final = timedelta(seconds=60)  # then it ends by itself
_AT_ONCE: Final = 4
_REMEMBERED: Final = 64
_PATIENCE: Final = 2.0
_TO_END: Final = 1.0
_TO_LEAVE: Final = 0.1  # of an interpreter that has no calls any more; the loop waits for it
_TOKEN: Final = 8  # bytes
_LARGEST_REQUEST: Final = 100_000

_SET_FOR_EACH_CALL: Final = frozenset((b"PWD", b"OLDPWD", b"_"))

wanted: Final[ContextVar[bool]] = ContextVar("warm", default=True)
"""False where no interpreter is to be kept, whatever a host says."""

AVAILABLE: Final = (
    sys.platform == "linux"
)  # elsewhere a fork without a new program breaks what the system does behind it


class Child:
    """A hook that runs in a fork of a warm interpreter."""

    def __init__(self, pid: int, channel: socket.socket, ended: Callable[[], None]) -> None:
        self.pid = pid
        self.status: int | None = None
        self._channel = channel
        self._when_let_go = ended
        self._loop = asyncio.get_running_loop()
        self._known = False
        self._exited: Callable[[], None] = lambda: None

    def watch(self, exited: Callable[[], None]) -> None:
        self._exited = exited
        self._loop.add_reader(self._channel, self._read)

    def end(self, status: int) -> None:
        """It has nothing left to do but to end with this exit code."""
        if not self._known:
            self._know(status)

    def reap(self, *, waiting: bool = False) -> bool:
        """True once it has ended, and then the interpreter buries it."""
        if not self._known and waiting:
            self._forget()
            self._channel.settimeout(_TO_END)
            self._exited = lambda: None
            self._read()
        if not self._known:
            return False
        if self._channel.fileno() >= 0:
            self._forget()
            self._channel.close()
            self._when_let_go()
        return True

    def _read(self) -> None:
        try:
            word, _, status = self._channel.recv(64).partition(b" ")
        except BlockingIOError:
            return
        except OSError:
            word = b""
        self._know(int(status) if word == b"ended" else None)

    def _know(self, status: int | None) -> None:
        self._forget()
        self._known = True
        self.status = status
        self._exited()

    def _forget(self) -> None:
        if not self._loop.is_closed() and self._channel.fileno() >= 0:
            self._loop.remove_reader(self._channel)


class _Interpreter:
    """One process, from its start to its end. It refers to no event loop, so that it can end with its loop."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.calls = 0
        self.running = 0
        self.ready = False
        self.gone = False
        self.unfit = False
        self.successor: _Interpreter | None = None
        self._retired = False
        self._env: dict[bytes, bytes] = {}
        self._changed: set[bytes] = set()  # names that bash or Python itself changed at the start
        self._marks: dict[str, tuple[int, ...] | None] = {}
        self._children: weakref.WeakValueDictionary[bytes, Child] = weakref.WeakValueDictionary()
        self.ends, self._told = os.pipe()
        os.set_blocking(self.ends, False)
        self._said, theirs = os.pipe()
        self.socket, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.setblocking(False)
        os.set_blocking(self._said, False)
        try:
            self._process: subprocess.Popen[bytes] | None = _started(kind, end, theirs)
        except OSError:
            self._process, self.unfit = None, True
        finally:
            os.close(theirs)
            end.close()

    def hear(self) -> None:
        """Its first word says what it is; after that only its end can be heard."""
        try:
            words = self.socket.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            words = b""
        if not words or self.ready:
            self.unfit = self.unfit or not self.ready
            self.gone = True
        elif self._is_as_spawned(json.loads(words)):
            self.ready = True
        else:
            self.unfit = True

    def hear_ends(self) -> None:
        """What anybody else writes there is of no child."""
        with suppress(BlockingIOError):
            told = os.read(self.ends, 100 * (_TOKEN + 1))
            for start in range(0, len(told) - _TOKEN, _TOKEN + 1):
                child = self._children.get(told[start : start + _TOKEN])
                if child is not None:
                    child.end(told[start + _TOKEN])

    def _is_as_spawned(self, about: dict[str, Any]) -> bool:
        self._marks = {path: mark(path) for path in about["marks"]}
        given = dict(self.kind.env)
        self._env = {os.fsencode(name): os.fsencode(value) for name, value in about["env"].items()}
        names = (given.keys() | self._env.keys()) - (_SET_FOR_EACH_CALL if self.kind.shell else set())
        self._changed = {name for name in names if self._env.get(name) != given.get(name)}
        return (
            about["version"] == [sys.implementation.name, *sys.version_info[:2]]
            and (about["encoding"], about["threads"], about["files"]) == ("utf-8", 1, 4)
            and self._process is not None
            and about["pid"] == self._process.pid
            and not self._has_said_something()
        )

    def _has_said_something(self) -> bool:
        """What its start writes belongs to each call's output, and only a spawned one brings it there."""
        with suppress(BlockingIOError):
            return bool(os.read(self._said, 1))
        return False

    def outdated(self) -> bool:
        return any(mark(path) != before for path, before in self._marks.items())

    async def fork(self, call: PythonFile, streams: Iterable[int], patience: float) -> Child | None:
        """None if the call must be spawned: nothing of it has run then, nor will it."""
        token = os.urandom(_TOKEN)
        request = json.dumps(self._request(call, token)).encode()
        if len(request) > _LARGEST_REQUEST:
            return None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        ours.setblocking(False)
        self.running += 1
        handed_over = False
        try:
            with theirs:
                socket.send_fds(self.socket, [request], [*streams, theirs.fileno()])
            async with asyncio.timeout(patience):
                answer = await asyncio.get_running_loop().sock_recv(ours, 64)
            if not answer.startswith(b"ready "):
                return None
            child = Child(int(answer.split()[1]), ours, functools.partial(self._let_go, token))
            self._children[token] = child
            ours.send(b"go")
            handed_over = True
        except TimeoutError:
            self.gone = True
            return None
        except OSError:
            return None
        finally:
            if not handed_over:
                ours.close()
                self._let_go(token)
        self.calls += 1
        return child

    def _request(self, call: PythonFile, token: bytes) -> dict[str, Any]:
        """Of the environment, only what differs from the interpreter's own; None takes a variable away."""
        env = {name: value for name, value in call.env.items() if self._env.get(name) != value}
        changes = {os.fsdecode(name): os.fsdecode(value) for name, value in env.items() if name not in self._changed}
        gone = self._env.keys() - call.env.keys() - self._changed
        return {
            "name": call.name,
            "script": call.script,
            "arguments": call.arguments,
            "cwd": call.cwd,
            "file": call.file,
            "end": (f"/proc/{os.getpid()}/fd/{self._told}", os.fstat(self._told).st_ino, token.hex()),
            "env": {**changes, **dict.fromkeys(map(os.fsdecode, gone))},
        }

    def _let_go(self, token: bytes) -> None:
        self._children.pop(token, None)
        self.running -= 1
        if self._retired and not self.running:
            self.close()

    def retire(self) -> None:
        """Ends when its last call has."""
        self._retired = True
        if not self.running:
            self.close()

    def close(self) -> None:
        if self._said < 0:
            return
        for fd in (self._said, self.ends, self._told):
            os.close(fd)
        self._said = -1
        self.socket.close()
        if self._process is None:
            return
        try:
            self._process.wait(_TO_LEAVE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class Interpreters:
    """The warm interpreters of one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.forked = 0  # calls that did not have to be spawned
        self._loop = weakref.ref(loop)
        self._seen: OrderedDict[Kind, None] = OrderedDict()
        self._held: OrderedDict[Kind, _Interpreter] = OrderedDict()

    async def fork(self, call: PythonFile, shell: str, streams: Iterable[int], seconds: float) -> Child | None:
        """A child that runs the hook, or None if it must be spawned."""
        relative = "/" in call.name and not os.path.isabs(call.name)
        kind = Kind(
            call.name,
            call.executable,
            call.cwd if relative else "/",
            shell if call.shell else "",
            call.at_start,
            standing(),
        )
        interpreter = self._for(kind)
        if interpreter is None:
            return None
        child = await interpreter.fork(call, streams, min(_PATIENCE, seconds / 4))
        if interpreter.gone:
            self._drop(kind)
        self.forked += child is not None
        return child

    def close(self) -> None:
        for kind in list(self._held):
            self._drop(kind)
        self._seen.clear()

    def _for(self, kind: Kind) -> _Interpreter | None:
        held = self._held.get(kind)
        if held is None:
            if self._is_known(kind):
                self._start(kind)
            return None
        self._held.move_to_end(kind)
        if held.gone or (held.ready and held.outdated()):
            self._drop(kind)
            self._start(kind)
            return None
        if held.calls >= CALLS_OF_ONE:
            held = self._succeeded(held)
        return held if held.ready and not held.unfit else None

    def _is_known(self, kind: Kind) -> bool:
        known = kind in self._seen
        self._seen[kind] = None
        self._seen.move_to_end(kind)
        while len(self._seen) > _REMEMBERED:
            self._seen.popitem(last=False)
        return known

    def _start(self, kind: Kind) -> None:
        self._held[kind] = self._begun(kind)
        while len(self._held) > _AT_ONCE:
            self._drop(next(iter(self._held)))

    def _begun(self, kind: Kind) -> _Interpreter:
        started = _Interpreter(kind)
        loop = self._loop()
        if started.unfit:
            started.retire()
        elif loop is not None:
            loop.add_reader(started.socket, self._hear, started)
            loop.add_reader(started.ends, started.hear_ends)
        return started

    def _hear(self, interpreter: _Interpreter) -> None:
        interpreter.hear()
        if interpreter.gone or interpreter.unfit:
            self._end(interpreter)
            if not interpreter.unfit and self._held.get(interpreter.kind) is interpreter:
                del self._held[interpreter.kind]

    def _succeeded(self, old: _Interpreter) -> _Interpreter:
        """The old one serves until the new one can."""
        if old.successor is None:
            old.successor = self._begun(old.kind)
        new = old.successor
        if not (new.ready or new.unfit or new.gone):
            return old
        old.successor = None
        self._held[old.kind] = new
        self._end(old)
        return new

    def _drop(self, kind: Kind) -> None:
        interpreter = self._held.pop(kind, None)
        for each in (interpreter, interpreter.successor if interpreter else None):
            if each is not None:
                self._end(each)

    def _end(self, interpreter: _Interpreter) -> None:
        loop = self._loop()
        if loop is not None and not loop.is_closed() and interpreter.socket.fileno() >= 0:
            loop.remove_reader(interpreter.socket)
            loop.remove_reader(interpreter.ends)
        interpreter.retire()


_lock: Final = threading.Lock()
_by_loop: Final[weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, Interpreters]] = weakref.WeakKeyDictionary()


def interpreters() -> Interpreters:
    """Those of the running loop. They end when it is gone, when nobody has asked for a minute, and with this process."""
    loop = asyncio.get_running_loop()
    with _lock:
        held = _by_loop.get(loop)
        if held is None:
            held = _by_loop[loop] = Interpreters(loop)
            weakref.finalize(loop, held.close)
    return held


def _started(kind: Kind, end: socket.socket, said: int) -> subprocess.Popen[bytes]:
    argv = [kind.name, SERVER, str(end.fileno()), str(IDLE.total_seconds())]
    return subprocess.Popen(
        [kind.shell, "-c", shlex.join(argv)] if kind.shell else argv,
        stdin=subprocess.DEVNULL,
        stdout=said,
        stderr=said,
        cwd=kind.directory,
        env=dict(kind.env),
        start_new_session=True,
        pass_fds=(end.fileno(),),
    )
