"""What a writer notes about the end of its records, and that it raises no false alarm, whenever the writer is killed."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from hookline.record import writer as writer_module
from hookline.record.archive import archive_records_of_ended_writers
from hookline.record.hash_chain import FIRST, BrokenChain, Head, line_hash
from hookline.record.head_file import read_head, read_heads
from hookline.record.record_reader import read_records
from hookline.record.segment import RecordDirectory
from hookline.record.verification import verify_chains
from hookline.record.writer import RecordWriter, encode_record

CALLS = ("open", "write", "pwrite", "rename", "ftruncate", "close")


def write(directory: RecordDirectory, records: int) -> RecordWriter:
    writer = RecordWriter(directory, {})
    for _ in range(records):
        writer.write(encode_record({"kind": "decision"}))
    return writer


def test_a_head_is_the_last_record_and_the_one_before(directory: RecordDirectory) -> None:
    writer = write(directory, 2)
    (path,) = directory.live_segments()
    _, before, last = path.read_bytes().splitlines()
    noted = read_heads(directory)[writer.id]
    assert noted.last == noted.least == Head(3, line_hash(last))
    assert noted.previous == Head(2, line_hash(before))
    assert not noted.is_of_earlier_boot


def test_a_head_is_for_its_owner_only(directory: RecordDirectory) -> None:
    write(directory, 1)
    (path,) = directory.head_files()
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_head_that_hookline_did_not_write(directory: RecordDirectory) -> None:
    write(directory, 1)
    (path,) = directory.head_files()
    path.write_text("hello")
    with pytest.raises(BrokenChain, match="not a file that hookline wrote"):
        read_head(path)


class KilledAt:
    """Kills the process before or after a system call, by its number."""

    def __init__(self, number: int, *, after: bool) -> None:
        self._left = number
        self._after = after

    def __call__(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def killed(*words: Any, **named: Any) -> Any:
            self._left -= 1
            if self._left == 0 and not self._after:
                os.kill(os.getpid(), signal.SIGKILL)
            result = call(*words, **named)
            if self._left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return result

        return killed


def run_and_kill(work: Callable[[], object], number: int, *, after: bool) -> bool:
    """False if the work was done before it came to that call."""
    child = os.fork()
    if child == 0:
        kill = KilledAt(number, after=after)
        for name in CALLS:
            setattr(os, name, kill(getattr(os, name)))
        work()
        os._exit(0)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def archive(directory: RecordDirectory) -> None:
    archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
def test_a_writer_that_is_killed_at_any_system_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, after: bool
) -> None:
    monkeypatch.setattr(writer_module, "SEGMENT_BYTES", 500)
    ends = set[tuple[int | bool, ...]]()
    for number in count(1):
        directory = RecordDirectory(tmp_path / str(number))
        if not run_and_kill(partial(write, directory, 6), number, after=after):
            break
        records = verify_chains(directory).records
        ends.add((records, *(noted.is_written for noted in read_heads(directory).values())))
        archive(directory)
        assert verify_chains(directory).records == records
        assert (directory.head_files(), directory.live_segments()) == ([], [])
    assert {(n, False) for n in range(1, 7)} | {(n, True) for n in range(1, 7)} <= ends


@pytest.mark.slow
@pytest.mark.parametrize("after", [False, True])
def test_an_archiver_that_is_killed_at_any_system_call(tmp_path: Path, after: bool) -> None:
    for number in count(1):
        directory = RecordDirectory(tmp_path / str(number))
        write(directory, 2).close()
        writer = write(directory, 2)
        is_killed = run_and_kill(partial(archive, directory), number, after=after)
        assert verify_chains(directory).records == 6
        archive(directory)
        assert verify_chains(directory).records == 6
        assert [each.name for each in directory.head_files()] == [writer.id]
        if not is_killed:
            break
    assert number > 10


@pytest.mark.parametrize("fails_at", range(1, 9))
def test_a_head_that_cannot_be_written_costs_a_record_at_most(
    directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch, fails_at: int
) -> None:
    writer, calls = write(directory, 1), iter(range(1, 100))

    def full(file: int, data: bytes, offset: int) -> int:
        if next(calls) == fails_at:
            raise OSError("the disk is full")
        return pwrite(file, data, offset)

    pwrite = os.pwrite
    monkeypatch.setattr(writer_module, "_RETRY_SECONDS", 0.0)
    monkeypatch.setattr(os, "pwrite", full)
    written = [writer.write(encode_record({"kind": "decision"})) for _ in range(4)]
    lost = written.count("")
    assert lost == fails_at % 2
    assert verify_chains(directory).lost == (lost if fails_at < 7 else 0)
    assert len([record for record in read_records(directory) if record["kind"] == "decision"]) == 5 - lost
    assert writer.write(encode_record({"kind": "decision"}))
    assert verify_chains(directory).lost == lost


def test_a_chain_without_records_has_no_hash(directory: RecordDirectory) -> None:
    writer = write(directory, 1)
    (path,) = directory.head_files()
    _, first = path.read_text().split("\n", 1)
    path.write_text(f"{0:020} {FIRST} {FIRST} d\n{first}")
    assert read_head(path).least == Head()
    with pytest.raises(BrokenChain, match="inserted") as broken:
        verify_chains(directory)
    assert broken.value.where == f"{writer.id}-1"
