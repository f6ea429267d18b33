"""A long-lived child process and the line-based pipes to talk to it.

On Linux it runs under a supervisor: everything that it started ends with it, and with this process, however it ends.
Elsewhere that holds for its process group. A peer that does not read makes the writer wait instead of growing a buffer.
"""

from __future__ import annotations

import errno
import os
import signal
import stat
import sys
import threading
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import IO, Final, cast

from hookline.errors import HooklineError
from hookline.formatting import printable
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import asyncio, lazy_logger, shutil, subprocess
from hookline.runners.line_dispatcher import MAX_LINE_BYTES, LineDispatcher, LineHandler, LineSplitter
from hookline.runners.pipe_loop import PipeLoop
from hookline.runners.supervisor import supervisor_argv

_CHUNK: Final = 64 * 1024  # what a pipe keeps; a larger buffer would be mapped into memory anew for each read
_STREAM_LIMIT: Final = 1024 * 1024


class PipeClosedError(Exception):
    """The other end of the pipe is closed."""


async def read_lines(reader: asyncio.StreamReader, longest: int = MAX_LINE_BYTES) -> AsyncIterator[bytes]:
    """Yields each line that is not blank, without its end. Text after the last newline is dropped."""
    splitter = LineSplitter(longest)
    while chunk := await reader.read(_STREAM_LIMIT):
        for line in splitter.split(chunk):
            yield line


class Stdio:
    """The client at our own stdin and stdout, which from then on carry only the protocol."""

    def __init__(self, inlet: PipeReader, outlet: PipeWriter) -> None:
        self._inlet = inlet
        self._outlet = outlet

    @classmethod
    async def claim(cls) -> Stdio:
        """Redirects everything else that this process prints to stderr, and hides its stdin."""
        if None in (sys.stdin, sys.stdout, sys.stderr):  # closed at start-up; the numbers now belong to other files
            raise HooklineError("stdin, stdout and stderr must be open")
        into, out = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return cls(PipeReader(into), await PipeWriter.open(out))

    def __aiter__(self) -> AsyncIterator[bytes]:
        return read_lines(self._inlet.reader)

    async def dispatch(self, handle: LineHandler) -> None:
        """See PipeReader."""
        await self._inlet.dispatch(handle)

    async def send(self, line: bytes) -> None:
        await self._outlet.write(line + b"\n")

    async def close(self) -> None:
        await self._outlet.close()


def _is_pollable(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and os.isatty(descriptor))


