"""Runs programs. This is the only place that starts one for a hook.

A program gets its own session and process group. It has ended when its main process has: other processes of its group then
get a tenth of a second to close their output and are killed, as everything is at the deadline and on cancellation. On Linux
that includes processes that left the session (setsid, a daemon). Under a supervisor everything ends with this process too,
however it ends.

Processes are watched through a pidfd instead of asyncio's child watcher, which on Python 3.11
uses a thread per process unless the interpreter's global policy is changed. Without pidfd, as on macOS, the main process is
polled. stdin is a pipe, not asyncio's socket, so that programs can open /dev/stdin.
"""

from __future__ import annotations

import errno
import functools
import os
import signal
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Final

from hookline.hooks.host import Command, ProgramResult, current_hook, format_duration
from hookline.hooks.masking import mask, secret_values
from hookline.hooks.outcome import ActionError, FailureKind
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import asyncio, lazy_logger, logging, shutil, tempfile
from hookline.runners.descendants import Descendants
from hookline.runners.environment import build_environment
from hookline.runners.spawn import ProgramStart, spawn
from hookline.runners.supervisor import supervisor_argv
from hookline.runners.warm.command import encode_for_process, parse_python_command
from hookline.runners.warm.pool import ForkedProcess, InterpreterPool

MAX_OUTPUT_BYTES: Final = 1 << 20  # bytes of each output stream
_CHUNK: Final = 1 << 16


class CapturedOutput:
    """One output stream: keeps the beginning and counts the rest."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._size = 0
        self.dropped = 0

    def append(self, data: bytes) -> None:
        room = MAX_OUTPUT_BYTES - self._size
        if room > 0:
            self._chunks.append(data[:room])
            self._size += min(room, len(data))
        self.dropped += max(0, len(data) - max(room, 0))

    def text(self) -> str:
        return b"".join(self._chunks).decode("utf-8", "replace")


class Pipes:
    """The three streams of a program. The program's ends are `stdin`, `stdout`, `stderr`; the loop watches ours.

    Most programs take little input and write little. So the input is written before the program starts, if it fits, and
    the output is read when the program has ended: a pipe keeps 64 KiB. The loop watches the pipes of a program that takes
    longer: being woken for each stream costs as much as a tenth of a short program.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, stdin: bytes) -> None:
        self.out = CapturedOutput()
        self.err = CapturedOutput()
        self.quiet = asyncio.Event()  # set when no output can come any more
        self.stdin = self.stdout = self.stderr = -1
        self._loop = loop
        self._to_write = memoryview(stdin)
        self._ours: dict[int, CapturedOutput | None] = {}
        self._into = -1
        self._watch_timer: asyncio.TimerHandle | None = None
        self._is_watched = False

    def open(self) -> None:
        """May raise OSError; call `close` even then."""
        if self._to_write:
            self.stdin, self._into = os.pipe()
            self._ours[self._into] = None
            os.set_blocking(self._into, False)
            self._write()
        else:
            self.stdin = os.open(os.devnull, os.O_RDONLY)
        read, self.stdout = os.pipe()
        self._ours[read] = self.out
        read, self.stderr = os.pipe()
        self._ours[read] = self.err

    def begin(self) -> None:
        """Call once the program has been started."""
        self._close_child_ends()
        for end, output in self._ours.items():
            if output is not None:
                os.set_blocking(end, False)
        if self._to_write:
            self.watch()
        else:
            self._watch_timer = self._loop.call_later(_WATCH_DELAY, self.watch)

    def watch(self) -> None:
        """Reads and writes as soon as the program does."""
        if self._is_watched:
            return
        self._is_watched = True
        for end, output in self._ours.items():
            if output is not None:
                self._loop.add_reader(end, self._read, end, output)
            else:
                self._loop.add_writer(end, self._write)

    def drain(self) -> None:
        """Reads what is available now."""
        for end, output in list(self._ours.items()):
            while output is not None and self._read(end, output):
                pass

    def close(self) -> None:
        if self._watch_timer is not None:
            self._watch_timer.cancel()
        self._close_child_ends()
        for end in list(self._ours):
            self._close(end)

    def _close_child_ends(self) -> None:
        for end in (self.stdin, self.stdout, self.stderr):
            if end >= 0:
                os.close(end)
        self.stdin = self.stdout = self.stderr = -1

    def _close(self, end: int) -> None:
        output = self._ours.pop(end)
        if self._is_watched and not self._loop.is_closed():
            forget = self._loop.remove_writer if output is None else self._loop.remove_reader
            forget(end)
        os.close(end)
        if not any(self._ours.values()):
            self.quiet.set()

    def _read(self, end: int, output: CapturedOutput) -> bool:
        """True if something was read, and more may come."""
        try:
            data = os.read(end, _CHUNK)
        except (BlockingIOError, InterruptedError):
            return False
        if data:
            output.append(data)
        else:
            self._close(end)
        return bool(data)

    def _write(self) -> None:
        """A program that does not read its stdin is not an error."""
        try:
            with suppress(BlockingIOError, InterruptedError):
                self._to_write = self._to_write[os.write(self._into, self._to_write[: 16 * _CHUNK]) :]
        except OSError:
            self._to_write = self._to_write[:0]
        if not self._to_write:
            self._close(self._into)


