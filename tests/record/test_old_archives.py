from __future__ import annotations

import gzip
import os
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from pathlib import Path

import pytest

from hookline.record import archive as archive_module
from hookline.record import old_archives
from hookline.record.archive import archive_records_of_ended_writers
from hookline.record.hash_chain import BrokenChain, ChainsFile
from hookline.record.record_reader import read_lines, read_records
from hookline.record.segment import RecordDirectory, archive_records
from hookline.record.verification import verify_chains
from hookline.record.writer import RecordWriter, encode_record

DAY = 86_400 * 10**9
MONTH = timedelta(days=30)


class Clock:
    def __init__(self) -> None:
        self.days_ago = 0.0

    def __call__(self) -> int:
        return time.time_ns() - int(self.days_ago * DAY)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def write(writer: RecordWriter, *names: str) -> None:
    for name in names:
        writer.write(encode_record({"kind": "decision", "name": name}))


def archive(directory: RecordDirectory, keep: timedelta | None = MONTH, most: int = 1_000_000) -> None:
    archive_records_of_ended_writers(directory, keep, most=most, settle=0)


def names(directory: RecordDirectory) -> list[str]:
    return [record["name"] for record in read_records(directory) if "name" in record]


def change(path: Path, edit: Callable[[bytes], bytes]) -> None:
    path.write_bytes(gzip.compress(edit(gzip.decompress(path.read_bytes()))))


def write_before_and_after_the_clock_was_set_back(directory: RecordDirectory, clock: Clock) -> None:
    writer = RecordWriter(directory, {}, clock=clock)
    write(writer, "a", "b", "c")
    clock.days_ago = 40
    write(writer, "d", "e")
    writer.close()


@pytest.mark.parametrize(
    ("edit", "what"),
    [
        (lambda data: data.replace(b'"b"', b'"x"'), "changed"),
        (lambda data: data.replace(b'"c"', b'"x"'), "changed"),
        (lambda data: data[: data.rindex(b"\n", 0, -1) + 1], "removed"),
        (lambda data: data[data.index(b"\n") + 1 :], "removed"),
    ],
    ids=["one in the middle", "the last", "the last removed", "the first removed"],
)
def test_records_from_before_the_clock_was_set_back(
    directory: RecordDirectory, clock: Clock, edit: Callable[[bytes], bytes], what: str
) -> None:
    write_before_and_after_the_clock_was_set_back(directory, clock)
    archive(directory)
    assert names(directory) == ["a", "b", "c"]
    verify_chains(directory)
    (path,) = directory.archives()
    change(path, edit)
    with pytest.raises(BrokenChain, match=what):
        verify_chains(directory)


def test_an_archive_from_before_the_clock_was_set_back_is_deleted(directory: RecordDirectory, clock: Clock) -> None:
    write_before_and_after_the_clock_was_set_back(directory, clock)
    archive(directory)
    directory.archives()[0].unlink()
    with pytest.raises(BrokenChain, match="removed"):
        verify_chains(directory)


