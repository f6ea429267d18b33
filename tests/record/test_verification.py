from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from hookline.record import archive as archive_module
from hookline.record.archive import archive_records_of_ended_writers
from hookline.record.hash_chain import BrokenChain, line_hash
from hookline.record.segment import RecordDirectory
from hookline.record.verification import check_anchor, verify_chains, write_anchor
from hookline.record.writer import RecordWriter, encode_record


def write(directory: RecordDirectory, count: int = 5) -> RecordWriter:
    writer = RecordWriter(directory, {})
    for n in range(count):
        writer.write(encode_record({"kind": "decision", "n": n}))
    writer.close()
    return writer


def lines_of(directory: RecordDirectory) -> tuple[Path, list[bytes]]:
    (path,) = directory.live_segments()
    return path, path.read_bytes().splitlines()


def save(path: Path, lines: list[bytes]) -> None:
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def test_no_record_is_whole(directory: RecordDirectory) -> None:
    assert verify_chains(directory).records == 0


@pytest.mark.parametrize(
    ("change", "where"),
    [
        (lambda lines: lines.__setitem__(2, lines[2].replace(b'"n":1', b'"n":7')), 4),
        (lambda lines: lines.pop(2), 3),
        (lambda lines: lines.insert(3, lines[3].replace(b'-4"', b'-40"')), 7),
        (lambda lines: lines.insert(3, lines[3].replace(b'"n":2', b'"n":9')), 4),
        (lambda lines: lines.__setitem__(slice(2, 4), [lines[3], lines[2].replace(b'"n":1', b'"n":0')]), 4),
        (lambda lines: lines.insert(3, lines[3]), 4),
        (lambda lines: lines.append(lines[1]), 2),
        (lambda lines: lines.pop(0), 1),
    ],
    ids=["changed", "removed", "inserted", "doubled", "swapped", "copied", "copied to the end", "first"],
)
def test_the_first_broken_record_is_named(directory: RecordDirectory, change: object, where: int) -> None:
    writer = write(directory)
    path, lines = lines_of(directory)
    change(lines)  # type: ignore[operator]
    save(path, lines)
    with pytest.raises(BrokenChain) as broken:
        verify_chains(directory)
    assert broken.value.where == f"{writer.id}-{where}"


def test_a_line_that_is_not_a_record(directory: RecordDirectory) -> None:
    write(directory)
    path, lines = lines_of(directory)
    save(path, [*lines, b"hello"])
    with pytest.raises(BrokenChain, match="not a record"):
        verify_chains(directory)


def test_the_order_of_lines_does_not_matter(directory: RecordDirectory) -> None:
    """Archives are sorted by time, and a clock may be set back."""
    write(directory)
    path, lines = lines_of(directory)
    save(path, lines[::-1])
    assert verify_chains(directory).records == 6


def test_a_file_that_was_removed(directory: RecordDirectory) -> None:
    writer = write(directory)
    lines_of(directory)[0].unlink()
    with pytest.raises(BrokenChain) as broken:
        verify_chains(directory)
    assert broken.value.where == f"{writer.id}-1"


def test_a_file_that_was_inserted(directory: RecordDirectory, tmp_path: Path) -> None:
    write(directory)
    other = RecordDirectory(tmp_path / "other")
    writer = write(other)
    path, lines = lines_of(other)
    save(directory.live / path.name, lines)
    with pytest.raises(BrokenChain, match="inserted") as broken:
        verify_chains(directory)
    assert broken.value.where == f"{writer.id}-1"


def test_the_end_of_an_archived_chain_cannot_be_cut_off(directory: RecordDirectory) -> None:
    writer = write(directory)
    path, lines = lines_of(directory)
    archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)
    directory.archives()[0].unlink()
    save(path, lines[:-2])
    with pytest.raises(BrokenChain) as broken:
        verify_chains(directory)
    assert broken.value.where == f"{writer.id}-5"


def forge(directory: RecordDirectory) -> None:
    """Changes the last record and computes every hash anew, as somebody with the directory can."""
    path, lines = lines_of(directory)
    save(path, [*lines[:-1], lines[-1].replace(b'"n":4', b'"n":5')])


def test_an_anchor_finds_a_chain_that_was_computed_anew(directory: RecordDirectory, tmp_path: Path) -> None:
    writer = write(directory)
    anchor = tmp_path / "anchor.json"
    assert write_anchor(directory, anchor).records == 6
    assert check_anchor(directory, anchor).records == 6
    forge(directory)
    assert verify_chains(directory).records == 6
    with pytest.raises(BrokenChain) as broken:
        check_anchor(directory, anchor)
    assert broken.value.where == f"{writer.id}-6"


