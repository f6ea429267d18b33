from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hookline.record import segment as segment_module
from hookline.record import writer as writer_module
from hookline.record.record_reader import read_records
from hookline.record.segment import RecordDirectory, take_if_left
from hookline.record.verification import verify_chains
from hookline.record.writer import RecordClock, RecordWriter, encode_record


@pytest.fixture
def writer(directory: RecordDirectory) -> RecordWriter:
    return RecordWriter(directory, {"machine": "here"})


def text(n: int) -> bytes:
    return encode_record({"kind": "decision", "n": n})


def test_records_are_numbered_and_linked(directory: RecordDirectory, writer: RecordWriter) -> None:
    ids = [writer.write(text(n)) for n in range(3)]
    assert ids == [f"{writer.id}-{n}" for n in (2, 3, 4)]
    start, *rest = read_records(directory)
    assert start["kind"] == "start"
    assert start["machine"] == "here"
    assert start["pid"] == os.getpid()
    assert [record["n"] for record in rest] == [0, 1, 2]
    assert verify_chains(directory).records == 4


def test_a_record_is_on_disk_when_write_returns(directory: RecordDirectory, writer: RecordWriter) -> None:
    """Nothing is buffered in the process, so killing it loses nothing."""
    writer.write(text(1))
    (path,) = directory.live_segments()
    assert path.read_bytes().endswith(b'"n":1}\n')


def test_a_full_segment_is_followed_by_another(
    directory: RecordDirectory, writer: RecordWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "SEGMENT_BYTES", 500)
    for n in range(10):
        writer.write(text(n))
    assert len(directory.live_segments()) > 1
    assert verify_chains(directory).records == 11


class FullDisk:
    """Writes nothing, half, or everything."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_full = False
        self._write = os.write
        monkeypatch.setattr(writer_module.os, "write", self.write)
        monkeypatch.setattr(writer_module, "_RETRY_SECONDS", 0.0)

    def write(self, file: int, data: bytes) -> int:
        return self._write(file, data[: len(data) // 2]) if self.is_full else self._write(file, data)


def test_a_full_disk_costs_records_and_says_how_many(
    directory: RecordDirectory, writer: RecordWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch)
    writer.write(text(1))
    disk.is_full = True
    assert [writer.write(text(n)) for n in (2, 3)] == ["", ""]
    disk.is_full = False
    writer.write(text(4))
    kinds = [(record["kind"], record.get("lost")) for record in read_records(directory)]
    assert kinds == [("start", None), ("decision", None), ("gap", 2), ("decision", None)]
    verified = verify_chains(directory)
    assert (verified.records, verified.lost) == (4, 2)


def test_a_disk_that_is_full_at_the_beginning(
    directory: RecordDirectory, writer: RecordWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch)
    disk.is_full = True
    writer.write(text(1))
    disk.is_full = False
    writer.write(text(2))
    assert [record["kind"] for record in read_records(directory)] == ["start", "gap", "decision"]
    verify_chains(directory)


def test_after_a_failure_it_waits_before_it_tries_again(
    directory: RecordDirectory, writer: RecordWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch)
    monkeypatch.setattr(writer_module, "_RETRY_SECONDS", 1000.0)
    writer.write(text(1))
    disk.is_full = True
    writer.write(text(2))
    disk.is_full = False
    assert writer.write(text(3)) == ""


@pytest.mark.parametrize("before", [0, 1])
def test_what_was_lost_is_said_at_the_end_although_no_record_follows(
    directory: RecordDirectory, writer: RecordWriter, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    disk = FullDisk(monkeypatch)
    monkeypatch.setattr(writer_module, "_RETRY_SECONDS", 1000.0)
    for number in range(before):
        writer.write(text(number))
    disk.is_full = True
    assert [writer.write(text(n)) for n in (2, 3)] == ["", ""]
    disk.is_full = False
    writer.close()
    verified = verify_chains(directory)
    assert (verified.records, verified.lost) == (before + 2, 2)


def test_what_was_lost_is_said_when_the_process_ends(directory: RecordDirectory) -> None:
    program = """
