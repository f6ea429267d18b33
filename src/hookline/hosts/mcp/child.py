"""An MCP server that we start: a program in a group of its own, which ends when we do, however we end."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import subprocess
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from pathlib import PurePath
from typing import Final

from hookline.config.problem import printable, short
from hookline.errors import HooklineError
from hookline.hosts.mcp.lines import Gone, Inlet, Outlet, TooLong, lines_of
from hookline.hosts.mcp.message import Malformed, Message, messages_in
from hookline.hosts.mcp.server import Ended

_log = logging.getLogger("hookline")

_TIME_TO_END: Final = 1.5  # seconds, once its input is closed
_TIME_TO_DIE: Final = 1.0  # seconds, once it was told to
_LAST_WORDS: Final = 1.0  # seconds in which an ended server's output is still read: others may hold the pipe open
_GUARD: Final = 'read -r _; kill -KILL "-$1"'  # its input ends when we do, even by SIGKILL


class Child:
    def __init__(self, process: subprocess.Popen[bytes], inlet: Inlet, outlet: Outlet) -> None:
        self._process = process
        self._inlet = inlet
        self._outlet = outlet
        self._exited = asyncio.Event()
        self._exit_code: int | None = None
        self._buried = False
        self._guard = _guard(process.pid)
        self._watch = asyncio.ensure_future(self._end_of_output())
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._wait, name="hookline-mcp-server", daemon=True).start()

    @classmethod
    async def started(cls, argv: Sequence[str]) -> Child:
        """Its stderr is ours, and so is its environment."""
        process = _started(argv)
        assert process.stdin is not None
        assert process.stdout is not None
        inlet = await Inlet.opened(os.dup(process.stdout.fileno()))
        outlet = await Outlet.opened(os.dup(process.stdin.fileno()))
        process.stdout.close()
        process.stdin.close()
        return cls(process, inlet, outlet)

    @property
    def fallback_name(self) -> str:
        argv = self._process.args
        return PurePath(str(argv[0] if isinstance(argv, (list, tuple)) else argv)).stem

    async def messages(self) -> AsyncIterator[Message]:
        try:
            async for line in lines_of(self._inlet.reader):
                for message in _read(line):
                    yield message
        except TooLong as error:
            raise Ended(f"the MCP server was stopped: {error}") from None
        with suppress(TimeoutError):
            async with asyncio.timeout(_LAST_WORDS):
                await self._exited.wait()
        raise Ended(self._how())

    async def send(self, message: Message) -> None:
        try:
            await self._outlet.write(message.wire() + b"\n")
        except Gone:
            raise Ended("the MCP server reads no more") from None

    async def finish(self) -> None:
        await self._outlet.close()
        if not await self._gone_within(_TIME_TO_END):
            await self.close()

    async def close(self) -> None:
        """Nothing that the server started is left."""
        try:
            if not self._exited.is_set():
                self._signal(signal.SIGTERM)
                await self._gone_within(_TIME_TO_DIE)
        finally:
            self._signal(signal.SIGKILL)
            self._dismiss_guard()
            self._watch.cancel()
            self._buried = True
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_TIME_TO_DIE)

    async def _gone_within(self, seconds: float) -> bool:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._exited.wait()
        return self._exited.is_set()

    async def _end_of_output(self) -> None:
        await self._exited.wait()
        await asyncio.sleep(_LAST_WORDS)
        self._inlet.close()

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

    def _how(self) -> str:
        if not self._exited.is_set():
            return "the MCP server closed its output"
        code = self._exit_code
        if code is None:
            return "the MCP server ended"
        return f"the MCP server {f'ended with exit code {code}' if code >= 0 else f'was killed by {_name(-code)}'}"


def _started(argv: Sequence[str]) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0, start_new_session=True)
    except (OSError, ValueError) as error:
        why = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        raise HooklineError(f"the MCP server {printable(argv[0])!r} cannot be started: {why}") from None


def _name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _read(line: bytes) -> tuple[Message, ...]:
    try:
        return messages_in(line)
    except Malformed as error:
        said = short(printable(line[:200].decode("utf-8", "replace")))
        _log.warning("the MCP server said something that is no message (%s): %s", error, said)
        return ()


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