@pytest.fixture
def overlapping(directory: RecordDirectory, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> RecordWriter:
    """Two archives of one day. The one that begins first has the later records of a writer, which still runs."""
    monkeypatch.setattr(archive_module, "ARCHIVE_RECORDS", 4)  # neither is small
    midnight = time.time_ns() // DAY * DAY - 40 * DAY
    hour = 3600 * 10**9
    now = midnight
    writer, early, late = (RecordWriter(directory, {}, clock=lambda: now) for _ in range(3))
    now = midnight + 9 * hour
    write(early, "early")
    now = midnight + 10 * hour
    write(writer, "first")
    writer._close_file()  # as if it was full
    now = midnight + 23 * hour
    write(late, "late")
    late.close()
    archive(directory, keep=None)
    now = midnight + 12 * hour - 1
    early.close()
    now = midnight + 10 * hour + 1
    write(writer, "second")
    writer._close_file()
    archive(directory, keep=None)
    return writer


def in_archives(directory: RecordDirectory) -> list[list[str]]:
    return [
        [
            name
            for name in ("early", "first", "second", "late")
            if any(b'"%s"' % name.encode() in line for line in lines)
        ]
        for lines in (list(read_lines(path)) for path in directory.archives())
    ]


def test_the_limit_removes_the_beginnings_of_chains(directory: RecordDirectory, overlapping: RecordWriter) -> None:
    assert in_archives(directory) == [["early", "second"], ["first", "late"]]
    archive(directory, keep=None, most=5)
    verify_chains(directory)
    assert names(directory) == []  # each has a record of the writer that must not outlive one in the other


def test_an_archive_waits_for_earlier_records_of_its_writers(
    directory: RecordDirectory, overlapping: RecordWriter
) -> None:
    before = [path.name for path in directory.archives()]
    midnight = time.time_ns() // DAY * DAY - 40 * DAY
    noon = timedelta(microseconds=(time.time_ns() - midnight) / 1000) - timedelta(hours=13)
    archive(directory, keep=noon)
    assert [path.name for path in directory.archives()] == before
    archive(directory)
    assert directory.archives() == []
    verify_chains(directory)


def test_a_record_that_is_missing_does_not_keep_the_others(directory: RecordDirectory, clock: Clock) -> None:
    clock.days_ago = 41
    writer = RecordWriter(directory, {}, clock=clock)
    for name in ("a", "b", "c"):
        write(writer, name)
        clock.days_ago -= 1
    writer.close()
    archive(directory, keep=None)
    directory.archives()[1].unlink()
    with pytest.raises(BrokenChain):
        verify_chains(directory)
    archive(directory)
    assert directory.archives() == []


def kill_before_it_removes(directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(Path, "unlink", lambda *_: os._exit(9))
        old_archives.remove_old_archives(directory, timedelta(0), 1_000_000)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def test_it_is_killed_before_an_archive_is_removed(directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = RecordWriter(directory, {})
    write(writer, "a", "b", "c")
    writer.close()
    archive(directory)
    kill_before_it_removes(directory, monkeypatch)
    assert names(directory) == ["a", "b", "c"]
    verify_chains(directory)
    archive(directory, keep=timedelta(0))
    assert names(directory) == []
    verify_chains(directory)


@pytest.mark.parametrize(
    "edit",
    [
        lambda lines: [line.replace(b'"b"', b'"x"') for line in lines],
        lambda lines: [line.replace(b'"c"', b'"x"') for line in lines],
        lambda lines: lines[:-1],
        lambda lines: [*lines[:1], *lines[2:]],
    ],
    ids=["changed", "the last changed", "the last left out", "one left out"],
)
def test_records_that_are_inserted_where_some_were_too_old(
    directory: RecordDirectory, edit: Callable[[list[bytes]], Iterable[bytes]]
) -> None:
    writer = RecordWriter(directory, {})
    write(writer, "a", "b", "c")
    writer.close()
    archive(directory)
    (path,) = directory.archives()
    lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    archive(directory, keep=timedelta(0))
    assert directory.archives() == []
    path.write_bytes(gzip.compress(b"".join(edit(lines))))
    with pytest.raises(BrokenChain, match="inserted"):
        verify_chains(directory)


def test_records_that_go_while_others_are_read_were_not_removed_by_anybody(
    directory: RecordDirectory, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock.days_ago = 40
    writer = RecordWriter(directory, {}, clock=clock)
    write(writer, "a")
    clock.days_ago = 0
    write(writer, "b")
    writer.close()
    archive(directory, keep=None)
    assert len(directory.archives()) == 2
    read, reads = ChainsFile.read, []

    def read_and_archive(self: ChainsFile) -> object:
        known = read(self)
        reads.append(1)
        if len(reads) == 2:
            archive(directory)
        return known

    monkeypatch.setattr(ChainsFile, "read", read_and_archive)
    verify_chains(directory)
    assert names(directory) == ["b"]
    assert archive_records(directory.archives()[0]) == 1