import os, sys
from pathlib import Path
from hookline.record.segment import RecordDirectory
from hookline.record.writer import RecordWriter, encode_record
writer = RecordWriter(RecordDirectory(Path(sys.argv[1])), {})
text = encode_record({"kind": "decision"})
writer.write(text)
write, os.write = os.write, lambda file, data: 0
assert writer.write(text) == writer.write(text) == ""
os.write = write
"""
    subprocess.run([sys.executable, "-c", program, str(directory.path)], check=True, timeout=60)
    assert verify_chains(directory).lost == 2


def test_a_disk_that_is_still_full_at_the_end(
    directory: RecordDirectory, writer: RecordWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = FullDisk(monkeypatch)
    writer.write(text(1))
    disk.is_full = True
    writer.write(text(2))
    writer.close()
    assert verify_chains(directory).records == 2


def test_a_directory_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    writer = RecordWriter(RecordDirectory(tmp_path / "file" / "record"), {})
    assert writer.write(text(1)) == ""


def test_a_forked_process_begins_its_own_chain(directory: RecordDirectory, writer: RecordWriter) -> None:
    writer.write(text(1))
    parent = writer.id
    child = os.fork()
    if child == 0:
        writer.write(text(2))
        os._exit(0)
    os.waitpid(child, 0)
    writer.write(text(3))
    assert writer.id == parent
    records = list(read_records(directory))
    assert len({record["id"].partition("-")[0] for record in records}) == 2
    assert verify_chains(directory).records == 5


def test_the_line_is_the_text_with_its_place_in_the_chain(directory: RecordDirectory, writer: RecordWriter) -> None:
    writer.write(text(1))
    (path,) = directory.live_segments()
    line = json.loads(path.read_bytes().splitlines()[1])
    assert list(line) == ["id", "previous", "at", "kind", "n"]
    assert line["at"].endswith("Z")
    assert len(line["at"]) == len("2026-11-16T19:05:12.000001Z")


def test_times_are_those_of_datetime() -> None:
    clock = RecordClock(lambda: moment)
    for seconds in (0, 86_399, 86_400, 951_782_400, 1_794_860_095, 4_102_444_799):
        moment = seconds * 10**9 + 4_587_999
        expected = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%S.004587Z")
        assert clock.now() == expected


def test_a_file_that_could_not_be_made_is_made_later(
    directory: RecordDirectory, writer: RecordWriter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer_module, "_RETRY_SECONDS", 0.0)
    with monkeypatch.context() as broken:
        broken.setattr(segment_module.os, "rename", fail)
        assert writer.write(text(1)) == ""
    assert writer.write(text(2))
    assert [record["kind"] for record in read_records(directory)] == ["start", "gap", "decision"]


def fail(*_: object) -> None:
    raise OSError("no room")


MINUTE = 60 * 10**9
DAY = 1440 * MINUTE


def test_each_day_has_its_own_file(directory: RecordDirectory) -> None:
    """A process that lives long and decides little must not keep old records."""
    times = iter([10 * DAY - 2000, 10 * DAY - 1000, 10 * DAY, 10 * DAY + 1000])
    writer = RecordWriter(directory, {}, clock=lambda: next(times))
    for _ in range(4):
        writer.write(encode_record({"kind": "decision"}))
    assert [len(path.read_bytes().splitlines()) for path in directory.live_segments()] == [3, 2]
    assert verify_chains(directory).records == 5


def test_a_file_of_yesterday_is_left_though_nothing_new_comes(directory: RecordDirectory) -> None:
    now = 10 * DAY
    writer = RecordWriter(directory, {}, clock=lambda: now)
    writer.write(encode_record({"kind": "decision"}))
    (path,) = directory.live_segments()
    writer.close_old_file()
    assert take_if_left(path) is None
    now = 11 * DAY
    writer.close_old_file()
    file = take_if_left(path)
    assert file is not None
    os.close(file)
    writer.write(encode_record({"kind": "decision"}))
    assert verify_chains(directory).records == 3


@pytest.mark.parametrize("notices", ["when it looks", "in the next minute", "at the next file"])
def test_a_record_that_somebody_removes_begins_anew(directory: RecordDirectory, notices: str) -> None:
    now = 10 * DAY
    writer = RecordWriter(directory, {}, clock=lambda: now)
    writer.write(encode_record({"kind": "decision"}))
    shutil.rmtree(directory.path)
    if notices == "when it looks":
        writer.close_old_file()
    else:
        now += MINUTE if notices == "in the next minute" else DAY
    assert writer.write(encode_record({"kind": "decision"})) == f"{writer.id}-2"
    assert verify_chains(directory).records == 2
