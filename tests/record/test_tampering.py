"""What somebody can do to the record, and what `verify` says of it without and with an anchor: the table of docs/record.md."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from hookline.record import writer as writer_module
from hookline.record.archive import archive_records_of_ended_writers
from hookline.record.hash_chain import BrokenChain, line_hash
from hookline.record.head_file import read_boot_id, read_head
from hookline.record.record_reader import ArchiveContent
from hookline.record.segment import RecordDirectory
from hookline.record.verification import check_anchor, verify_chains, write_anchor
from hookline.record.writer import RecordWriter, encode_record

Lines = list[bytes]


def write(directory: RecordDirectory, count: int) -> str:
    writer = RecordWriter(directory, {})
    for n in range(count):
        writer.write(encode_record({"kind": "decision", "n": n}))
    writer.close()
    return writer.id


class Attacked:
    """A record with an archive of two writers, a writer of two live files and one of a single live file."""

    def __init__(self, directory: RecordDirectory, monkeypatch: pytest.MonkeyPatch) -> None:
        self.directory = directory
        self.archived = [write(directory, 6) for _ in range(2)]
        archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)
        with monkeypatch.context() as small:
            small.setattr(writer_module, "SEGMENT_BYTES", 700)
            self.split = write(directory, 5)
        self.single = write(directory, 5)
        text = b'{"files": []}'
        (directory.hooks / f"{hashlib.sha256(text).hexdigest()}.json").write_bytes(text)

    def live(self, writer: str, segment: int = 1) -> Path:
        return self.directory.live / f"{writer}-{segment}.jsonl"

    @property
    def archive(self) -> Path:
        (path,) = self.directory.archives()
        return path

    def change_live(self, change: Callable[[Lines], object]) -> None:
        path = self.live(self.single)
        save(path, changed(path.read_bytes(), change))

    def change_archive(self, change: Callable[[Lines], object], rename: bool = True) -> None:
        path = self.archive
        lines = changed(gzip.decompress(path.read_bytes()), change)
        path.write_bytes(gzip.compress(b"".join(line + b"\n" for line in lines)))
        if rename:
            path.rename(path.with_name(ArchiveContent(lines).name))


def changed(data: bytes, change: Callable[[Lines], object]) -> Lines:
    lines = data.splitlines()
    change(lines)
    return lines


def save(path: Path, lines: Lines) -> None:
    path.write_bytes(b"".join(line + b"\n" for line in lines))


def swap(first: int, second: int) -> Callable[[Lines], object]:
    def change(lines: Lines) -> None:
        lines[first], lines[second] = lines[second], lines[first]

    return change


def edit(at: int) -> Callable[[Lines], object]:
    return lambda lines: lines.__setitem__(at, re.sub(rb'"n":\d', b'"n":9', lines[at]))


def insert_record(at: int) -> Callable[[Lines], object]:
    """A record with the next number and the right hash of the one before it."""

    def change(lines: Lines) -> None:
        before = json.loads(lines[at])
        writer, number = before["id"].split("-")
        value = {**before, "id": f"{writer}-{int(number) + 1}", "previous": line_hash(lines[at])}
        lines.insert(at + 1, json.dumps(value, separators=(",", ":")).encode())

    return change


def computed_anew(lines: Lines) -> Lines:
    """With hashes that fit."""
    result: Lines = []
    for line in lines:
        previous = line_hash(result[-1]) if result else "0" * 64
        result.append(re.sub(rb'"previous":"\w+"', f'"previous":"{previous}"'.encode(), line))
    return result


def note_end(head: Path, lines: Lines) -> None:
    boot = read_head(head).boot
    head.write_text(f"{len(lines):020} {line_hash(lines[-1])} {line_hash(lines[-2])} d\n{boot}\n")


def forge_chain(attacked: Attacked) -> None:
    path = attacked.live(attacked.single)
    lines = computed_anew(changed(path.read_bytes(), edit(2)))
    save(path, lines)
    note_end(attacked.directory.heads / attacked.single, lines)


def cut_off_and_note(attacked: Attacked) -> None:
    path = attacked.live(attacked.single)
    lines = path.read_bytes().splitlines()[:-2]
    save(path, lines)
    note_end(attacked.directory.heads / attacked.single, lines)


def cut_off_after_a_power_failure(attacked: Attacked) -> None:
    """That is what somebody pretends who changes the name of the boot."""
    attacked.change_live(lambda lines: lines.pop())
    head = attacked.directory.heads / attacked.single
    head.write_text(head.read_text().replace(read_head(head).boot, "another"))


def remove_writer(attacked: Attacked) -> None:
    attacked.live(attacked.single).unlink()
    (attacked.directory.heads / attacked.single).unlink()


def remove_writer_from_the_list_too(attacked: Attacked) -> None:
    remove_writer(attacked)
    *others, last = attacked.directory.chains.read_bytes().splitlines()
    assert attacked.single.encode() in last
    save(attacked.directory.chains, others)


def move_to_another_writer(attacked: Attacked) -> None:
    source, target = attacked.live(attacked.single), attacked.live(attacked.split, 2)
    lines = source.read_bytes().splitlines()
    save(target, [*target.read_bytes().splitlines(), lines.pop(3)])
    save(source, lines)


def move_to_another_file_of_the_writer(attacked: Attacked) -> None:
    first, second = attacked.live(attacked.split), attacked.live(attacked.split, 2)
    lines = first.read_bytes().splitlines()
    save(second, [*second.read_bytes().splitlines(), lines.pop(1)])
    save(first, lines)


def swap_files(attacked: Attacked) -> None:
    first, second = attacked.live(attacked.split), attacked.live(attacked.split, 2)
    data = first.read_bytes(), second.read_bytes()
    first.write_bytes(data[1])
    second.write_bytes(data[0])


def rename_archive(attacked: Attacked) -> None:
    """Such a file is removed as too old."""
    path = attacked.archive
    path.rename(path.with_name(re.sub(r"\d{4}-\d\d-\d\d", "2001-01-01", path.name)))


def truncate(path: Path, end: int) -> None:
    path.write_bytes(path.read_bytes()[:end])


def change_hash(head: Path) -> None:
    """In its last digit."""
    data = head.read_bytes()
    end = data.index(b" ", len(data.split(b" ")[0]) + 1)
    head.write_bytes(data[: end - 1] + (b"1" if data[end - 1 : end] == b"0" else b"0") + data[end:])


def rewrite(path: Path, old: bytes, new: bytes) -> None:
    data = path.read_bytes()
    assert old in data
    path.write_bytes(data.replace(old, new))


LIVE: dict[str, Callable[[Lines], object]] = {
    "a record is changed": edit(2),
    "the first record is changed": lambda lines: lines.__setitem__(0, lines[0].replace(b'"pid":', b'"pid":1')),
    "the last record is changed": edit(-1),
    "the first record is removed": lambda lines: lines.pop(0),
    "a record is removed": lambda lines: lines.pop(3),
    "the last record is removed": lambda lines: lines.pop(),
    "all records are removed": lambda lines: lines.clear(),
    "a record is inserted": insert_record(2),
    "a record is inserted at the end": insert_record(-1),
    "a record is copied": lambda lines: lines.insert(4, lines[2]),
    "a record is copied to the end": lambda lines: lines.append(lines[2]),
    "two records are swapped": swap(2, 3),
    "the last two are swapped": swap(-2, -1),
    "the order is reversed": lambda lines: lines.reverse(),
    "a record is moved to the end": lambda lines: lines.append(lines.pop(2)),
    "line ends are those of Windows": lambda lines: lines.__setitem__(slice(None), [line + b"\r" for line in lines]),
    "an empty line is inserted": lambda lines: lines.insert(2, b""),
    "two lines are joined": lambda lines: lines.__setitem__(slice(2, 4), [lines[2] + lines[3]]),
    "a byte order mark is put first": lambda lines: lines.__setitem__(0, b"\xef\xbb\xbf" + lines[0]),
}

FOUND: dict[str, Callable[[Attacked], object]] = {
    **{f"live: {name}": lambda attacked, do=do: attacked.change_live(do) for name, do in LIVE.items()},
    **{f"archive: {name}": lambda attacked, do=do: attacked.change_archive(do) for name, do in LIVE.items()},
    "an archive's records are swapped, under its old name": lambda attacked: attacked.change_archive(swap(2, 3), False),
    "the last line is cut": lambda attacked: truncate(attacked.live(attacked.single), -20),
    "the last line end is cut": lambda attacked: truncate(attacked.live(attacked.single), -1),
    "a record is moved into another writer's file": move_to_another_writer,
    "a record is moved into another file of its writer": move_to_another_file_of_the_writer,
    "two files of a writer are swapped": swap_files,
    "a live file is removed": lambda attacked: attacked.live(attacked.single).unlink(),
    "a live file is renamed": lambda attacked: attacked.live(attacked.single).rename(
        attacked.directory.live / "x.jsonl"
    ),
    "the first of two files is removed": lambda attacked: attacked.live(attacked.split).unlink(),
    "the second of two files is removed": lambda attacked: attacked.live(attacked.split, 2).unlink(),
    "all of a writer is removed, but it is in the list": remove_writer,
    "an archive is removed": lambda attacked: attacked.archive.unlink(),
    "an archive is cut": lambda attacked: truncate(attacked.archive, -60),
    "an archive is emptied": lambda attacked: truncate(attacked.archive, 0),
    "an archive is renamed": rename_archive,
    "a head is removed": lambda attacked: (attacked.directory.heads / attacked.single).unlink(),
    "a head has a higher number": lambda attacked: rewrite(attacked.directory.heads / attacked.single, b"06 ", b"07 "),
    "a head has a lower number": lambda attacked: rewrite(attacked.directory.heads / attacked.single, b"06 ", b"05 "),
    "a head has another hash": lambda attacked: change_hash(attacked.directory.heads / attacked.single),
    "a head is no head": lambda attacked: (attacked.directory.heads / attacked.single).write_text("6"),
    "a line of the list is changed": lambda attacked: rewrite(attacked.directory.chains, b'"ended"', b'"begun"'),
    "the list is removed": lambda attacked: attacked.directory.chains.unlink(),
    "the first line of the list is removed": lambda attacked: save(
        attacked.directory.chains, attacked.directory.chains.read_bytes().splitlines()[1:]
    ),
    "the last line of the list is removed": lambda attacked: save(
        attacked.directory.chains, attacked.directory.chains.read_bytes().splitlines()[:-1]
    ),
    "the texts of hooks are changed": lambda attacked: [
        path.write_text("{}") for path in attacked.directory.hooks.iterdir()
    ],
}


@pytest.fixture
def attacked(directory: RecordDirectory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Attacked:
    made = Attacked(directory, monkeypatch)
    assert write_anchor(directory, tmp_path / "anchor.json").without_end == 0
    return made


def is_found(directory: RecordDirectory, anchor: Path | None = None) -> bool:
    try:
        if anchor is None:
            verify_chains(directory)
        else:
            check_anchor(directory, anchor)
    except BrokenChain:
        return True
    return False


def test_an_untouched_record_is_intact(attacked: Attacked, tmp_path: Path) -> None:
    assert verify_chains(attacked.directory).records == 26
    assert not is_found(attacked.directory, tmp_path / "anchor.json")


@pytest.mark.parametrize("attack", FOUND.values(), ids=FOUND)
def test_what_is_found(attacked: Attacked, tmp_path: Path, attack: Callable[[Attacked], object]) -> None:
    attack(attacked)
    assert is_found(attacked.directory)
    assert is_found(attacked.directory, tmp_path / "anchor.json")


FOUND_BY_AN_ANCHOR: dict[str, Callable[[Attacked], object]] = {
    "a chain is computed anew": forge_chain,
    "the end of a chain is cut off, and its head changed": cut_off_and_note,
    "a power failure is pretended": cut_off_after_a_power_failure,
    "a writer is removed from the list too": remove_writer_from_the_list_too,
    "everything is removed": lambda attacked: shutil.rmtree(attacked.directory.path),
}


@pytest.mark.parametrize("attack", FOUND_BY_AN_ANCHOR.values(), ids=FOUND_BY_AN_ANCHOR)
def test_what_only_an_anchor_finds(attacked: Attacked, tmp_path: Path, attack: Callable[[Attacked], object]) -> None:
    attack(attacked)
    assert not is_found(attacked.directory)
    assert is_found(attacked.directory, tmp_path / "anchor.json")


def test_an_older_state_is_found_by_an_anchor(attacked: Attacked, tmp_path: Path) -> None:
    """Somebody puts a backup in the place of the record."""
    shutil.copytree(attacked.directory.path, tmp_path / "backup")
    write(attacked.directory, 3)
    write_anchor(attacked.directory, tmp_path / "newer.json")
    shutil.rmtree(attacked.directory.path)
    shutil.copytree(tmp_path / "backup", attacked.directory.path)
    assert not is_found(attacked.directory)
    assert not is_found(attacked.directory, tmp_path / "anchor.json")
    assert is_found(attacked.directory, tmp_path / "newer.json")


def test_an_anchor_of_another_record(attacked: Attacked, tmp_path: Path) -> None:
    other = RecordDirectory(tmp_path / "other")
    write(other, 3)
    write_anchor(other, tmp_path / "other.json")
    assert is_found(attacked.directory, tmp_path / "other.json")


def test_an_anchor_does_not_know_what_is_younger(attacked: Attacked, tmp_path: Path) -> None:
    attacked.single = write(attacked.directory, 3)
    forge_chain(attacked)
    assert not is_found(attacked.directory, tmp_path / "anchor.json")


def split_archive(attacked: Attacked) -> None:
    """Into two, each of which has a name that fits."""
    lines = gzip.decompress(attacked.archive.read_bytes()).splitlines()
    attacked.archive.unlink()
    for part in (lines[::2], lines[1::2]):
        path = attacked.directory.archive / ArchiveContent(part).name
        path.write_bytes(gzip.compress(b"".join(line + b"\n" for line in part)))


NOT_FOUND: dict[str, Callable[[Attacked], object]] = {
    "the texts of hooks are removed": lambda attacked: [path.unlink() for path in attacked.directory.hooks.iterdir()],
    "bytes without a line end follow the last record": lambda attacked: attacked.live(attacked.single).write_bytes(
        attacked.live(attacked.single).read_bytes() + b'{"id":'
    ),
    "an archive is split": split_archive,
    "a head names another start of the machine": lambda attacked: rewrite(
        attacked.directory.heads / attacked.single, read_boot_id().encode(), b"0" * 8
    ),
}


@pytest.mark.parametrize("attack", NOT_FOUND.values(), ids=NOT_FOUND)
def test_what_is_not_found(attacked: Attacked, tmp_path: Path, attack: Callable[[Attacked], object]) -> None:
    """It changes no record, and hookline itself does the same, or leaves it on a full disk or when it is killed."""
    attack(attacked)
    assert verify_chains(attacked.directory).records == 26
    assert not is_found(attacked.directory, tmp_path / "anchor.json")


def test_a_renamed_archive_is_not_removed_as_too_old(attacked: Attacked) -> None:
    rename_archive(attacked)
    archive_records_of_ended_writers(attacked.directory, timedelta(days=1), settle=0)
    with pytest.raises(BrokenChain, match="renamed"):
        verify_chains(attacked.directory)


def test_archiving_puts_records_back_in_order(attacked: Attacked) -> None:
    attacked.change_live(swap(2, 3))
    with pytest.raises(BrokenChain, match="moved") as broken:
        verify_chains(attacked.directory)
    assert broken.value.where == f"{attacked.single}-3"
    archive_records_of_ended_writers(attacked.directory, timedelta(days=1), settle=0)
    assert verify_chains(attacked.directory).records == 26
