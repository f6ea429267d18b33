"""A program that we start and talk to for long: in a group of its own, which ends when we do, however we end."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from hookline.config.problem import printable
from hookline.errors import HooklineError
from hookline.hosts.mcp.lines import Inlet, Outlet

_log = logging.getLogger("hookline")

_LOGGED: Final = 64 * 1024  # bytes of stderr
_TIME_TO_END: Final = 1.5  # seconds, once its input is closed
_TIME_TO_DIE: Final = 1.0  # seconds, once it was told to
_LAST_WORDS: Final = 1.0  # seconds in which an ended program's output is still read: others may hold the pipe open
_GUARD: Final = 'read -r _; kill -KILL "-$1"'  # its input ends when we do, even by SIGKILL


class Program:
    def __init__(self, what: str, process: subprocess.Popen[bytes], outlet: Outlet, *inlets: Inlet) -> None:
        self._what = what
        self._process = process
        self._outlet = outlet
        self._inlets = inlets
        self._exited = asyncio.Event()
        self._exit_code: int | None = None
        self._buried = False
        self._guard = _guard(process.pid)
        self._watch = asyncio.ensure_future(self._end_of_output())
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._wait, name=f"hookline-{process.pid}", daemon=True).start()

    @classmethod
    async def started(
        cls,
        what: str,
        argv: Sequence[str],
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        stderr: int | None = None,
    ) -> Program:
        """`what` is what messages call it. Its environment, directory and stderr are ours where none are given.

        With `subprocess.PIPE`, somebody must call `log_errors`. Raises HooklineError if it cannot be started.
        """
        process = _started(what, argv, env, cwd, stderr)
        try:
            out, err = await _inlet(process.stdout), await _inlet(process.stderr)
            outlet = await _outlet(process.stdin)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
        return cls(what, process, outlet, *(each for each in (out, err) if each is not None))

    @property
    def argv(self) -> Sequence[str]:
        argv = self._process.args
        return [str(each) for each in argv] if isinstance(argv, (list, tuple)) else [str(argv)]

    @property
    def output(self) -> asyncio.StreamReader:
        return self._inlets[0].reader

    async def write(self, data: bytes) -> None:
        """Raises Gone."""
        await self._outlet.write(data)

    async def log_errors(self, name: str) -> None:
        """The beginning of its piped stderr goes to the debug log; the rest is read, so that it never waits for us."""
        room = _LOGGED
        while chunk := await self._inlets[1].reader.read(8192):
            if room > 0:
                for line in chunk[:room].decode("utf-8", "replace").splitlines():
                    _log.debug("[%s] %s", name, printable(line))
                room -= len(chunk)
                if room <= 0:
                    _log.debug("[%s] says more than is shown here", name)

    async def finish(self) -> None:
        """Closes its input and gives it time to end by itself."""
        await self._outlet.close()
        if not await self.gone_within(_TIME_TO_END):
            await self.close()

    async def close(self) -> None:
        """Nothing that the program started is left."""
        try:
            if not self._exited.is_set():
                self._signal(signal.SIGTERM)
                await self.gone_within(_TIME_TO_DIE)
        finally:
            self._signal(signal.SIGKILL)
            self._dismiss_guard()
            self._watch.cancel()
            self._abandon_pipes()
            self._buried = True
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_TIME_TO_DIE)

    async def gone_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._exited.wait()
        return self._exited.is_set()

    async def how_it_ended(self) -> str:
        """Once its output has ended; what it is called stands first."""
        if not await self.gone_within(_LAST_WORDS):
            return f"{self._what} closed its output"
        code = self._exit_code
        if code is None:
            return f"{self._what} ended"
        return f"{self._what} {f'ended with exit code {code}' if code >= 0 else f'was killed by {_name(-code)}'}"

    async def _end_of_output(self) -> None:
        await self._exited.wait()
        await asyncio.sleep(_LAST_WORDS)
        self._abandon_pipes()

    def _abandon_pipes(self) -> None:
        for inlet in self._inlets:
            inlet.close()
        self._outlet.drop()

    def _signal(self, number: signal.Signals) -> None:
        """The whole group; its main process is not reaped yet, so nobody else has its number."""
        if not self._buried:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    def _dismiss_guard(self) -> None:
        if self._guard is not None:
            self._guard.kill()
            self._guard.wait()
            if self._guard.stdin is not None:
                self._guard.stdin.close()
            self._guard = None

    def _wait(self) -> None:
        """In a thread: until the process has ended. It is not reaped where the system can wait without."""
        if hasattr(os, "waitid"):
            with suppress(ChildProcessError):
                ended = os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOWAIT)
                if ended is not None:
                    self._exit_code = ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status
        else:
            self._exit_code = self._process.wait()
        with suppress(RuntimeError):  # the loop is closed: nobody waits any more
            self._loop.call_soon_threadsafe(self._exited.set)


def _started(
    what: str, argv: Sequence[str], env: Mapping[str, str] | None, cwd: Path | None, stderr: int | None
) -> subprocess.Popen[bytes]:
    if not argv:
        raise HooklineError(f"{what} has no command")
    try:
        return subprocess.Popen(
            argv,
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
        raise HooklineError(f"{what} {printable(argv[0])!r} cannot be started: {why}") from None


async def _inlet(pipe: IO[bytes] | None) -> Inlet | None:
    if pipe is None:
        return None
    with pipe:
        return await Inlet.opened(os.dup(pipe.fileno()))


async def _outlet(pipe: IO[bytes] | None) -> Outlet:
    assert pipe is not None
    with pipe:
        return await Outlet.opened(os.dup(pipe.fileno()))


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _guard(group: int) -> subprocess.Popen[bytes] | None:
    try:
        return subprocess.Popen(
            ("/bin/sh", "-c", _GUARD, "sh", str(group)),
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None