class PipeReader:
    """The reading end of a pipe. It is read from when somebody asks for its data: as a stream, or line by line."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._is_pollable = _is_pollable(descriptor)
        self._receive: Callable[[bytes], None] | None = None
        self._is_closed = False

    @cached_property
    def reader(self) -> asyncio.StreamReader:
        reader = asyncio.StreamReader(limit=_STREAM_LIMIT)
        reader.set_transport(cast("asyncio.ReadTransport", self))  # it pauses and resumes the reading
        self._begin(lambda data: reader.feed_data(data) if data else reader.feed_eof())
        return reader

    async def dispatch(self, handle: LineHandler) -> None:
        """Has each line handled as soon as it was read. Raises LineTooLongError, and what the handler raises."""
        dispatcher = LineDispatcher(self, handle)
        self._begin(dispatcher.receive)
        await dispatcher.run()

    def pause_reading(self) -> None:
        if not self._is_pollable or self._is_closed:
            return
        if isinstance(self._loop, PipeLoop):
            self._loop.remove_pipe_reader(self._descriptor)
        else:
            self._loop.remove_reader(self._descriptor)

    def resume_reading(self) -> None:
        if not self._is_pollable or self._is_closed:
            return
        if isinstance(self._loop, PipeLoop):
            self._loop.add_pipe_reader(self._descriptor, self._on_readable)
        else:
            self._loop.add_reader(self._descriptor, self._on_readable)

    def close(self) -> None:
        """Ends the stream."""
        if self._is_closed:
            return
        self.pause_reading()
        self._is_closed = True
        os.close(self._descriptor)
        if self._receive is not None:
            self._receive(b"")

    def _begin(self, receive: Callable[[bytes], None]) -> None:
        self._receive = receive
        if self._is_closed:
            receive(b"")
        elif self._is_pollable:
            os.set_blocking(self._descriptor, False)
            self.resume_reading()
        else:
            threading.Thread(target=self._feed_file, args=(receive, os.dup(self._descriptor)), daemon=True).start()

    def _on_readable(self) -> None:
        try:
            data = os.read(self._descriptor, _CHUNK)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:  # such as that of a terminal that is gone
            data = b""
        if data and self._receive is not None:
            self._receive(data)
        else:
            self.close()

    def _feed_file(self, receive: Callable[[bytes], None], descriptor: int) -> None:
        """Reads a plain file to its end at once."""
        with os.fdopen(descriptor, "rb") as file:
            text = file.read(MAX_LINE_BYTES)
        with suppress(RuntimeError):  # the loop is closed: nobody is waiting
            if text:
                self._loop.call_soon_threadsafe(receive, text)
            self._loop.call_soon_threadsafe(receive, b"")


class PipeWriter(asyncio.BaseProtocol):
    """The writing end of a pipe."""

    def __init__(self) -> None:
        self._is_full = self._is_lost = False  # each as its event says, which takes a call
        self._free = asyncio.Event()
        self._free.set()
        self._lost = asyncio.Event()
        self._transport: asyncio.WriteTransport | None = None
        self._file: IO[bytes] | None = None

    @classmethod
    async def open(cls, descriptor: int) -> PipeWriter:
        outlet = cls()
        if _is_pollable(descriptor):
            pipe = os.fdopen(descriptor, "wb", 0)
            outlet._transport, _ = await asyncio.get_running_loop().connect_write_pipe(lambda: outlet, pipe)
        else:
            outlet._file = os.fdopen(descriptor, "wb")
        return outlet

    def pause_writing(self) -> None:
        self._is_full = True
        self._free.clear()

    def resume_writing(self) -> None:
        self._is_full = False
        self._free.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._is_lost = True
        self._lost.set()
        self.resume_writing()

    async def write(self, data: bytes) -> None:
        if self._is_lost:
            raise PipeClosedError
        if self._transport is not None:
            self._transport.write(data)
            if self._is_full:
                await self._free.wait()
        elif self._file is not None:
            self._file.write(data)
            self._file.flush()

    async def close(self) -> None:
        """Returns once everything is written, or the reader is gone."""
        if self._transport is not None:
            self._transport.close()
            await self._lost.wait()
        elif self._file is not None:
            self._file.close()

    def drop(self) -> None:
        """Discards what has not been written."""
        if self._transport is not None:
            if not self._transport.is_closing() or self._transport.get_write_buffer_size():
                self._transport.abort()  # not one that is closing: asyncio's transport cannot be aborted twice
        elif self._file is not None:
            self._file.close()


_log = lazy_logger("hookline")

_MAX_LOGGED_BYTES: Final = 64 * 1024  # bytes of stderr
_END_TIMEOUT: Final = 1.5  # seconds after its input was closed
_KILL_TIMEOUT: Final = 1.0  # seconds after SIGTERM
_OUTPUT_TIMEOUT: Final = 1.0  # seconds to read the output of an ended program: others may hold the pipe open
_GUARD_SCRIPT: Final = 'read -r _; kill -KILL "-$1"'  # its input ends when we do, even by SIGKILL


class ServerProcess:
    def __init__(self, what: str, started: _StartedProcess, outlet: PipeWriter, *inlets: PipeReader) -> None:
        self._what = what
        self._started = started
        self._process = process = started.process
        self._outlet = outlet
        self._inlets = inlets
        self._exited = asyncio.Event()
        self._exit_code: int | None = None
        self._is_reaped = False
        self._guard = None if started.is_supervised else _start_guard(process.pid)
        self._watch = asyncio.ensure_future(self._abandon_pipes_after_exit())
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._wait_in_thread, name=f"hookline-{process.pid}", daemon=True).start()

    @classmethod
    async def start(
        cls,
        what: str,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stderr: int | None = None,
    ) -> ServerProcess:
        """`what` names the program in messages. Environment, directory and stderr default to ours.

        With `subprocess.PIPE` as stderr, call `log_errors`. Raises HooklineError if the program cannot be started.
        """
        started = _start_process(what, argv, env, cwd, stderr)
        process = started.process
        try:
            out, err = _open_reader(process.stdout), _open_reader(process.stderr)
            outlet = await _open_writer(process.stdin)
        except BaseException:
            started.kill()
            process.wait()
            raise
        return cls(what, started, outlet, *(each for each in (out, err) if each is not None))

    @property
    def argv(self) -> Sequence[str]:
        return self._started.argv

    @property
    def output(self) -> asyncio.StreamReader:
        return self._inlets[0].reader

    async def dispatch_output(self, handle: LineHandler) -> None:
        """Has each line of its output handled as soon as it was read, until the output ends."""
        await self._inlets[0].dispatch(handle)

    async def write(self, data: bytes) -> None:
        """Raises PipeClosedError."""
        await self._outlet.write(data)

    async def log_errors(self, name: str) -> None:
        """Logs the beginning of its piped stderr and discards the rest, so that the program never blocks."""
        room = _MAX_LOGGED_BYTES
        while chunk := await self._inlets[1].reader.read(8192):
            if room > 0:
                for line in chunk[:room].decode("utf-8", "replace").splitlines():
                    _log.debug("[%s] %s", name, printable(line))
                room -= len(chunk)
                if room <= 0:
                    _log.debug("[%s] wrote more than is shown here", name)

    async def finish(self) -> None:
        """Closes its input and gives it time to exit."""
        await self._outlet.close()
        if not await self.wait_for_exit(_END_TIMEOUT):
            await self.close()

    async def close(self) -> None:
        """Ends the program and everything that it started."""
        try:
            if not self._exited.is_set():
                self._started.terminate()
                await self.wait_for_exit(_KILL_TIMEOUT)
        finally:
            if not self._is_reaped:
                self._started.kill()
            self._stop_guard()
            self._watch.cancel()
            self._abandon_pipes()
            self._is_reaped = True
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_KILL_TIMEOUT)

    async def wait_for_exit(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._exited.wait()
        return self._exited.is_set()

    async def describe_exit(self) -> str:
        """How the program ended, starting with its name. Call it once its output has ended."""
        if not await self.wait_for_exit(_OUTPUT_TIMEOUT):
            return f"{self._what} closed its output"
        code = self._exit_code
        if code is None:
            return f"{self._what} ended"
        return f"{self._what} {f'ended with exit code {code}' if code >= 0 else f'was killed by {_signal_name(-code)}'}"

    async def _abandon_pipes_after_exit(self) -> None:
        await self._exited.wait()
        await asyncio.sleep(_OUTPUT_TIMEOUT)
        self._abandon_pipes()

    def _abandon_pipes(self) -> None:
        for inlet in self._inlets:
            inlet.close()
        self._outlet.drop()

    def _stop_guard(self) -> None:
        if self._guard is not None:
            self._guard.kill()
            self._guard.wait()
            if self._guard.stdin is not None:
                self._guard.stdin.close()
            self._guard = None

    def _wait_in_thread(self) -> None:
        """Waits in a thread until the process has exited, without reaping it if the system allows that."""
        if hasattr(os, "waitid"):
            with suppress(ChildProcessError):
                ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
                if ended is not None:
                    self._exit_code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
        else:
            self._exit_code = self._process.wait()
        with suppress(RuntimeError):  # the loop is closed: nobody is waiting
            self._loop.call_soon_threadsafe(self._exited.set)


@dataclass(frozen=True, slots=True)
class _StartedProcess:
    """Call its methods only until its process is reaped: then its id may belong to another."""

    argv: list[str]
    process: subprocess.Popen[bytes]  # its supervisor, if it has one
    is_supervised: bool

    def terminate(self) -> None:
        """Asks its group to end."""
        group = _first_child(self.process.pid) if self.is_supervised else self.process.pid
        if group is not None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(group, signal.SIGTERM)

    def kill(self) -> None:
        """Kills everything that it started."""
        with suppress(ProcessLookupError, PermissionError):
            if self.is_supervised:
                os.kill(self.process.pid, signal.SIGTERM)
                os.kill(self.process.pid, signal.SIGCONT)
            else:
                os.killpg(self.process.pid, signal.SIGKILL)


def _first_child(pid: int) -> int | None:
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return None
    return int(children[0]) if children else None


def _start_process(
    what: str, argv: Sequence[str], env: Mapping[str, str] | None, cwd: Path | None, stderr: int | None
) -> _StartedProcess:
    if not argv:
        raise HooklineError(f"{what} has no command")
    command, under = [str(each) for each in argv], supervisor_argv()
    try:
        started = [*under, _find_program(command[0], env, cwd), *command[1:]] if under else command
        process = subprocess.Popen(
            started,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            bufsize=0,
            env=env,
            cwd=cwd,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        raise HooklineError(f"{what} {printable(command[0])!r} cannot be started: {why}") from None
    return _StartedProcess(command, process, bool(under))


def _find_program(name: str, env: Mapping[str, str] | None, cwd: Path | None) -> str:
    """The file of a program as the system would find it. Raises OSError if it cannot be run."""
    if "/" in name:
        path = os.path.join(cwd or os.curdir, name)
        os.stat(path)
        if os.path.isdir(path) or not os.access(path, os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
        return name
    found = shutil.which(name, path=(os.environ if env is None else env).get("PATH", os.defpath))
    if found is None:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    return os.path.abspath(found)


def _open_reader(pipe: IO[bytes] | None) -> PipeReader | None:
    if pipe is None:
        return None
    with pipe:
        return PipeReader(os.dup(pipe.fileno()))


async def _open_writer(pipe: IO[bytes] | None) -> PipeWriter:
    assert pipe is not None
    with pipe:
        return await PipeWriter.open(os.dup(pipe.fileno()))


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _start_guard(group: int) -> subprocess.Popen[bytes] | None:
    try:
        return subprocess.Popen(
            ("/bin/sh", "-c", _GUARD_SCRIPT, "sh", str(group)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None
