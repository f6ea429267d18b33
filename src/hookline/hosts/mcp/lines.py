"""Lines over pipes, of any length up to a limit; whoever does not read makes us wait and not grow."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
import threading
from collections.abc import AsyncIterator
from typing import IO, Final

from hookline.errors import HooklineError

LONGEST: Final = 128 * 1024 * 1024  # bytes of one message
_CHUNK: Final = 256 * 1024


class TooLong(Exception):
    """A line that never ends."""


class Gone(Exception):
    """Nobody reads there any more."""


async def lines_of(reader: asyncio.StreamReader, longest: int = LONGEST) -> AsyncIterator[bytes]:
    """Each line that is not blank, without its end. What stands after the last newline is no message."""
    held: list[bytes] = []
    size = 0
    while chunk := await reader.read(_CHUNK):
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line = b"".join((*held, end))
            held, size = [], 0
            if line.strip():
                yield line
        held.append(rest)
        size += len(rest)
        if size > longest:
            raise TooLong(f"a message is longer than {longest // 1024 // 1024} MiB")


class Stdio:
    """The client at our own stdin and stdout, which belong to the protocol alone from then on."""

    def __init__(self, reader: asyncio.StreamReader, outlet: Outlet) -> None:
        self._reader = reader
        self._outlet = outlet

    @classmethod
    async def claimed(cls) -> Stdio:
        """Whatever else is printed in this process goes to stderr, and nothing else can read our input."""
        if None in (sys.stdin, sys.stdout, sys.stderr):  # closed when we started; the numbers are somebody else's now
            raise HooklineError("stdin, stdout and stderr must be open")
        into, out = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        return cls((await Inlet.opened(into)).reader, await Outlet.opened(out))

    def __aiter__(self) -> AsyncIterator[bytes]:
        return lines_of(self._reader)

    async def send(self, line: bytes) -> None:
        await self._outlet.write(line + b"\n")

    async def close(self) -> None:
        await self._outlet.close()


def _can_be_watched(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or (stat.S_ISCHR(mode) and os.isatty(descriptor))


class Inlet:
    """The end of a pipe that we read from."""

    def __init__(self) -> None:
        self.reader = asyncio.StreamReader(limit=_CHUNK * 4)
        self._transport: asyncio.ReadTransport | None = None

    @classmethod
    async def opened(cls, descriptor: int) -> Inlet:
        loop, inlet = asyncio.get_running_loop(), cls()
        if _can_be_watched(descriptor):
            protocol = asyncio.StreamReaderProtocol(inlet.reader)
            pipe = os.fdopen(descriptor, "rb", 0)
            inlet._transport, _ = await loop.connect_read_pipe(lambda: protocol, pipe)
        else:
            threading.Thread(target=_feed, args=(descriptor, inlet.reader, loop), daemon=True).start()
        return inlet

    def close(self) -> None:
        """From now on it is at its end."""
        if self._transport is not None:
            self._transport.close()


def _feed(descriptor: int, reader: asyncio.StreamReader, loop: asyncio.AbstractEventLoop) -> None:
    """A plain file is read to its end at once: its size is known."""
    with os.fdopen(descriptor, "rb") as file:
        text = file.read(LONGEST)
    loop.call_soon_threadsafe(reader.feed_data, text)
    loop.call_soon_threadsafe(reader.feed_eof)


class Outlet(asyncio.BaseProtocol):
    """The end of a pipe that we write to."""

    def __init__(self) -> None:
        self._free = asyncio.Event()
        self._free.set()
        self._lost = asyncio.Event()
        self._transport: asyncio.WriteTransport | None = None
        self._file: IO[bytes] | None = None

    @classmethod
    async def opened(cls, descriptor: int) -> Outlet:
        outlet = cls()
        if _can_be_watched(descriptor):
            pipe = os.fdopen(descriptor, "wb", 0)
            outlet._transport, _ = await asyncio.get_running_loop().connect_write_pipe(lambda: outlet, pipe)
        else:
            outlet._file = os.fdopen(descriptor, "wb")
        return outlet

    def pause_writing(self) -> None:
        self._free.clear()

    def resume_writing(self) -> None:
        self._free.set()

    def connection_lost(self, error: Exception | None) -> None:
        self._lost.set()
        self._free.set()

    async def write(self, data: bytes) -> None:
        if self._lost.is_set():
            raise Gone
        if self._transport is not None:
            self._transport.write(data)
            await self._free.wait()
        elif self._file is not None:
            self._file.write(data)
            self._file.flush()

    async def close(self) -> None:
        """Returns once everything is written, or nobody reads it."""
        if self._transport is not None:
            self._transport.close()
            await self._lost.wait()
        elif self._file is not None:
            self._file.close()

    def drop(self) -> None:
        """Whatever is not written yet never is."""
        if self._transport is not None:
            if not self._transport.is_closing() or self._transport.get_write_buffer_size():
                self._transport.abort()  # never one that is on its way out: asyncio's cannot be lost twice
        elif self._file is not None:
            self._file.close()