_WATCH_DELAY: Final = 0.02  # seconds; a program that writes more than a pipe keeps waits for so long, once
_GRACE: Final = 0.1
_LONGEST_ARGUMENT: Final = 100 * 1024
_LINUX_MAX_ARGUMENT: Final = 128 * 1024
_REAP_TIMEOUT: Final = 5.0  # seconds; a killed process can hang in the kernel
_POLL_INTERVAL: Final = 0.005
_ORPHAN_INTERVAL: Final = 0.001

log = lazy_logger("hookline")


class ProcessLimit:
    """Limits how many programs run at once on each event loop. Waiting counts toward a program's timeout."""

    def __init__(self, most: int | None = None) -> None:
        self.most = most if most is not None else 4 * (os.cpu_count() or 1)
        if self.most < 1:
            raise ValueError("the limit must be at least 1")
        self._lock = threading.Lock()
        self._by_loop: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = (
            weakref.WeakKeyDictionary()
        )

    def semaphore(self) -> asyncio.Semaphore:
        """The running loop's semaphore, for `async with`."""
        loop = asyncio.get_running_loop()
        with self._lock:
            semaphore = self._by_loop.get(loop)
            if semaphore is None:
                semaphore = self._by_loop[loop] = asyncio.Semaphore(self.most)
        return semaphore


async def run_program(
    command: Command, *, slots: ProcessLimit, warm: InterpreterPool | None = None, supervised: bool = False
) -> ProgramResult:
    """Raises ActionError if the program could not start, was killed by a signal, or did not end in time.

    With `warm`, a Python file may run in a fork of a running interpreter. `supervised` costs the
    start of an interpreter.
    """
    if sys.platform == "win32":
        raise ActionError(FailureKind.CANNOT_START, "could not be started: programs are not run on Windows")
    if command.cwd is not None and "\0" in command.cwd:
        command = replace(command, cwd=command.cwd.replace("\0", ""))
    program = _RunningProgram(command, warm, supervisor_argv() if supervised else ())
    seconds = command.timeout.total_seconds()
    try:
        async with asyncio.timeout_at(asyncio.get_running_loop().time() + seconds), slots.semaphore():
            await program.run()
    except TimeoutError:
        what = "end" if program.has_started else "get its turn among the other programs"
        raise ActionError(FailureKind.TIMEOUT, f"did not {what} within {format_duration(command.timeout)}") from None
    return program.get_result()


