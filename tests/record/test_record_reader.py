from __future__ import annotations

import gzip
import json
import os
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.record import archive
from hookline.record.archive import archive_records_of_ended_writers
from hookline.record.record_reader import LineFilter, parse_record, read_latest, read_lines, read_records
from hookline.record.segment import RecordDirectory
from hookline.record.verification import BrokenChain, verify_chains
from hookline.record.writer import RecordWriter, encode_record


def write(directory: RecordDirectory, *names: str) -> None:
    writer = RecordWriter(directory, {})
    for name in names:
        writer.write(encode_record({"kind": "decision", "name": name}))
    writer.close()


def names(directory: RecordDirectory) -> list[str]:
    return [record["name"] for record in read_records(directory) if record["kind"] == "decision"]


def test_records_of_all_writers_by_time(directory: RecordDirectory) -> None:
    one, two = RecordWriter(directory, {}), RecordWriter(directory, {})
    for n in range(10):
        (one, two)[n % 2].write(encode_record({"kind": "decision", "name": str(n)}))
    assert names(directory) == [str(n) for n in range(10)]
    one.close()
    archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)
    assert names(directory) == [str(n) for n in range(10)]


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_what_is_no_file_is_no_record(directory: RecordDirectory, make: Callable[[Path], None]) -> None:
    write(directory, "a")
    write(directory, "b")
    removed = directory.live_segments()[0]
    removed.unlink()
    make(removed)
    assert len(names(directory)) == 1
    assert len(read_latest(directory, lambda record: record["kind"] == "decision", 5)) == 1
    with pytest.raises(BrokenChain):
        verify_chains(directory)


def archive_meanwhile(directory: RecordDirectory) -> LineFilter:
    """Sees every line; when it sees the first one, the second archive is joined with another one, and removed."""
    asked = []

    def see(line: bytes) -> bool:
        if not asked:
            asked.append(line)
            write(directory, "c")
            archive_records_of_ended_writers(directory, None, settle=0)
        return True

    return see


@pytest.mark.parametrize("with_live_file", [False, True])
def test_nothing_is_missed_of_what_is_archived_while_it_is_read(
    directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch, with_live_file: bool
) -> None:
    monkeypatch.setattr(archive, "ARCHIVE_RECORDS", 6)
    write(directory, *"abcde")
    write(directory, "f")
    archive_records_of_ended_writers(directory, None, settle=0)
    if with_live_file:
        write(directory, "g")
    before = {record["id"] for record in read_records(directory)}
    copy = shutil.copytree(directory.path, directory.path.parent / "copy")
    assert before <= {record["id"] for record in read_records(directory, archive_meanwhile(directory))}
    shutil.rmtree(directory.path)
    copy.rename(directory.path)
    latest = read_latest(directory, lambda record: True, 100, archive_meanwhile(directory))
    assert before <= {record["id"] for record in latest}


def test_a_record_that_is_archived_and_still_live_is_read_once(directory: RecordDirectory) -> None:
    write(directory, "a", "b")
    (live,) = directory.live_segments()
    kept = live.read_bytes()
    archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)
    live.write_bytes(kept)
    assert names(directory) == ["a", "b"]
    assert len(read_latest(directory, lambda record: True, 10)) == 3


def test_an_unfinished_line_is_no_record(directory: RecordDirectory) -> None:
    write(directory, "a")
    (live,) = directory.live_segments()
    with live.open("ab") as file:
        file.write(b'{"id":"x-9","at":"2026')
    assert names(directory) == ["a"]


def test_a_clock_that_was_set_back(directory: RecordDirectory) -> None:
    times = iter((30, 10, 40))
    writer = RecordWriter(directory, {}, clock=lambda: next(times) * 10**9)
    for name in ("late", "early", "last"):
        writer.write(encode_record({"kind": "decision", "name": name}))
    assert names(directory) == ["early", "late", "last"]
    assert len(directory.live_segments()) == 2, "a new file, so that a file's time is that of its last record"
    verified = verify_chains(directory)
    assert (verified.records, len(verified.heads)) == (5, 2), "a new chain: in each, times only grow"


def test_the_latest_that_match(directory: RecordDirectory) -> None:
    for n in range(20):
        write(directory, f"{n}")
        if n == 10:
            archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)
    found = read_latest(directory, lambda record: record.get("name", "").endswith("5"), 2)
    assert [record["name"] for record in found] == ["5", "15"]
    found = read_latest(directory, lambda record: record["kind"] == "decision", 3)
    assert [record["name"] for record in found] == ["17", "18", "19"]


def test_since(directory: RecordDirectory) -> None:
    write(directory, "a", "b", "c")
    at = next(record["at"] for record in read_records(directory) if record.get("name") == "b")
    assert [record["name"] for record in read_records(directory, since=at)] == ["b", "c"]
    archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)
    assert [record["name"] for record in read_records(directory, since=at)] == ["b", "c"]


def test_lines_can_be_left_out_before_they_are_parsed(directory: RecordDirectory) -> None:
    write(directory, "a", "b")
    assert [record["name"] for record in read_records(directory, lambda line: b'"b"' in line)] == ["b"]


@pytest.mark.parametrize("line", [b"", b"{", b"[]", b'{"id": 1, "at": ""}', b'{"id": "a-1"}', b"\xff"])
def test_what_is_not_a_record(line: bytes) -> None:
    assert parse_record(line) is None


def test_a_damaged_archive_is_read_as_far_as_possible(directory: RecordDirectory) -> None:
    directory.create()
    path = directory.archive / "x.jsonl.gz"
    path.write_bytes(gzip.compress(b"one\n" * 1000)[:-9])
    assert len(list(read_lines(path))) <= 1000
    path.write_bytes(b"not gzip")
    assert list(read_lines(path)) == []


@pytest.mark.parametrize(
    "change",
    [
        {"at": "yesterday"},
        {"verdict": ["deny"]},
        {"line": "2"},
        {"trace": 5},
        {"trace": [None]},
        {"trace": [{"file": []}]},
        {"trace": [{"outcome": {"verdict": 1}}]},
    ],
)
def test_a_record_with_a_value_of_another_type_is_none(change: dict[str, Any]) -> None:
    record = {"id": "0123456789abcdef-1", "at": "2026-11-16T20:01:35.458752Z", "kind": "decision", "verdict": "deny"}
    assert parse_record(json.dumps(record).encode()) == record
    assert parse_record(json.dumps({**record, **change}).encode()) is None
