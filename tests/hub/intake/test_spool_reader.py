from __future__ import annotations

from pathlib import Path

from hookline.hub.intake.spool_reader import SpoolReader
from hookline.record.archive import archive_records_of_ended_writers
from hookline.record.segment import RecordDirectory
from hookline.record.writer import RecordWriter


def write(directory: RecordDirectory, count: int = 1, writer: RecordWriter | None = None) -> RecordWriter:
    writer = writer or RecordWriter(directory, {"machine": "box"})
    for number in range(count):
        assert writer.write(f'{{"kind":"decision","n":{number}}}'.encode())
    return writer


def read_all(reader: SpoolReader) -> int:
    count = 0
    while True:
        found = reader.look()
        count += len(found.lines)
        reader.confirm(found)
        if found.is_all:
            return count


def test_only_what_is_new_is_read(tmp_path: Path) -> None:
    directory = RecordDirectory(tmp_path)
    reader = SpoolReader(directory)
    assert read_all(reader) == 0
    writer = write(directory, 3)
    assert read_all(reader) == 4
    write(directory, 2, writer)
    assert read_all(reader) == 2
    assert read_all(reader) == 0
    writer.close()


def test_what_was_not_confirmed_is_read_again(tmp_path: Path) -> None:
    directory = RecordDirectory(tmp_path)
    writer = write(directory, 3)
    reader = SpoolReader(directory)
    assert len(reader.look().lines) == len(reader.look().lines) == 4
    writer.close()


def test_a_line_that_is_being_written_is_read_when_it_is_whole(tmp_path: Path) -> None:
    directory = RecordDirectory(tmp_path)
    directory.create()
    file = directory.live / ("a" * 16 + "-1.jsonl")
    file.write_bytes(b"one\ntw")
    reader = SpoolReader(directory)
    assert read_all(reader) == 1
    file.write_bytes(b"one\ntwo\n")
    assert read_all(reader) == 1


def test_archives_are_read_once_and_before_live_files(tmp_path: Path) -> None:
    directory = RecordDirectory(tmp_path)
    write(directory, 3).close()
    archive_records_of_ended_writers(directory, None, settle=0)
    writer = write(directory, 1)
    reader = SpoolReader(directory)
    first = reader.look()
    assert (len(first.lines), first.is_all) == (4, False)
    reader.confirm(first)
    assert read_all(reader) == 2
    assert read_all(SpoolReader(directory, reader.archives)) == 2  # live files only
    writer.close()
