"""The loop that reads pipes at once does everything else as asyncio's does."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from typing import Any

import pytest

from hookline.runners.pipe_loop import PipeLoop, new_pipe_loop

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs epoll")


def run(work: Callable[[PipeLoop], Any]) -> Any:
    async def main() -> Any:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, PipeLoop)
        async with asyncio.timeout(30):
            return await work(loop)

    with asyncio.Runner(loop_factory=new_pipe_loop) as runner:
        return runner.run(main())


async def next_read(loop: PipeLoop) -> None:
    """Until the loop has called every reader whose pipe is ready now."""
    reading, writing = os.pipe()
    done = asyncio.Event()
    loop.add_pipe_reader(reading, done.set)
    os.write(writing, b"x")
    await done.wait()
    loop.remove_pipe_reader(reading)
    os.close(writing)
    os.close(reading)


def test_a_reader_is_called_until_it_is_removed() -> None:
    async def work(loop: PipeLoop) -> list[bytes]:
        reading, writing = os.pipe()
        read: list[bytes] = []
        came = asyncio.Event()

        def on_readable() -> None:
            read.append(os.read(reading, 100))
            came.set()

        loop.add_pipe_reader(reading, on_readable)
        loop.add_pipe_reader(reading, on_readable)
        for data in (b"one", b"two"):
            came.clear()
            os.write(writing, data)
            await came.wait()
        loop.remove_pipe_reader(reading)
        loop.remove_pipe_reader(reading)
        os.write(writing, b"three")
        await next_read(loop)
        os.close(writing)
        os.close(reading)
        return read

    assert run(work) == [b"one", b"two"]


def test_what_a_reader_starts_goes_on_at_once() -> None:
    async def work(loop: PipeLoop) -> str:
        reading, writing = os.pipe()
        done: asyncio.Future[str] = loop.create_future()
        loop.add_pipe_reader(reading, lambda: done.set_result("done"))
        loop.call_later(0, os.write, writing, b"x")
        done.add_done_callback(lambda _: loop.remove_pipe_reader(reading))
        return await done

    assert run(work) == "done"


def test_one_reader_may_remove_another_that_is_ready() -> None:
    async def work(loop: PipeLoop) -> int:
        pipes = [os.pipe() for _ in range(2)]
        called: list[int] = []

        def on_readable(number: int) -> None:
            called.append(number)
            for reading, _ in pipes:
                loop.remove_pipe_reader(reading)

        for number, (reading, writing) in enumerate(pipes):
            os.write(writing, b"x")
            loop.add_pipe_reader(reading, lambda number=number: on_readable(number))  # type: ignore[misc]
        await next_read(loop)
        return len(called)

    assert run(work) == 1


def test_a_reader_that_fails_is_reported_and_the_loop_goes_on() -> None:
    async def work(loop: PipeLoop) -> list[str]:
        reading, writing = os.pipe()
        reported: list[str] = []
        loop.set_exception_handler(lambda _, context: reported.append(repr(context["exception"])))

        def fail() -> None:
            loop.remove_pipe_reader(reading)
            raise ZeroDivisionError

        loop.add_pipe_reader(reading, fail)
        os.write(writing, b"x")
        await next_read(loop)
        return reported

    assert run(work) == ["ZeroDivisionError()"]


def test_a_writer_that_is_gone_calls_the_reader() -> None:
    async def work(loop: PipeLoop) -> bytes:
        reading, writing = os.pipe()
        ended: asyncio.Future[bytes] = loop.create_future()

        def on_readable() -> None:
            loop.remove_pipe_reader(reading)
            ended.set_result(os.read(reading, 10))

        loop.add_pipe_reader(reading, on_readable)
        os.close(writing)
        return await ended

    assert run(work) == b""


def test_sockets_programs_and_threads_work() -> None:
    sent = b"x" * 3_000_000  # more than a socket takes at once: it waits until it can write

    async def work(loop: PipeLoop) -> tuple[bytes, bytes, int]:
        async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(await reader.readexactly(len(sent)))
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(echo, "127.0.0.1")
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(sent)
        echoed = await reader.read(-1)
        writer.close()
        server.close()
        program = await asyncio.create_subprocess_exec(
            "cat", stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE
        )
        output, _ = await program.communicate(b"text")
        return echoed, output, await asyncio.to_thread(lambda: 5)

    assert run(work) == (sent, b"text", 5)


def test_timers_are_not_early_and_end() -> None:
    async def work(loop: PipeLoop) -> float:
        begun = loop.time()
        for _ in range(5):
            await asyncio.sleep(0.001)
        return loop.time() - begun

    assert run(work) >= 0.005
