from __future__ import annotations

import os
import stat

import pytest

from hookline.record.segment import (
    RecordDirectory,
    archive_name,
    archive_records,
    archive_times,
    open_segment,
    split_id,
    take_if_left,
)

FIRST, LAST = "2026-11-16T19:05:12.000001Z", "2026-11-16T20:00:00.000000Z"


def test_the_directories_are_for_their_owner_only(directory: RecordDirectory) -> None:
    directory.path.mkdir(parents=True, mode=0o755)
    directory.path.chmod(0o755)
    directory.create()
    for path in (directory.path, directory.live, directory.archive, directory.hooks):
        assert stat.S_IMODE(path.stat().st_mode) == 0o700


def test_a_segment_has_its_name_only_once_it_is_locked(directory: RecordDirectory) -> None:
    directory.create()
    path = directory.live / f"{'a' * 16}-1.jsonl"
    file = open_segment(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in directory.live.iterdir()] == [path.name]
    assert take_if_left(path) is None
    os.close(file)
    taken = take_if_left(path)
    assert taken is not None
    os.close(taken)


def test_no_segment_is_taken_if_it_is_gone(directory: RecordDirectory) -> None:
    assert take_if_left(directory.live / "gone-1.jsonl") is None


def test_segments_are_in_the_order_in_which_each_writer_wrote_them(directory: RecordDirectory) -> None:
    directory.create()
    a, b = "a" * 16, "b" * 16
    for name in (f"{b}-1.jsonl", f"{a}-10.jsonl", f"{a}-9.jsonl", f"{a}-11.new", "notes.txt"):
        (directory.live / name).touch()
    assert [path.name for path in directory.live_segments()] == [f"{a}-9.jsonl", f"{a}-10.jsonl", f"{b}-1.jsonl"]


def test_a_directory_that_does_not_exist_has_no_files(directory: RecordDirectory) -> None:
    assert directory.live_segments() == []
    assert directory.archives() == []


def test_an_archives_name_says_what_is_in_it(directory: RecordDirectory) -> None:
    path = directory.archive / archive_name(FIRST, LAST, 17, "0123456789abcdef" * 4)
    assert ":" not in path.name
    assert archive_times(path) == (FIRST, LAST)
    assert archive_records(path) == 17
    directory.create()
    path.touch()
    (directory.archive / "other.jsonl.gz").touch()
    assert directory.archives() == [path]


@pytest.mark.parametrize(
    ("id", "parts"), [("ab-12", ("ab", 12)), ("ab", ("ab", 0)), ("ab-x", ("ab", 0)), ("ab--1", ("ab", 0))]
)
def test_the_parts_of_an_id(id: str, parts: tuple[str, int]) -> None:
    assert split_id(id) == parts


def test_many_live_files(directory: RecordDirectory) -> None:
    assert not directory.has_many_live_files()
    directory.create()
    for number in range(64):
        (directory.live / f"{number}.jsonl").touch()
    assert not directory.has_many_live_files()
    (directory.live / "more.jsonl").touch()
    assert directory.has_many_live_files()
