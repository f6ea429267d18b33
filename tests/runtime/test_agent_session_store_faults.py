"""The disk is full, the database is locked or gone: one clear line, and afterwards the session goes on."""

from __future__ import annotations

import asyncio
import resource
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from hookline.errors import HooklineError
from hookline.runtime.agent_session import AgentSession
from hookline.runtime.recovery import UNKNOWN_EFFECT
from hookline.runtime.storage import sqlite
from hookline.runtime.storage.store import file_url
from hookline.runtime.updates import Ending
from runtime.process_probe import wait_until_running
from runtime.scripted_runtime import UpdateRecorder, open_runtime, run_async, send_prompt, tool_call_step

LOCKS = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def write_lock(file: Path) -> Iterator[None]:
    """By another process."""
    held = subprocess.Popen([sys.executable, "-c", LOCKS, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert held.stdout is not None
    assert held.stdout.readline() == b"locked\n"
    try:
        yield
    finally:
        held.communicate()


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second instead of five for somebody else's lock."""
    monkeypatch.setattr(sqlite, "_LOCK_SECONDS", 0.5)


def failed(seen: UpdateRecorder, words: str) -> None:
    assert seen.last_end.ending is Ending.FAILED
    assert words in seen.last_end.text
    assert "\n" not in seen.last_end.text


async def stored(session: AgentSession) -> list[tuple[str, Any]]:
    """As the session has it and as the store has it, which is the same."""
    messages = await session.main.history()
    assert messages == await session.store.messages(session.id)
    return [(message["role"], message.get("content")) for message in messages]


def test_a_locked_database_fails_the_prompt_and_not_the_session(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, "", ["one", "two"], store=file_url(tmp_path / "store.db")) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "first")
            with write_lock(tmp_path / "store.db"):
                failed(await send_prompt(session, "lost"), "is locked by another program")
            assert (await send_prompt(session, "second")).last_end.text == "two"
            assert await stored(session) == [
                ("user", "first"), ("assistant", "one"), ("user", "second"), ("assistant", "two"),
            ]  # fmt: skip

    run_async(work)


def test_a_call_whose_end_could_not_be_written_is_interrupted_and_not_run_again(tmp_path: Path) -> None:
    async def work() -> None:
        steps = [tool_call_step(("bash", {"command": "echo 1 >> ran; until test -e go; do sleep 0.217; done"})), "fine"]
        async with open_runtime(tmp_path, "", steps, store=file_url(tmp_path / "store.db")) as (runtime, _):
            session = await runtime.start()
            talk = asyncio.ensure_future(send_prompt(session, "go"))
            await wait_until_running("sleep 0.217")
            with write_lock(tmp_path / "store.db"):
                (tmp_path / "go").touch()
                failed(await talk, "is locked by another program")
            assert (await send_prompt(session, "and?")).last_end.text == "fine"
            assert ("tool", f"Error: {UNKNOWN_EFFECT}") in await stored(session)
            assert [row.ended for row in await runtime.store.calls(session.id)] == [None]

    run_async(work)
    assert (tmp_path / "ran").read_text() == "1\n"


class Disk:
    """A directory in which there is soon no more room."""

    def __init__(self, place: Path) -> None:
        self.place = place

    @contextmanager
    def full(self) -> Iterator[None]:
        """Until this is left."""
        ballast = self.place / "ballast"
        with ballast.open("wb", buffering=0) as file, suppress(OSError):
            while file.write(b"x" * 1024):
                pass
        try:
            yield
        finally:
            ballast.unlink()


class SmallFiles(Disk):
    """No file may grow: what a quota or the limit of a process does."""

    @contextmanager
    def full(self) -> Iterator[None]:
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (64 * 1024, before[1]))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.fixture(params=["disk", "limit"])
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Disk]:
    place = tmp_path / "disk"
    place.mkdir()
    if request.param == "limit":
        yield SmallFiles(place)
        return
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(place)]
    if shutil.which("mount") is None or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip(
            "a small disk cannot be mounted here (that needs root); the limit of a file's size is tried instead"
        )
    yield Disk(place)
    subprocess.run(["umount", "-l", str(place)], check=True)


def test_a_full_disk_fails_the_prompt_and_not_the_session(tmp_path: Path, disk: Disk) -> None:
    async def work() -> None:
        big = "x" * 200_000
        async with open_runtime(tmp_path, "", ["one", "two", "three"], store=file_url(disk.place / "store.db")) as (
            runtime,
            _,
        ):
            session = await runtime.start()
            await send_prompt(session, "first")
            with disk.full():
                failed(await send_prompt(session, big), "the disk")
                failed(await send_prompt(session, big), "the disk")
            assert (await send_prompt(session, "second")).last_end.text == "two"
            kept = [("user", "first"), ("assistant", "one"), ("user", "second"), ("assistant", "two")]
            assert await stored(session) == kept
        async with open_runtime(tmp_path, "", ["three"], store=file_url(disk.place / "store.db")) as (runtime, _):
            again = await runtime.resume(session.id)
            assert await stored(again) == kept
            assert (await send_prompt(again, "third")).last_end.text == "three"

    run_async(work)


@pytest.mark.parametrize("replaced", [False, True])
def test_a_database_that_was_removed_is_not_written_to(tmp_path: Path, replaced: bool) -> None:
    """What goes into a file that has no name any more would be lost, however well it is stored."""
    file = tmp_path / "data" / "store.db"

    async def work() -> None:
        async with open_runtime(tmp_path, "", ["one", "two"], store=file_url(file)) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "first")
            file.rename(tmp_path / "elsewhere")
            if replaced:
                sqlite3.connect(file).close()
                file.touch()
            failed(await send_prompt(session, "second"), "was removed or replaced")
            assert not replaced or file.stat().st_size == 0
            (tmp_path / "elsewhere").rename(file)
            assert (await send_prompt(session, "third")).last_end.text == "two"
            assert [content for _, content in await stored(session)] == ["first", "one", "third", "two"]

    run_async(work)


def test_a_session_whose_end_cannot_be_stored_is_over_all_the_same(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path, "", ["one"], store=file_url(tmp_path / "store.db")) as (runtime, _):
            session = await runtime.start()
            await send_prompt(session, "first")
            with write_lock(tmp_path / "store.db"), pytest.raises(HooklineError, match="is locked by another program"):
                await session.end()
            assert runtime.sessions == {}
            again = await runtime.resume(session.id)
            await again.end()
            row = await runtime.store.session(session.id)
            assert row is not None
            assert row.ended == "exit"

    run_async(work)
