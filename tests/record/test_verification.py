from __future__ import annotations

import gzip
import json
import re
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path

import pytest

from hookline.record import archive as archive_module
from hookline.record import head_file
from hookline.record import writer as writer_module
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


def inserted_after(last: bytes) -> bytes:
    """A record that fits: its number and the hash in it are right."""
    record = json.loads(last)
    writer, number = record["id"].split("-")
    value = {**record, "id": f"{writer}-{int(number) + 1}", "previous": line_hash(last)}
    return json.dumps(value, separators=(",", ":")).encode()


AT_THE_END = {
    "the last record is cut off": (lambda lines: lines.pop(), 16),
    "the last ten are": (lambda lines: lines.__delitem__(slice(6, None)), 7),
    "all are": (lambda lines: lines.clear(), 1),
    "the last one is changed": (lambda lines: lines.append(lines.pop().replace(b'"n":14', b'"n":15')), 16),
    "the last byte is changed": (lambda lines: lines.append(lines.pop()[:-2] + b"5}"), 16),
    "one is inserted after the last": (lambda lines: lines.append(inserted_after(lines[-1])), 17),
    "the last one is changed, and one inserted after it": (
        lambda lines: lines.extend([last := lines.pop().replace(b'"n":14', b'"n":15'), inserted_after(last)]),
        16,
    ),
}


@pytest.mark.parametrize("then", ["", "archive"])
@pytest.mark.parametrize("runs", [False, True])
@pytest.mark.parametrize(("change", "where"), AT_THE_END.values(), ids=AT_THE_END)
def test_the_end_of_a_chain(directory: RecordDirectory, change: object, where: int, runs: bool, then: str) -> None:
    """Also if its writer has ended, and its records are archived after the change."""
    writer = RecordWriter(directory, {})
    for n in range(15):
        writer.write(encode_record({"kind": "decision", "n": n}))
    if not runs:
        writer.close()
    path, lines = lines_of(directory)
    change(lines)  # type: ignore[operator]
    save(path, lines)
    if then == "archive":
        archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)
        archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)
        assert (directory.head_files() == []) is not runs
    with pytest.raises(BrokenChain) as broken:
        verify_chains(directory)
    assert broken.value.where == f"{writer.id}-{where}"


@pytest.mark.parametrize(("change", "where"), AT_THE_END.values(), ids=AT_THE_END)
def test_the_end_of_an_archived_chain(directory: RecordDirectory, change: object, where: int) -> None:
    writer = write(directory, 15)
    archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)
    (path,) = directory.archives()
    lines = gzip.decompress(path.read_bytes()).splitlines()
    change(lines)  # type: ignore[operator]
    path.write_bytes(gzip.compress(b"".join(line + b"\n" for line in lines)))
    with pytest.raises(BrokenChain) as broken:
        verify_chains(directory)
    assert broken.value.where == f"{writer.id}-{where}"


def test_the_last_file_of_a_writer_is_removed(directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "SEGMENT_BYTES", 700)
    writer = write(directory, 15)
    *_, last = directory.live_segments()
    first_of_last = json.loads(last.read_bytes().splitlines()[0])["id"]
    last.unlink()
    with pytest.raises(BrokenChain) as broken:
        verify_chains(directory)
    assert broken.value.where == first_of_last
    assert writer.id


def test_a_head_that_was_removed(directory: RecordDirectory) -> None:
    writer = write(directory)
    directory.head_files()[0].unlink()
    for _ in range(2):
        with pytest.raises(BrokenChain, match="heads/ was removed") as broken:
            verify_chains(directory)
        assert broken.value.where == f"{writer.id}-6"
        archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)


def test_the_last_writer_is_removed_from_the_list(directory: RecordDirectory) -> None:
    write(directory)
    writer = write(directory)
    for path in directory.live_segments():
        if path.name.startswith(writer.id):
            path.unlink()
    lines = directory.chains.read_bytes().splitlines()
    save(directory.chains, lines[:-1])
    for _ in range(2):
        with pytest.raises(BrokenChain, match="records were inserted"):
            verify_chains(directory)
        archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)


