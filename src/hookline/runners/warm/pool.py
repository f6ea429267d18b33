"""Warm interpreters for hooks that are Python files: a fork instead of an interpreter start.

Each event loop keeps a few running interpreters (see warm_server). A call is handed over in two steps: a forked child reports
that it is ready and then gets the signal to start. Until then nothing of the hook has run, and if anything is wrong the caller spawns it
instead. After that the hook is never run again: if the interpreter breaks, the call has failed.

The first call is always spawned, and so is the second, which starts an interpreter for the next ones: a process that runs
one hook and exits does not pay for it.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import socket
import sys
import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable
from contextlib import suppress
from contextvars import ContextVar
from datetime import timedelta
from typing import Any, Final

from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import asyncio, json, lazy_pattern, subprocess
from hookline.runners.warm.command import PythonFile

_STATUS_LINES: Final = lazy_pattern(
    rb"^(?:Umask|Uid|Gid|Groups|NoNewPrivs|Seccomp|SigBlk|SigIgn|CapInh|CapAmb|Cpus_allowed):.*", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class InterpreterKey:
    """Calls that one interpreter can serve."""

    name: str
    executable: str
    directory: str  # where it must start; only a relative name depends on it
    shell: str  # the shell that starts it, or empty
    env: frozenset[tuple[bytes, bytes]]
    process_state: tuple[bytes, ...]  # what a new process inherits from this one now


def file_stamp(path: str) -> tuple[int, ...] | None:
    """Changes when the file changes."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_mode, found.st_size, found.st_mtime_ns


def current_process_state() -> tuple[bytes, ...]:
    """Signal mask, limits, signals and rights of this process: a new process gets today's, a fork those of its start."""
    with open("/proc/thread-self/status", "rb", 0) as file:
        lines = _STATUS_LINES.findall(file.read())
    with open("/proc/self/limits", "rb", 0) as file:
        return (*lines, file.read(), b"%d" % os.getpriority(os.PRIO_PROCESS, 0))


SERVER_FILE: Final = os.path.join(os.path.dirname(os.path.abspath(__file__)), "warm_server.py")
MAX_CALLS_PER_INTERPRETER: Final = 500  # then it is replaced: all its children share its hash seed and memory layout
IDLE_TIMEOUT: Final = timedelta(seconds=60)  # then it exits by itself
_MAX_INTERPRETERS: Final = 4
_MAX_SEEN_KEYS: Final = 64
_FORK_TIMEOUT: Final = 2.0
_END_TIMEOUT: Final = 1.0
_EXIT_TIMEOUT: Final = 0.1  # for an interpreter without calls to exit
_TOKEN_BYTES: Final = 8  # bytes
_MAX_REQUEST_BYTES: Final = 100_000

_VARIABLES_OF_EACH_CALL: Final = frozenset((b"PWD", b"OLDPWD", b"_"))

warm_enabled: Final[ContextVar[bool]] = ContextVar("warm", default=True)
"""False: keep no interpreters, whatever a host says."""

IS_AVAILABLE: Final = sys.platform == "linux"  # elsewhere, a fork without exec breaks system libraries


class ForkedProcess:
    """A hook that runs in a fork of a warm interpreter."""

    def __init__(self, pid: int, channel: socket.socket, ended: Callable[[], None]) -> None:
        self.pid = pid
        self.status: int | None = None
        self._channel = channel
        self._on_release = ended
        self._loop = asyncio.get_running_loop()
        self._has_status = False
        self._exited: Callable[[], None] = lambda: None

    def watch(self, exited: Callable[[], None]) -> None:
        self._exited = exited
        self._loop.add_reader(self._channel, self._read_status)

    def end(self, status: int) -> None:
        """Everything is done; what remains is to exit with this code."""
        if not self._has_status:
            self._set_status(status)

    def reap(self, *, waiting: bool = False) -> bool:
        """True once it has exited; the interpreter then reaps it."""
        if not self._has_status and waiting:
            self._stop_reading()
            self._channel.settimeout(_END_TIMEOUT)
            self._exited = lambda: None
            self._read_status()
        if not self._has_status:
            return False
        if self._channel.fileno() >= 0:
            self._stop_reading()
            self._channel.close()
            self._on_release()
        return True

    def _read_status(self) -> None:
        try:
            word, _, status = self._channel.recv(64).partition(b" ")
        except BlockingIOError:
            return
        except OSError:
            word = b""
        self._set_status(int(status) if word == b"ended" else None)

    def _set_status(self, status: int | None) -> None:
        self._stop_reading()
        self._has_status = True
        self.status = status
        self._exited()

    def _stop_reading(self) -> None:
        if not self._loop.is_closed() and self._channel.fileno() >= 0:
            self._loop.remove_reader(self._channel)


