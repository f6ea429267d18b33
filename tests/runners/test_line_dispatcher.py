"""Lines are handled where they are read: in order, one at a time, also if a handler waits."""

from __future__ import annotations

import asyncio
import os

import pytest

from hookline.runners.line_dispatcher import LineSplitter, LineTooLongError
from hookline.runners.server_process import PipeReader


class Pipe:
    """A pipe with a handler that notes each line, and waits at one that says so until it is let go."""

    def __init__(self) -> None:
        reading, self.writing = os.pipe()
        self.inlet = PipeReader(reading)
        self.handled: list[bytes] = []
        self.go_on = asyncio.Event()
        self.tasks: list[bool] = []
        self.begun: asyncio.Queue[bytes] = asyncio.Queue()

    async def handle(self, line: bytes) -> None:
        self.tasks.append(asyncio.current_task() is not None)
        self.begun.put_nowait(line)
        if line == b"wait":
            await self.go_on.wait()
        if line == b"fail":
            raise ZeroDivisionError
        self.handled.append(line)

    async def until(self, count: int) -> None:
        async with asyncio.timeout(30):
            for _ in range(count):
                await self.begun.get()


def test_a_line_is_handled_without_a_task_of_its_own() -> None:
    async def run() -> Pipe:
        pipe = Pipe()
        os.write(pipe.writing, b"one\ntw")
        reading = asyncio.ensure_future(pipe.inlet.dispatch(pipe.handle))
        await pipe.until(1)
        os.write(pipe.writing, b"o\nrest")
        os.close(pipe.writing)
        await reading
        return pipe

    pipe = asyncio.run(run())
    assert pipe.handled == [b"one", b"two"]
    assert pipe.tasks == [False, False]


def test_no_line_overtakes_one_that_waits() -> None:
    async def run() -> Pipe:
        pipe = Pipe()
        os.write(pipe.writing, b"one\nwait\nthree\n")
        reading = asyncio.ensure_future(pipe.inlet.dispatch(pipe.handle))
        await pipe.until(2)
        os.write(pipe.writing, b"four\n")
        os.close(pipe.writing)
        for _ in range(20):
            await asyncio.sleep(0)
        assert pipe.handled == [b"one"]
        pipe.go_on.set()
        await reading
        return pipe

    assert asyncio.run(run()).handled == [b"one", b"wait", b"three", b"four"]


@pytest.mark.parametrize("before", [b"", b"wait\n"])
def test_what_a_handler_raises_ends_the_reading(before: bytes) -> None:
    async def run() -> Pipe:
        pipe = Pipe()
        pipe.go_on.set()
        os.write(pipe.writing, before + b"fail\nlate\n")
        with pytest.raises(ZeroDivisionError):
            await pipe.inlet.dispatch(pipe.handle)
        os.write(pipe.writing, b"later\n")
        for _ in range(20):
            await asyncio.sleep(0)
        return pipe

    assert asyncio.run(run()).handled == ([b"wait"] if before else [])


def test_a_failure_after_waiting_ends_the_reading() -> None:
    async def run() -> None:
        pipe = Pipe()

        async def handle(line: bytes) -> None:
            await asyncio.sleep(0)
            raise ZeroDivisionError

        os.write(pipe.writing, b"one\n")
        with pytest.raises(ZeroDivisionError):
            await pipe.inlet.dispatch(handle)

    asyncio.run(run())


def test_cancelling_ends_a_handler_that_waits() -> None:
    async def run() -> Pipe:
        pipe = Pipe()
        os.write(pipe.writing, b"wait\nlate\n")
        reading = asyncio.ensure_future(pipe.inlet.dispatch(pipe.handle))
        await pipe.until(1)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        pipe.go_on.set()
        for _ in range(20):
            await asyncio.sleep(0)
        return pipe

    assert asyncio.run(run()).handled == []


def test_a_plain_file_is_read_to_its_end(tmp_path: os.PathLike[str]) -> None:
    path = os.path.join(tmp_path, "lines")
    with open(path, "wb") as file:
        file.write(b"one\nwait\ntwo\n")

    async def run() -> Pipe:
        pipe = Pipe()
        pipe.go_on.set()
        await PipeReader(os.open(path, os.O_RDONLY)).dispatch(pipe.handle)
        return pipe

    assert asyncio.run(run()).handled == [b"one", b"wait", b"two"]


@pytest.mark.parametrize(
    ("chunk", "is_one"),
    [
        (b"a\n", True),
        (b"a", False),
        (b"a\nb\n", False),
        (b"\n", False),
        (b" a\n", False),
        (b"abcd\n", False),
        (b"", False),
    ],
)
def test_one_line_is_recognised(chunk: bytes, is_one: bool) -> None:
    assert LineSplitter(longest=3).is_one_line(chunk) is is_one


def test_the_rest_of_a_line_is_not_taken_for_one() -> None:
    splitter = LineSplitter()
    assert list(splitter.split(b"a")) == []
    assert not splitter.is_one_line(b"b\n")


def test_lines_before_one_that_is_too_long_count() -> None:
    lines = LineSplitter(longest=3).split(b"a\n\nb\nlong")
    assert [next(lines), next(lines)] == [b"a", b"b"]
    with pytest.raises(LineTooLongError):
        next(lines)
