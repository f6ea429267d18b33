"""A child process that talks in lines: limits, its end, what it started."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.runners.line_dispatcher import LineTooLongError
from hookline.runners.server_process import PipeClosedError, ServerProcess, read_lines

pytestmark = pytest.mark.slow


def lines_of(*chunks: bytes, longest: int = 100) -> list[bytes]:
    async def read() -> list[bytes]:
        reader = asyncio.StreamReader()
        for chunk in chunks:
            reader.feed_data(chunk)
        reader.feed_eof()
        return [line async for line in read_lines(reader, longest)]

    return asyncio.run(read())


def test_lines_are_joined_from_chunks_and_blank_ones_dropped() -> None:
    assert lines_of(b"a", b"b\n\n \r\nc\r\n", b"cut off") == [b"ab", b"c\r"]


def test_a_line_may_be_as_long_as_the_limit() -> None:
    assert lines_of(b"x" * 100 + b"\n", longest=100) == [b"x" * 100]
    with pytest.raises(LineTooLongError):
        lines_of(b"a\n" + b"x" * 101, longest=100)


def test_a_program_answers_line_by_line() -> None:
    async def talk() -> list[bytes]:
        program = await ServerProcess.start("the server", ["cat"])
        lines = read_lines(program.output)
        heard = []
        for line in (b"one", b"two"):
            await program.write(line + b"\n")
            heard.append(await anext(lines))
        await program.finish()
        assert await program.describe_exit() == "the server ended with exit code 0"
        await program.close()
        return heard

    assert asyncio.run(talk()) == [b"one", b"two"]


@pytest.mark.parametrize(
    ("script", "said"),
    [("exit 3", "the server ended with exit code 3"), ("kill -9 $$", "the server was killed by SIGKILL")],
)
def test_it_says_how_a_program_ended(script: str, said: str) -> None:
    async def end() -> str:
        program = await ServerProcess.start("the server", ["sh", "-c", script])
        try:
            assert await program.output.read() == b""
            return await program.describe_exit()
        finally:
            await program.close()

    assert asyncio.run(end()) == said


@pytest.mark.parametrize("argv", [[], ["/no/such/program"], ["cat", "a\0b"]])
def test_a_program_that_cannot_be_started_is_an_error_with_its_name(argv: list[str]) -> None:
    with pytest.raises(HooklineError, match=r"^the server "):
        asyncio.run(ServerProcess.start("the server", argv))


def test_writing_to_a_program_that_is_gone_is_an_error() -> None:
    async def write() -> None:
        program = await ServerProcess.start("the server", ["sh", "-c", "exec <&-; echo closed; exec sleep 30"])
        try:
            assert await program.output.readline() == b"closed\n"
            async with asyncio.timeout(10):
                while True:
                    await program.write(b"x\n")
                    await asyncio.sleep(0.01)
        finally:
            await program.close()

    with pytest.raises(PipeClosedError):
        asyncio.run(write())


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")
def test_closing_it_ends_a_program_that_ignores_signals_and_its_children() -> None:
    async def close() -> list[int]:
        script = "trap '' TERM; sleep 100 & echo $$ $!; wait; sleep 100"
        program = await ServerProcess.start("the server", ["sh", "-c", script])
        pids = [int(each) for each in (await program.output.readline()).split()]
        await program.close()
        return pids

    for pid in asyncio.run(close()):
        status = Path(f"/proc/{pid}/stat")
        assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_stderr_is_logged_without_control_characters(caplog: pytest.LogCaptureFixture) -> None:
    async def log() -> None:
        script = "printf 'one\\n\\033[2Jtwo\\n' >&2"
        program = await ServerProcess.start("the server", ["sh", "-c", script], stderr=subprocess.PIPE)
        await program.log_errors("name")
        await program.close()

    with caplog.at_level("DEBUG", "hookline"):
        asyncio.run(log())
    assert [record.getMessage() for record in caplog.records] == ["[name] one", "[name] \\x1b[2Jtwo"]


@pytest.mark.skipif(sys.platform != "linux", reason="there are no subreapers")
def test_what_left_its_session_ends_with_the_program(tmp_path: Path) -> None:
    async def end() -> int:
        text = (
            "setsid -f bash -c 'echo $$ > pid.new; mv pid.new pid; exec sleep 60'; while [ ! -e pid ]; do :; done; echo"
        )
        program = await ServerProcess.start("the server", ["bash", "-c", f"{text}; cat"], cwd=tmp_path)
        await program.output.readline()
        await program.close()
        return int((tmp_path / "pid").read_text())

    assert not Path(f"/proc/{asyncio.run(end())}").exists()


def test_a_program_is_asked_to_end_before_it_is_killed(tmp_path: Path) -> None:
    async def end() -> None:
        text = "trap 'echo > bye; exit' TERM; echo; while :; do sleep 0.05; done"
        program = await ServerProcess.start("the server", ["bash", "-c", text], cwd=tmp_path)
        await program.output.readline()
        await program.close()

    asyncio.run(end())
    assert (tmp_path / "bye").exists()