class _Interpreter:
    """One interpreter process. It refers to no event loop, so that it can end with its loop."""

    def __init__(self, kind: InterpreterKey) -> None:
        self.kind = kind
        self.calls = 0
        self.running = 0
        self.ready = False
        self.gone = False
        self.unfit = False
        self.successor: _Interpreter | None = None
        self._retired = False
        self._env: dict[bytes, bytes] = {}
        self._changed: set[bytes] = set()  # variables that bash or Python itself changed at the start
        self._marks: dict[str, tuple[int, ...] | None] = {}
        self._children: weakref.WeakValueDictionary[bytes, ForkedProcess] = weakref.WeakValueDictionary()
        self.ends, self._ends_writer = os.pipe()
        os.set_blocking(self.ends, False)
        self._output_reader, theirs = os.pipe()
        self.socket, end = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.setblocking(False)
        os.set_blocking(self._output_reader, False)
        try:
            self._process: subprocess.Popen[bytes] | None = _spawn_server(kind, end, theirs)
        except OSError:
            self._process, self.unfit = None, True
        finally:
            os.close(theirs)
            end.close()

    def read_greeting(self) -> None:
        """Its first message describes it; after that only its end is read."""
        try:
            words = self.socket.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            words = b""
        if not words or self.ready:
            self.unfit = self.unfit or not self.ready
            self.gone = True
        elif self._is_equivalent(json.loads(words)):
            self.ready = True
        else:
            self.unfit = True

    def read_exit_codes(self) -> None:
        """Reads exit codes; ignores what others write there."""
        with suppress(BlockingIOError):
            data = os.read(self.ends, 100 * (_TOKEN_BYTES + 1))
            for start in range(0, len(data) - _TOKEN_BYTES, _TOKEN_BYTES + 1):
                child = self._children.get(data[start : start + _TOKEN_BYTES])
                if child is not None:
                    child.end(data[start + _TOKEN_BYTES])

    def _is_equivalent(self, about: dict[str, Any]) -> bool:
        self._marks = {path: file_stamp(path) for path in about["marks"]}
        given = dict(self.kind.env)
        self._env = {os.fsencode(name): os.fsencode(value) for name, value in about["env"].items()}
        names = (given.keys() | self._env.keys()) - (_VARIABLES_OF_EACH_CALL if self.kind.shell else set())
        self._changed = {name for name in names if self._env.get(name) != given.get(name)}
        return (
            about["version"] == [sys.implementation.name, *sys.version_info[:2]]
            and (about["encoding"], about["threads"], about["files"]) == ("utf-8", 1, 4)
            and self._process is not None
            and about["pid"] == self._process.pid
            and not self._has_written_output()
        )

    def _has_written_output(self) -> bool:
        """True if its start wrote output, which would belong to each call's output: then calls are spawned."""
        with suppress(BlockingIOError):
            return bool(os.read(self._output_reader, 1))
        return False

    def is_outdated(self) -> bool:
        return any(file_stamp(path) != before for path, before in self._marks.items())

    async def fork(
        self, call: PythonFile, streams: Iterable[int], patience: float, before_start: Callable[[int], None]
    ) -> ForkedProcess | None:
        """None if the call must be spawned; then nothing of it has run."""
        token = os.urandom(_TOKEN_BYTES)
        request = json.dumps(self._build_request(call, token)).encode()
        if len(request) > _MAX_REQUEST_BYTES:
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
            child = ForkedProcess(int(answer.split()[1]), ours, functools.partial(self._release, token))
            self._children[token] = child
            before_start(child.pid)
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
                self._release(token)
        self.calls += 1
        return child

    def _build_request(self, call: PythonFile, token: bytes) -> dict[str, Any]:
        """Sends only environment variables that differ from the interpreter's own; None removes one."""
        env = {name: value for name, value in call.env.items() if self._env.get(name) != value}
        changes = {os.fsdecode(name): os.fsdecode(value) for name, value in env.items() if name not in self._changed}
        gone = self._env.keys() - call.env.keys() - self._changed
        return {
            "name": call.name,
            "script": call.script,
            "arguments": call.arguments,
            "cwd": call.cwd,
            "file": call.file,
            "end": (f"/proc/{os.getpid()}/fd/{self._ends_writer}", os.fstat(self._ends_writer).st_ino, token.hex()),
            "env": {**changes, **dict.fromkeys(map(os.fsdecode, gone))},
        }

    def _release(self, token: bytes) -> None:
        self._children.pop(token, None)
        self.running -= 1
        if self._retired and not self.running:
            self.close()

    def retire(self) -> None:
        """Exits when its last call has ended."""
        self._retired = True
        if not self.running:
            self.close()

    def close(self) -> None:
        if self._output_reader < 0:
            return
        for fd in (self._output_reader, self.ends, self._ends_writer):
            os.close(fd)
        self._output_reader = -1
        self.socket.close()
        if self._process is None:
            return
        try:
            self._process.wait(_EXIT_TIMEOUT)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