def test_records_of_an_earlier_version_have_no_end(directory: RecordDirectory) -> None:
    write(directory)
    assert verify_chains(directory).without_end == 0
    directory.chains.write_bytes(directory.chains.read_bytes().replace(b'"begun"', b'"opened"'))
    directory.head_files()[0].unlink()
    path, lines = lines_of(directory)
    save(path, lines[:-1])
    verified = verify_chains(directory)
    assert (verified.records, verified.without_end) == (5, 1)
    archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)
    assert verify_chains(directory).without_end == 1


@pytest.mark.parametrize("lost", [b"records", b"heads", b""])
def test_a_machine_that_lost_its_power(
    directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch, lost: bytes
) -> None:
    """Records and heads are on the disk as far as the system had written them."""
    write(directory)
    path, lines = lines_of(directory)
    (head,) = directory.head_files()
    if lost == b"records":
        save(path, lines[:-2])
    elif lost == b"heads":
        head.write_bytes(re.sub(rb"^\S+", f"{4:020}".encode(), head.read_bytes()))
    with pytest.raises(BrokenChain) if lost else nullcontext():
        verify_chains(directory)
    monkeypatch.setattr(head_file, "read_boot_id", lambda: "another")
    for _ in range(2):
        assert verify_chains(directory).without_end == bool(lost)
        archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)
    assert directory.head_files() == []
    (path,) = directory.archives()
    path.write_bytes(gzip.compress(b"".join(gzip.decompress(path.read_bytes()).splitlines(keepends=True)[:-1])))
    with pytest.raises(BrokenChain):
        verify_chains(directory)


def forge(directory: RecordDirectory, lines: list[bytes]) -> None:
    """Replaces a writer's records, and what is noted about their end, as somebody with the whole directory can."""
    path, _ = lines_of(directory)
    save(path, lines)
    (head,) = directory.head_files()
    boot = head.read_bytes().splitlines()[1].decode()
    end, previous = line_hash(lines[-1]), line_hash(lines[-2])
    head.write_text(f"{len(lines):020} {end} {previous} d\n{boot}\n")


def test_an_anchor_finds_a_chain_that_was_computed_anew(directory: RecordDirectory, tmp_path: Path) -> None:
    writer = write(directory)
    anchor = tmp_path / "anchor.json"
    assert write_anchor(directory, anchor).records == 6
    assert check_anchor(directory, anchor).records == 6
    *before, last = lines_of(directory)[1]
    forge(directory, [*before, last.replace(b'"n":4', b'"n":5')])
    assert verify_chains(directory).records == 6
    with pytest.raises(BrokenChain) as broken:
        check_anchor(directory, anchor)
    assert broken.value.where == f"{writer.id}-6"


def test_an_anchor_knows_how_far_each_chain_came(directory: RecordDirectory, tmp_path: Path) -> None:
    writer = write(directory)
    write_anchor(directory, tmp_path / "anchor.json")
    forge(directory, lines_of(directory)[1][:-1])
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
    """Somebody removes a whole writer, its head, and its line from chains.jsonl."""
    write(directory)
    write_anchor(directory, tmp_path / "anchor.json")
    for path in (lines_of(directory)[0], *directory.head_files(), directory.chains):
        path.unlink()
    assert verify_chains(directory).records == 0
    with pytest.raises(BrokenChain):
        check_anchor(directory, tmp_path / "anchor.json")


def test_an_anchor_finds_records_that_only_a_forged_list_calls_too_old(
    directory: RecordDirectory, tmp_path: Path
) -> None:
    """Somebody removes everything, and writes that it was too old."""
    write(directory)
    write_anchor(directory, tmp_path / "anchor.json")
    for path in (lines_of(directory)[0], *directory.head_files()):
        path.unlink()
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
