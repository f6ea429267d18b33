from __future__ import annotations

import gzip
import os
import stat
import time
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest

from hookline.record import archive as archive_module
from hookline.record.archive import archive_if_due, archive_records_of_ended_writers
from hookline.record.hash_chain import ChainsFile
from hookline.record.record_reader import read_records
from hookline.record.segment import RecordDirectory, archive_records
from hookline.record.verification import verify_chains
from hookline.record.writer import RecordWriter, encode_record

MONTH = timedelta(days=30)


DAY = 86_400 * 10**9


def write(
    directory: RecordDirectory, count: int = 1, hooks: str = "", clock: Callable[[], int] = time.time_ns
) -> RecordWriter:
    writer = RecordWriter(directory, {}, clock=clock)
    for n in range(count):
        writer.write(encode_record({"kind": "decision", "n": n, "hooks": hooks}))
    writer.close()
    return writer


def archive(directory: RecordDirectory, keep: timedelta | None = MONTH, most: int = 1_000_000) -> None:
    archive_records_of_ended_writers(directory, keep, most=most, settle=0)


def test_only_writers_that_have_ended_are_archived(directory: RecordDirectory) -> None:
    write(directory)
    running = RecordWriter(directory, {})
    running.write(encode_record({"kind": "decision"}))
    archive(directory)
    (live,) = directory.live_segments()
    assert live.name.startswith(running.id)
    (kept,) = directory.archives()
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert archive_records(kept) == 2
    running.write(encode_record({"kind": "decision"}))
    assert verify_chains(directory).records == 5


def test_a_file_that_was_just_left_waits(directory: RecordDirectory) -> None:
    write(directory)
    archive_records_of_ended_writers(directory, MONTH)
    assert directory.archives() == []


def test_small_archives_are_joined(directory: RecordDirectory) -> None:
    for _ in range(5):
        write(directory)
        archive(directory)
    (kept,) = directory.archives()
    assert archive_records(kept) == 10
    assert verify_chains(directory).records == 10


def test_large_ones_are_split(directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "ARCHIVE_RECORDS", 4)
    write(directory, 10)
    archive(directory)
    assert [archive_records(path) for path in directory.archives()] == [4, 4, 3]
    assert verify_chains(directory).records == 11


