"""Splits what comes through a pipe into lines, and handles each of them at once.

A task that waits for lines is woken one round of the event loop after the data came. Between two programs that wait for
each other that is a tenth of what a message costs. So a line is handled where its data is read, as far as that goes without
waiting; the rest of it runs as a task, and no more is read meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Final, Protocol

from hookline.hooks.started_coroutine import continue_coroutine
from hookline.lazy_imports import asyncio

_SPACE: Final = ord(" ")
MAX_LINE_BYTES: Final = 128 * 1024 * 1024  # bytes of one message

LineHandler = Callable[[bytes], Coroutine[Any, Any, None]]


class LineTooLongError(Exception):
    """The line exceeds the limit."""


class LineSplitter:
    """Blank lines are dropped, and so is text after the last newline."""

    def __init__(self, longest: int = MAX_LINE_BYTES) -> None:
        self._longest = longest
        self._parts: list[bytes] = []
        self._size = 0

    def is_one_line(self, chunk: bytes) -> bool:
        """Whether this is one line with its end, as a peer writes it that waits for an answer: splitting takes longer.

        False for a line that may be blank.
        """
        end = len(chunk) - 1
        return end > 0 and not self._parts and chunk.find(b"\n") == end <= self._longest and chunk[0] > _SPACE

    def split(self, chunk: bytes) -> Iterator[bytes]:
        """Yields the lines that end in this chunk, without their ends. Then raises LineTooLongError if the rest is too long."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            line = b"".join((*self._parts, end)) if self._parts else end
            self._parts, self._size = [], 0
            if line.strip():
                yield line
        if rest:
            self._parts.append(rest)
            self._size += len(rest)
        if self._size > self._longest:
            raise LineTooLongError(f"a message is longer than {self._longest // 1024 // 1024} MiB")


class PausableSource(Protocol):
    def pause_reading(self) -> None: ...
    def resume_reading(self) -> None: ...


class LineDispatcher:
    """Calls `handle` for one line after the other. What it raises ends the reading."""

    def __init__(self, source: PausableSource, handle: LineHandler) -> None:
        self._source = source
        self._handle = handle
        self._splitter = LineSplitter()
        self._lines: deque[bytes] = deque()
        self._waiting: asyncio.Task[None] | None = None  # for something else, on behalf of the line before
        self._has_ended = False
        self._error: LineTooLongError | None = None
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def receive(self, data: bytes) -> None:
        """Takes data as it comes, and b"" at its end."""
        is_idle = self._waiting is None and not self._lines and not self._done.done()
        if is_idle and self._splitter.is_one_line(data):
            self._start(self._handle(data[:-1]))
            return
        try:
            self._lines.extend(self._splitter.split(data))
        except LineTooLongError as error:
            self._error = error
        self._has_ended = self._has_ended or not data or self._error is not None
        self._handle_lines()

    async def run(self) -> None:
        """Returns at the end of the data. Raises LineTooLongError, and what the handler raises."""
        try:
            await self._done
        finally:
            self._source.pause_reading()
            self._lines.clear()
            if self._waiting is not None:
                self._waiting.cancel()
                await asyncio.wait({self._waiting})

    def _handle_lines(self) -> None:
        while self._lines and self._waiting is None and not self._done.done():
            self._start(self._handle(self._lines.popleft()))
        if self._has_ended and not self._lines and self._waiting is None:
            self._finish(self._error)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            awaited = work.send(None)
        except StopIteration:
            return
        except Exception as error:
            self._finish(error)
            return
        self._source.pause_reading()
        self._waiting = asyncio.ensure_future(continue_coroutine(work, awaited))
        self._waiting.add_done_callback(self._on_done)

    def _on_done(self, task: asyncio.Task[None]) -> None:
        self._waiting = None
        if task.cancelled():
            self._done.cancel()
        elif (error := task.exception()) is not None:
            self._finish(error)
        else:
            self._handle_lines()
            if self._waiting is None and not self._done.done():
                self._source.resume_reading()

    def _finish(self, error: BaseException | None) -> None:
        if self._done.done():
            return
        if error is None:
            self._done.set_result(None)
        else:
            self._done.set_exception(error)