def test_an_anchor_knows_how_far_each_chain_came(directory: RecordDirectory, tmp_path: Path) -> None:
    writer = write(directory)
    write_anchor(directory, tmp_path / "anchor.json")
    path, lines = lines_of(directory)
    save(path, lines[:-1])
    assert verify_chains(directory).records == 5
    with pytest.raises(BrokenChain) as broken:
        check_anchor(directory, tmp_path / "anchor.json")
    assert broken.value.where == f"{writer.id}-6"


def test_an_anchor_holds_after_more_records_and_an_archive(directory: RecordDirectory, tmp_path: Path) -> None:
    write(directory)
    write_anchor(directory, tmp_path / "anchor.json")
    write(directory)
    archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)
    assert check_anchor(directory, tmp_path / "anchor.json").records == 12


def test_an_anchor_holds_after_old_records_were_removed(directory: RecordDirectory, tmp_path: Path) -> None:
    write(directory)
    write_anchor(directory, tmp_path / "anchor.json")
    archive_records_of_ended_writers(directory, timedelta(0), settle=0)
    assert check_anchor(directory, tmp_path / "anchor.json", timedelta(0)).records == 0
    with pytest.raises(BrokenChain, match="removed as too old"):
        check_anchor(directory, tmp_path / "anchor.json", timedelta(days=1))


def test_an_anchor_knows_the_list_of_writers(directory: RecordDirectory, tmp_path: Path) -> None:
    """Somebody removes a whole writer, and its line from chains.jsonl."""
    write(directory)
    write_anchor(directory, tmp_path / "anchor.json")
    lines_of(directory)[0].unlink()
    directory.chains.unlink()
    assert verify_chains(directory).records == 0
    with pytest.raises(BrokenChain):
        check_anchor(directory, tmp_path / "anchor.json")


def test_an_anchor_finds_records_that_only_a_forged_list_calls_too_old(
    directory: RecordDirectory, tmp_path: Path
) -> None:
    """Somebody removes everything, and writes that it was too old."""
    write(directory)
    write_anchor(directory, tmp_path / "anchor.json")
    lines_of(directory)[0].unlink()
    forged = {"event": "compacted", "number": 1000, "hash": "0" * 64, "writers": {}}
    directory.chains.write_text(json.dumps(forged) + "\n")
    assert verify_chains(directory).records == 0
    with pytest.raises(BrokenChain, match="removed as too old"):
        check_anchor(directory, tmp_path / "anchor.json")


def test_an_anchor_without_times_is_read(directory: RecordDirectory, tmp_path: Path) -> None:
    write(directory)
    anchor = tmp_path / "anchor.json"
    write_anchor(directory, anchor)
    known = json.loads(anchor.read_text())
    known["heads"] = {writer: head[:2] for writer, head in known["heads"].items()}
    anchor.write_text(json.dumps(known))
    assert check_anchor(directory, anchor).records == 6


def test_a_gap_of_something_that_is_no_number(directory: RecordDirectory) -> None:
    writer = RecordWriter(directory, {})
    writer.write(encode_record({"kind": "gap", "lost": "many"}))
    with pytest.raises(BrokenChain, match="not a record that hookline wrote"):
        verify_chains(directory)


def test_each_record_names_the_hash_of_the_one_before(directory: RecordDirectory) -> None:
    write(directory)
    _, lines = lines_of(directory)
    assert [json.loads(line)["previous"] for line in lines[1:]] == [line_hash(line) for line in lines[:-1]]


def test_what_is_known_of_old_writers_is_left_out(
    directory: RecordDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The list of writers does not grow for ever, and verify and anchors hold nevertheless."""
    monkeypatch.setattr(archive_module, "_MANY_CHAIN_LINES", 1)
    running = RecordWriter(directory, {})
    running.write(encode_record({"kind": "decision"}))
    for _ in range(5):
        write(directory)
    write_anchor(directory, tmp_path / "old.json")
    archive_records_of_ended_writers(directory, timedelta(0), settle=0)
    assert len(directory.chains.read_bytes().splitlines()) == 1
    assert verify_chains(directory).records == 2
    assert check_anchor(directory, tmp_path / "old.json", timedelta(0)).records == 2
    with pytest.raises(BrokenChain, match="removed as too old"):
        check_anchor(directory, tmp_path / "old.json", timedelta(days=1))
    write_anchor(directory, tmp_path / "new.json")
    running.write(encode_record({"kind": "decision"}))
    write(directory)
    assert check_anchor(directory, tmp_path / "new.json").records == 9
    forged = directory.chains.read_bytes().replace(running.id.encode(), b"0" * 16)
    directory.chains.write_bytes(forged)
    with pytest.raises(BrokenChain):
        verify_chains(directory)


def test_a_second_record_with_the_number_of_an_earlier_one(directory: RecordDirectory) -> None:
    writer = write(directory)
    path, lines = lines_of(directory)
    save(path, [*lines, lines[2].replace(b'"n":1', b'"n":9')])
    with pytest.raises(BrokenChain, match="two records") as broken:
        verify_chains(directory)
    assert broken.value.where == f"{writer.id}-3"