class InterpreterPool:
    """The warm interpreters of one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.forked = 0  # calls that were forked instead of spawned
        self._loop = weakref.ref(loop)
        self._seen: OrderedDict[InterpreterKey, None] = OrderedDict()
        self._held: OrderedDict[InterpreterKey, _Interpreter] = OrderedDict()

    async def fork(
        self,
        call: PythonFile,
        shell: str,
        streams: Iterable[int],
        seconds: float,
        before_start: Callable[[int], None] = lambda pid: None,
    ) -> ForkedProcess | None:
        """A child that runs the hook, or None if it must be spawned. `before_start` gets the id of the waiting child."""
        relative = "/" in call.name and not os.path.isabs(call.name)
        kind = InterpreterKey(
            call.name,
            call.executable,
            call.cwd if relative else "/",
            shell if call.shell else "",
            call.at_start,
            current_process_state(),
        )
        interpreter = self._find_or_start(kind)
        if interpreter is None:
            return None
        child = await interpreter.fork(call, streams, min(_FORK_TIMEOUT, seconds / 4), before_start)
        if interpreter.gone:
            self._drop(kind)
        self.forked += child is not None
        return child

    def close(self) -> None:
        for kind in list(self._held):
            self._drop(kind)
        self._seen.clear()

    def _find_or_start(self, kind: InterpreterKey) -> _Interpreter | None:
        held = self._held.get(kind)
        if held is None:
            if self._has_seen(kind):
                self._add_interpreter(kind)
            return None
        self._held.move_to_end(kind)
        if held.gone or (held.ready and held.is_outdated()):
            self._drop(kind)
            self._add_interpreter(kind)
            return None
        if held.calls >= MAX_CALLS_PER_INTERPRETER:
            held = self._replace_when_ready(held)
        return held if held.ready and not held.unfit else None

    def _has_seen(self, kind: InterpreterKey) -> bool:
        known = kind in self._seen
        self._seen[kind] = None
        self._seen.move_to_end(kind)
        while len(self._seen) > _MAX_SEEN_KEYS:
            self._seen.popitem(last=False)
        return known

    def _add_interpreter(self, kind: InterpreterKey) -> None:
        self._held[kind] = self._start_interpreter(kind)
        while len(self._held) > _MAX_INTERPRETERS:
            self._drop(next(iter(self._held)))

    def _start_interpreter(self, kind: InterpreterKey) -> _Interpreter:
        started = _Interpreter(kind)
        loop = self._loop()
        if started.unfit:
            started.retire()
        elif loop is not None:
            loop.add_reader(started.socket, self._on_readable, started)
            loop.add_reader(started.ends, started.read_exit_codes)
        return started

    def _on_readable(self, interpreter: _Interpreter) -> None:
        interpreter.read_greeting()
        if interpreter.gone or interpreter.unfit:
            self._retire(interpreter)
            if not interpreter.unfit and self._held.get(interpreter.kind) is interpreter:
                del self._held[interpreter.kind]

    def _replace_when_ready(self, old: _Interpreter) -> _Interpreter:
        """The old interpreter serves until the new one is ready."""
        if old.successor is None:
            old.successor = self._start_interpreter(old.kind)
        new = old.successor
        if not (new.ready or new.unfit or new.gone):
            return old
        old.successor = None
        self._held[old.kind] = new
        self._retire(old)
        return new

    def _drop(self, kind: InterpreterKey) -> None:
        interpreter = self._held.pop(kind, None)
        for each in (interpreter, interpreter.successor if interpreter else None):
            if each is not None:
                self._retire(each)

    def _retire(self, interpreter: _Interpreter) -> None:
        loop = self._loop()
        if loop is not None and not loop.is_closed() and interpreter.socket.fileno() >= 0:
            loop.remove_reader(interpreter.socket)
            loop.remove_reader(interpreter.ends)
        interpreter.retire()


_lock: Final = threading.Lock()
_by_loop: Final[weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, InterpreterPool]] = weakref.WeakKeyDictionary()


def interpreter_pool() -> InterpreterPool:
    """The pool of the running loop. Its interpreters end with the loop, after a minute without calls, and with this process."""
    loop = asyncio.get_running_loop()
    with _lock:
        held = _by_loop.get(loop)
        if held is None:
            held = _by_loop[loop] = InterpreterPool(loop)
            weakref.finalize(loop, held.close)
    return held


def _spawn_server(kind: InterpreterKey, end: socket.socket, said: int) -> subprocess.Popen[bytes]:
    argv = [kind.name, SERVER_FILE, str(end.fileno()), str(IDLE_TIMEOUT.total_seconds())]
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
