from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable
from datetime import timedelta
from itertools import islice

import pytest

from hookline.record import archive as archive_module
from hookline.record.archive import archive_records_of_ended_writers
from hookline.record.record_feed import FedRecord, RecordFeed
from hookline.record.segment import RecordDirectory
from hookline.record.writer import RecordWriter, encode_record


def make_writer(directory: RecordDirectory, clock: Callable[[], int] = time.time_ns) -> RecordWriter:
    return RecordWriter(directory, {}, clock=clock)


def write(writer: RecordWriter, count: int = 1) -> list[str]:
    return [writer.write(encode_record({"kind": "decision"})) for _ in range(count)]


def archive(directory: RecordDirectory, keep: timedelta | None = None) -> None:
    archive_records_of_ended_writers(directory, keep, settle=0)


def leave_file(writer: RecordWriter) -> None:
    """As at the end of a day: the chain goes on in another file."""
    writer._close_file()


def ids(found: list[FedRecord]) -> list[str]:
    assert all(fed.is_linked for fed in found)
    named = [fed.record["id"] for fed in found if fed.record is not None]
    assert named == [f"{fed.writer}-{fed.head.number}" for fed in found]
    return named


def test_each_record_is_handed_out_once_in_its_writers_order(directory: RecordDirectory) -> None:
    feed = RecordFeed(directory)
    assert list(feed.read()) == []
    first, second = make_writer(directory), make_writer(directory)
    write(first, 3)
    write(second)
    assert sorted(ids(list(feed.read()))) == sorted(
        [*(f"{first.id}-{n}" for n in range(1, 5)), f"{second.id}-1", f"{second.id}-2"]
    )
    assert list(feed.read()) == []
    assert ids(list(feed.read())) + write(first, 2) == ids(list(feed.read()))


def test_archived_records_are_handed_out_too(directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "ARCHIVE_RECORDS", 4)
    feed, writer = RecordFeed(directory), make_writer(directory)
    seen = write(writer, 2)
    assert ids(list(feed.read())) == [f"{writer.id}-1", *seen]
    written = write(writer, 9)
    leave_file(writer)
    archive(directory)  # before the feed has seen them
    written += write(writer, 2)
    assert ids(list(feed.read())) == written
    writer.close()
    archive(directory)  # of what it has seen, nothing comes again
    assert list(feed.read()) == []


def test_a_reader_goes_on_where_it_was(directory: RecordDirectory) -> None:
    writer = make_writer(directory)
    write(writer, 5)
    feed = RecordFeed(directory)
    before = ids(list(islice(feed.read(), 3)))
    assert ids(list(feed.read()))[0] == f"{writer.id}-4"  # it stopped early, and goes on
    again = RecordFeed(directory, {writer.id: list(islice(RecordFeed(directory).read(), 3))[-1].head})
    assert before + ids(list(again.read())) == [f"{writer.id}-{n}" for n in range(1, 7)]
    assert again.heads == feed.heads


def test_what_was_there_can_be_skipped(directory: RecordDirectory) -> None:
    archived, live, begun = make_writer(directory), make_writer(directory), make_writer(directory)
    for writer in (archived, live, begun):
        write(writer, 2)
    archived.close()
    leave_file(begun)
    archive(directory)
    feed = RecordFeed(directory)
    feed.skip_to_end()
    assert list(feed.read()) == []
    written = write(live) + write(begun)
    assert sorted(ids(list(feed.read()))) == sorted(written)


def test_the_clock_was_set_back(directory: RecordDirectory) -> None:
    """It begins another chain then, whose archive is before that of the first one."""
    now = time.time_ns()
    times = iter([now, now, now - 86_400 * 10**9, now + 1, now + 2])
    writer = make_writer(directory, lambda: next(times))
    write(writer, 2)
    before = writer.id
    write(writer, 2)
    writer.close()
    archive(directory)
    found = ids(list(RecordFeed(directory).read()))
    for chain in (before, writer.id):
        assert [id for id in found if id.startswith(chain)] == [f"{chain}-{n}" for n in range(1, 4)]
    assert len(found) == 6


def test_records_that_were_too_old_are_skipped(directory: RecordDirectory) -> None:
    now = time.time_ns()
    times = iter([now - 40 * 86_400 * 10**9] * 2 + [now] * 2)
    writer = make_writer(directory, lambda: next(times))
    feed = RecordFeed(directory)
    write(writer, 1)
    assert len(list(feed.read())) == 2
    written = write(writer, 3)
    writer.close()
    archive(directory, timedelta(days=30))
    assert ids(list(feed.read())) == written[1:]


def test_records_that_somebody_removed_are_noticed(directory: RecordDirectory) -> None:
    writer = make_writer(directory)
    written = write(writer, 4)
    (path,) = directory.live_segments()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([*lines[:2], *lines[3:]]))
    feed = RecordFeed(directory)
    assert len(list(feed.read())) == 2
    found = list(feed.read())  # it could have been on its way into an archive
    assert [fed.is_linked for fed in found] == [False, True]
    assert [fed.record["id"] for fed in found if fed.record] == written[2:]


def test_a_changed_record_is_noticed(directory: RecordDirectory) -> None:
    writer = make_writer(directory)
    write(writer, 3)
    (path,) = directory.live_segments()
    path.write_bytes(path.read_bytes().replace(b'"kind":"decision"', b'"kind":"decisiom"', 1))
    assert [fed.is_linked for fed in RecordFeed(directory).read()] == [True, True, False, True]


def test_many_files_need_few_descriptors(directory: RecordDirectory) -> None:
    """Each short-lived process leaves a file."""
    for _ in range(100):
        writer = make_writer(directory)
        write(writer)
        writer.close()
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 20, limit[1]))
    try:
        assert len(list(RecordFeed(directory).read())) == 200
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limit)


def test_an_archive_that_was_handed_out_is_not_read_again(directory: RecordDirectory) -> None:
    writer = make_writer(directory)
    write(writer, 3)
    writer.close()
    archive(directory)
    feed = RecordFeed(directory)
    assert feed.archives == frozenset()
    assert len(feed.take(2)) == 2
    assert feed.archives == frozenset()  # there is more in it
    assert len(feed.take(10)) == 2
    assert feed.archives == {path.name for path in directory.archives()}
    assert RecordFeed(directory, archives=feed.archives).take(10) == []
    assert len(RecordFeed(directory).take(10)) == 4


def test_an_archive_counts_as_read_once_nothing_in_it_waits(
    directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_module, "ARCHIVE_RECORDS", 4)
    writer = make_writer(directory)
    write(writer, 9)
    writer.close()
    archive(directory)
    min(directory.archives(), key=lambda path: path.stat().st_mtime_ns).unlink()
    feed = RecordFeed(directory)
    assert feed.take(20) == []  # the first ones may be on their way
    assert feed.archives == frozenset()
    assert len(feed.take(20)) > 0
    assert feed.archives == {path.name for path in directory.archives()}