def test_archives_of_the_same_times_and_size_are_kept_both(
    directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(archive_module, "ARCHIVE_RECORDS", 2)  # neither is small
    for _ in range(2):
        write(directory, clock=lambda: 10**18)
        archive(directory, keep=None)
    assert len(list(read_records(directory))) == 4
    assert verify_chains(directory).records == 4


def test_an_archive_that_a_killed_process_has_replaced_is_joined(directory: RecordDirectory) -> None:
    """Else the two would grow side by side, and one day have the same times and size."""
    write(directory)
    archive(directory)
    (small,) = directory.archives()
    before = small.read_bytes()
    write(directory)
    archive(directory)
    small.write_bytes(before)  # as if the process had been killed before it removed this one
    write(directory)
    archive(directory)
    (kept,) = directory.archives()
    assert archive_records(kept) == 6
    assert verify_chains(directory).records == 6


def test_an_archive_that_cannot_be_read_to_its_end_is_not_replaced(directory: RecordDirectory) -> None:
    write(directory, 50)
    archive(directory)
    (damaged,) = directory.archives()
    damaged.write_bytes(damaged.read_bytes()[:-20])
    write(directory)
    archive(directory)
    assert damaged in directory.archives()
    assert len(directory.archives()) == 2


def test_each_record_is_kept_for_as_long_as_the_user_said(directory: RecordDirectory) -> None:
    """Also by somebody who makes few decisions: a young record does not keep the old ones in its archive."""
    now = time.time_ns()
    for days in (40, 31, 29, 0):
        write(directory, clock=lambda days=days: now - days * DAY)  # type: ignore[misc]
    archive(directory)
    assert len(list(read_records(directory))) == 4
    assert verify_chains(directory).records == 4


def test_old_records_are_removed(directory: RecordDirectory) -> None:
    write(directory, 3)
    archive(directory, keep=timedelta(0))
    assert list(read_records(directory)) == []
    assert verify_chains(directory).records == 0


def test_more_than_the_limit_are_removed(directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "ARCHIVE_RECORDS", 4)
    write(directory, 11)
    archive(directory, most=8)
    assert [record.get("n") for record in read_records(directory)] == [3, 4, 5, 6, 7, 8, 9, 10]
    assert verify_chains(directory).records == 8


def test_several_archives_are_removed_at_once(directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "ARCHIVE_RECORDS", 4)
    write(directory, 11)
    archive(directory, most=4)
    assert [record.get("n") for record in read_records(directory)] == [7, 8, 9, 10]
    assert verify_chains(directory).records == 4


def test_nothing_is_lost_if_the_disk_is_full(directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    write(directory, 3)

    def full(*_: object, **__: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr(gzip, "compress", full)
        with pytest.raises(OSError, match="no space"):
            archive(directory)
    archive(directory)
    assert verify_chains(directory).records == 4


@pytest.mark.parametrize("step", ["_touch_hook_texts", "ChainsFile"])
def test_nothing_is_lost_or_doubled_if_it_is_killed(
    directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    write(directory, 3)
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(archive_module, step, lambda *_: os._exit(9))
        archive(directory)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    for _ in range(2):
        assert len(list(read_records(directory))) == 4
        assert verify_chains(directory).records == 4
        archive(directory)


def test_a_writer_without_records_is_no_hole(directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    child = os.fork()
    if child == 0:
        monkeypatch.setattr(os, "pwrite", lambda *_: os._exit(0))
        write(directory)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    (begun,) = directory.head_files()
    archive(directory)
    assert (directory.live_segments(), directory.head_files()) == ([], [])
    verify_chains(directory)
    assert begun.name in ChainsFile(directory.chains).read()


def test_one_process_archives_at_a_time(directory: RecordDirectory) -> None:
    write(directory)
    with archive_module._lock(directory) as ours:
        assert ours
        archive(directory)
        assert directory.archives() == []


def test_hook_texts_are_as_new_as_records_from_before_the_clock_was_set_back(directory: RecordDirectory) -> None:
    directory.create()
    later = time.time() + 60 * 86_400
    for name, text_time, record_time in (("named", time.time(), later), ("newer", later, time.time())):
        path = directory.hooks / f"{name}.json"
        path.write_text("{}")
        os.utime(path, (text_time, text_time))
        writer = RecordWriter(directory, {}, clock=partial(int, record_time * 1e9))
        writer.write(encode_record({"kind": "decision", "hooks": name}))
        writer.close()
    archive_records_of_ended_writers(directory, timedelta(days=30), settle=0)
    assert all(path.stat().st_mtime > later - 1 for path in directory.hooks.glob("*.json"))


def test_hook_texts_are_kept_as_long_as_records_name_them(directory: RecordDirectory) -> None:
    directory.create()
    old = time.time() - 100 * 86_400
    for name in ("used", "unused"):
        path = directory.hooks / f"{name}.json"
        path.touch()
        os.utime(path, (old, old))
    write(directory, hooks="used")
    archive(directory)
    assert [path.stem for path in directory.hooks.iterdir()] == ["used"]


def test_archiving_is_due_every_ten_minutes(directory: RecordDirectory) -> None:
    archive_if_due(directory, lambda: None)
    assert not directory.path.exists()  # nothing was ever recorded
    write(directory)
    assert directory.is_archiving_due()
    archive_if_due(directory, lambda: None)
    assert not directory.is_archiving_due()
    os.utime(directory.archive_lock, (time.time() - 700,) * 2)
    assert directory.is_archiving_due()
    os.utime(directory.archive_lock, (time.time() + 9000,) * 2)  # the clock was set back
    assert directory.is_archiving_due()


def test_an_error_while_archiving_is_nobodys_problem(directory: RecordDirectory) -> None:
    def broken() -> None:
        raise OSError("no space left")

    write(directory)
    archive_if_due(directory, broken)
    assert len(list(read_records(directory))) == 2


def test_nothing_is_too_old_if_nobody_said_for_how_long(directory: RecordDirectory) -> None:
    write(directory)
    archive_records_of_ended_writers(directory, None, settle=0)
    assert len(directory.archives()) == 1
    assert len(list(read_records(directory))) == 2


def test_what_killed_processes_left_unfinished_is_removed(directory: RecordDirectory) -> None:
    write(directory)
    (directory.archive / "half.jsonl.new").write_bytes(b"half")
    left, beginning = (directory.live / f"{number:016}-1.new" for number in (1, 2))
    left.touch()
    os.utime(left, (0, time.time() - 100))
    beginning.touch()  # its writer may just be giving it its name
    archive_records_of_ended_writers(directory, None, settle=0)
    assert list(directory.path.rglob("*.new")) == [beginning]


def test_a_file_from_before_the_clock_was_set_back_is_archived(directory: RecordDirectory) -> None:
    write(directory)
    (live,) = directory.live_segments()
    os.utime(live, (0, time.time() + 10_000))
    archive_records_of_ended_writers(directory, None)
    assert len(directory.archives()) == 1