class _RunningProgram:
    has_started = False

    def __init__(self, command: Command, warm: InterpreterPool | None, under: tuple[str, ...]) -> None:
        self._command = command
        self._warm = warm
        self._under = under
        self._loop = asyncio.get_running_loop()
        self._exited = asyncio.Event()
        self._environment = build_environment(command)
        self._pipes = Pipes(self._loop, command.stdin)
        self._child: _SpawnedProcess | ForkedProcess | None = None
        self._killed = False
        self._descendants: Descendants | None = None
        self._orphans_until = 0.0

    async def run(self) -> None:
        try:
            await self._start()
            await self._wait_for_end()
        except GeneratorExit:  # the coroutine was discarded: there is no loop to wait on
            self._kill()
            self._reap(waiting=True)
            self._block_until_orphans_end()
            raise
        finally:
            self._kill()
            self._pipes.close()
            try:
                await self._wait_until_reaped()
            finally:  # a second cancellation ends the wait, not the orphans
                await self._end_orphans()

    def get_result(self) -> ProgramResult:
        status = self._child.status if self._child is not None else None
        if status is None:
            raise ActionError(FailureKind.SIGNAL, "ended, but its exit code was lost")
        if status < 0:
            raise ActionError(FailureKind.SIGNAL, f"was killed by {_signal_name(-status)}")
        out, err = self._pipes.out, self._pipes.err
        seconds = self._loop.time() - self._began
        finished = ProgramResult(status, out.text(), err.text(), out.dropped + err.dropped, seconds, bool(out.dropped))
        if log.isEnabledFor(logging.DEBUG):
            _log_end(self._command, finished)
        return finished

    async def _start(self) -> None:
        if log.isEnabledFor(logging.DEBUG):
            _log_start(self._command)
        self._began = self._loop.time()
        try:
            self._pipes.open()
            self._child = await self._try_fork() or self._spawn()
        except (OSError, ValueError) as error:
            raise ActionError(FailureKind.CANNOT_START, mask(_describe_start_error(error, self._command))) from None
        self.has_started = True
        self._pipes.begin()
        self._child.watch(self._on_exit)

    def _spawn(self) -> _SpawnedProcess:
        start = functools.partial(_spawn, self._command, self._environment, self._pipes, self._under)
        if self._under:
            return _SpawnedProcess(start())
        self._descendants = Descendants.of_started(start)
        return _SpawnedProcess(self._descendants.pid)

    def _watch_descendants(self, pid: int) -> None:
        self._descendants = Descendants.of_waiting(pid)

    async def _try_fork(self) -> ForkedProcess | None:
        call = parse_python_command(self._command, self._environment) if self._warm is not None else None
        if self._warm is None or call is None or (call.shell and not _find_shell().endswith("/bash")):
            return None
        streams = (self._pipes.stdin, self._pipes.stdout, self._pipes.stderr)
        seconds = self._command.timeout.total_seconds()
        child = await self._warm.fork(call, _find_shell(), streams, seconds, self._watch_descendants)
        if child is None and self._descendants is not None:  # it broke before it started
            self._descendants.release()
            self._descendants = None
        return child

    def _on_exit(self) -> None:
        self._exited.set()
        if self._killed:
            self._reap()

    async def _wait_for_end(self) -> None:
        await self._exited.wait()
        self._pipes.drain()
        if not self._pipes.quiet.is_set():
            self._pipes.watch()
            try:
                async with asyncio.timeout(_GRACE):
                    await self._pipes.quiet.wait()
            except TimeoutError:
                self._pipes.drain()

    def _kill(self) -> None:
        """Kills the whole group before its main process is reaped: until then its id cannot be reused."""
        if self._child is None or self._killed:
            return
        self._killed = True
        with suppress(ProcessLookupError, PermissionError):  # macOS reports EPERM if only dead processes are left
            if self._under:  # the supervisor kills the others before it ends
                os.kill(self._child.pid, signal.SIGTERM)
                os.kill(self._child.pid, signal.SIGCONT)
            else:
                os.killpg(self._child.pid, signal.SIGKILL)

    async def _wait_until_reaped(self) -> None:
        """Waits for the killed process even if cancelled meanwhile, then re-raises the cancellation."""
        cancelled: asyncio.CancelledError | None = None
        until = self._loop.time() + _REAP_TIMEOUT
        while not self._reap() and self._loop.time() < until:
            try:
                async with asyncio.timeout_at(until):
                    await self._exited.wait()
            except TimeoutError:
                log.warning("a killed program has not exited")
            except asyncio.CancelledError as raised:
                cancelled = raised
        if cancelled is not None:
            raise cancelled

    def _reap(self, *, waiting: bool = False) -> bool:
        return self._child is None or self._child.reap(waiting=waiting)

    async def _end_orphans(self) -> None:
        """Ends what the program has left behind, even if cancelled meanwhile, then re-raises the cancellation."""
        cancelled: asyncio.CancelledError | None = None
        while self._kill_orphans():
            try:
                await asyncio.sleep(_ORPHAN_INTERVAL)
            except asyncio.CancelledError as raised:
                cancelled = raised
        if cancelled is not None:
            raise cancelled

    def _block_until_orphans_end(self) -> None:
        while self._kill_orphans():
            time.sleep(_ORPHAN_INTERVAL)

    def _kill_orphans(self) -> bool:
        """True if there may be more: what a killed process had started becomes an orphan, too."""
        if self._descendants is None:
            return False
        orphans = self._descendants.orphans()
        for pid in orphans:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        now = time.monotonic()
        self._orphans_until = self._orphans_until or now + _REAP_TIMEOUT
        if (orphans or self._descendants.may_become_orphan()) and now < self._orphans_until:
            return True
        if orphans:
            log.warning("processes that a program left behind have not exited")
        self._descendants.release()
        self._descendants = None
        return False


