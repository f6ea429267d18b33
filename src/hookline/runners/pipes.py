"""What goes into a program and what comes out of it, without a thread and without ever waiting for the program."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from typing import Final

KEPT: Final = 1 << 20  # bytes of each output stream
_CHUNK: Final = 1 << 16


class Output:
    """One stream of a program: the beginning is kept, the rest counted."""

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._size = 0
        self.dropped = 0

    def take(self, data: bytes) -> None:
        room = KEPT - self._size
        if room > 0:
            self._chunks.append(data[:room])
            self._size += min(room, len(data))
        self.dropped += max(0, len(data) - max(room, 0))

    def text(self) -> str:
        return b"".join(self._chunks).decode("utf-8", "replace")


class Pipes:
    """The program's ends are `stdin`, `stdout` and `stderr`, for the time of its start; ours are watched by the loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop, stdin: bytes) -> None:
        self.out = Output()
        self.err = Output()
        self.quiet = asyncio.Event()  # nobody can write to us any more
        self.stdin = self.stdout = self.stderr = -1
        self._loop = loop
        self._to_write = memoryview(stdin)
        self._ours: dict[int, Output | None] = {}
        self._into = -1

    def open(self) -> None:
        """May raise OSError, and then still has to be closed."""
        if self._to_write:
            self.stdin, self._into = os.pipe()
            self._ours[self._into] = None
        else:
            self.stdin = os.open(os.devnull, os.O_RDONLY)
        read, self.stdout = os.pipe()
        self._ours[read] = self.out
        read, self.stderr = os.pipe()
        self._ours[read] = self.err

    def begin(self) -> None:
        """The program has its ends now."""
        self._close_theirs()
        for end, output in self._ours.items():
            os.set_blocking(end, False)
            if output is not None:
                self._loop.add_reader(end, self._read, end, output)
        if self._into >= 0:
            self._write(first=True)

    def drain(self) -> None:
        """Takes what is there already."""
        for end, output in list(self._ours.items()):
            while output is not None and self._read(end, output):
                pass

    def close(self) -> None:
        self._close_theirs()
        for end in list(self._ours):
            self._close(end)

    def _close_theirs(self) -> None:
        for end in (self.stdin, self.stdout, self.stderr):
            if end >= 0:
                os.close(end)
        self.stdin = self.stdout = self.stderr = -1

    def _close(self, end: int) -> None:
        output = self._ours.pop(end)
        if not self._loop.is_closed():
            forget = self._loop.remove_writer if output is None else self._loop.remove_reader
            forget(end)
        os.close(end)
        if not any(self._ours.values()):
            self.quiet.set()

    def _read(self, end: int, output: Output) -> bool:
        """True if something came, and more may come."""
        try:
            data = os.read(end, _CHUNK)
        except (BlockingIOError, InterruptedError):
            return False
        if data:
            output.take(data)
        else:
            self._close(end)
        return bool(data)

    def _write(self, first: bool = False) -> None:
        """A program that does not read, or stops reading, has had its say: that is no error."""
        try:
            with suppress(BlockingIOError, InterruptedError):
                self._to_write = self._to_write[os.write(self._into, self._to_write[: 16 * _CHUNK]) :]
        except OSError:
            self._to_write = self._to_write[:0]
        if not self._to_write:
            self._close(self._into)
        elif first:
            self._loop.add_writer(self._into, self._write)