class _SpawnedProcess:
    """A child process."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.status: int | None = None
        self._loop = asyncio.get_running_loop()
        self._pidfd = -1
        self._reaped = False

    def watch(self, exited: Callable[[], None]) -> None:
        try:
            self._pidfd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):
            self._poll(exited)
        else:
            self._loop.add_reader(self._pidfd, self._on_exit, exited)

    def reap(self, *, waiting: bool = False) -> bool:
        """True once the main process has been reaped."""
        if self._reaped:
            return True
        try:
            pid, status = os.waitpid(self.pid, 0 if waiting else os.WNOHANG)
        except ChildProcessError:  # other code in this process reaped it, or SIGCHLD is ignored
            self.status = None
        else:
            if pid == 0:
                return False
            self.status = os.waitstatus_to_exitcode(status)
        self._reaped = True
        self._close_pidfd()
        return True

    def _on_exit(self, exited: Callable[[], None]) -> None:
        self._close_pidfd()
        exited()

    def _poll(self, exited: Callable[[], None]) -> None:
        if self.reap():
            exited()
        else:
            self._loop.call_later(_POLL_INTERVAL, self._poll, exited)

    def _close_pidfd(self) -> None:
        if self._pidfd >= 0:
            if not self._loop.is_closed():
                self._loop.remove_reader(self._pidfd)
            os.close(self._pidfd)
            self._pidfd = -1


def _spawn(command: Command, environment: dict[bytes, bytes], pipes: Pipes, under: tuple[str, ...]) -> int:
    streams = (pipes.stdin, pipes.stdout, pipes.stderr)
    before = [os.fsencode(word) for word in under]
    if command.argv:
        argv = [_encode_argument(each) for each in command.argv]
        return spawn(ProgramStart([*before, *argv], environment, streams, command.cwd))
    text, shell = _encode_argument(command.text), os.fsencode(_find_shell())
    if len(text) <= _LONGEST_ARGUMENT:
        return spawn(ProgramStart([*before, shell, b"-c", text], environment, streams, command.cwd))
    with _anonymous_file() as file:
        file.write(text)
        file.flush()
        file.seek(0)  # where /dev/fd/N is a copy of the descriptor, reading begins where writing ended
        argv = [shell, b"/dev/fd/%d" % file.fileno()]
        return spawn(ProgramStart([*before, *argv], environment, streams, command.cwd, (file.fileno(),)))


def _anonymous_file() -> IO[bytes]:
    if hasattr(os, "memfd_create"):
        return os.fdopen(os.memfd_create("hook"), "w+b")
    return tempfile.TemporaryFile()


@functools.cache
def _find_shell() -> str:
    """Looked for in fixed places first: what PATH says is the agent's affair."""
    for path in ("/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/opt/homebrew/bin/bash"):
        if os.access(path, os.X_OK):
            return path
    return shutil.which("bash") or "/bin/sh"


def _encode_argument(text: str) -> bytes:
    if "\0" in text:
        raise ValueError("a NUL byte in the command")
    return encode_for_process(text)


def _describe_start_error(error: OSError | ValueError, command: Command) -> str:
    what = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    if isinstance(error, OSError) and command.cwd is not None and error.filename == command.cwd:
        return f"could not be started in {command.cwd}: {what}"
    if isinstance(error, OSError) and error.errno == errno.E2BIG:
        return f"could not be started: {_describe_too_long(command)}"
    return f"could not be started: {command.argv[0]}: {what}" if command.argv else f"could not be started: {what}"


def _describe_too_long(command: Command) -> str:
    if not any(len(encode_for_process(argument)) >= _LINUX_MAX_ARGUMENT for argument in command.argv):
        return "its arguments and environment are too long"
    return "an argument is longer than the 128 KiB that a program can be handed that way; give it on stdin instead"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _log_start(command: Command) -> None:
    text, secrets = command.text or " ".join(command.argv), _command_secrets(command)
    log.debug("[%s] runs %s", _caller_name(), mask(text, secrets))
    if command.stdin:
        log.debug("[%s] stdin %s", _caller_name(), mask(command.stdin[:65_536].decode("utf-8", "replace"), secrets))


def _command_secrets(command: Command) -> tuple[str, ...]:
    """Secret values in the program's own environment."""
    given = build_environment(command).items()
    return secret_values({name.decode("utf-8", "replace"): value.decode("utf-8", "replace") for name, value in given})


def _log_end(command: Command, finished: ProgramResult) -> None:
    secrets = _command_secrets(command)
    log.debug("[%s] exit code %d after %.0f ms", _caller_name(), finished.exit_code, finished.seconds * 1000)
    for name, text in (("stdout", finished.stdout), ("stderr", finished.stderr)):
        if text and current_hook.get() is not None:  # hooks may still redact what a tool of the agent prints
            log.debug("[%s] %s %s", _caller_name(), name, mask(text, secrets))


def _caller_name() -> str:
    who = current_hook.get()
    return who.hook if who is not None else "a tool"
