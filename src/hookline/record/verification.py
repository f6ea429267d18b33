"""Recomputes the hash chains, and compares them with an anchor that was kept elsewhere."""

from __future__ import annotations

import hashlib
import heapq
import json
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import IO, Any, Final

from hookline.hooks.record_settings import DEFAULT_KEEP, MAX_RECORDS
from hookline.lazy_dataclasses import dataclass, field
from hookline.record.hash_chain import BrokenChain, ChainsFile, Head, WriterChain, line_hash
from hookline.record.head_file import NotedHead, read_heads
from hookline.record.record_reader import (
    ArchiveContent,
    line_time,
    open_archives,
    parse_record,
    read_lines,
    whole_lines,
)
from hookline.record.segment import LIVE_NAME, RecordDirectory, split_id

_MAX_ANCHOR: Final = 64 << 20  # bytes: half a million chains

_AFTER_ALL_TIMES: Final = "9"  # as a text, it comes after every time of a record


OnRecord = Callable[[], None]
"""Is called for each record that is read, to show how far it is."""


def _ignore() -> None:
    pass


@dataclass(frozen=True, slots=True)
class Verified:
    records: int
    lost: int  # records that could not be written, for example because the disk was full; their writers say so
    without_end: int  # chains whose end nobody noted: an earlier version wrote them, or the machine stopped meanwhile
    heads: dict[str, Head]
    times: dict[str, str]  # of the heads


@dataclass(slots=True)
class _Progress:
    """How far one writer's chain has been followed. `later` are records whose predecessors were not seen yet."""

    removed: Head  # the last record that was too old
    head: Head
    last: tuple[int, str] = (0, "")  # the highest number, and the time of that record
    later: dict[int, tuple[str, str]] = field(default_factory=dict)  # number → (previous, hash)
    early: dict[int, tuple[str, str]] = field(default_factory=dict)  # like `later`, of records up to `removed`
    seen: array[int] = field(default_factory=lambda: array("Q"))  # the beginnings of the hashes, up to the head
    misplaced: int = 0  # the first record whose line is not where it was written; 0: none

    def advance(self, hash: str) -> None:
        self.head = Head(self.head.number + 1, hash)
        self.seen.append(_beginning(hash))

    def note_misplaced(self, number: int) -> None:
        self.misplaced = min(number, self.misplaced or number)

    def is_same(self, number: int, hash: str) -> bool:
        """Whether a record up to the head is the one that was seen. Of those up to `removed`, none was."""
        if number == self.head.number and self.seen:
            return hash == self.head.hash
        at = len(self.seen) - 1 - (self.head.number - number)
        return at < 0 or self.seen[at] == _beginning(hash)


def _progress_after(removed: Head) -> _Progress:
    return _Progress(removed, removed)


def _beginning(hash: str) -> int:
    return int(hash[:16], 16)


class _LineOrder:
    """In which order lines must be: one writer's in its live files as it wrote them, those of an archive by their times."""

    def __init__(self) -> None:
        self._last: dict[str, tuple[Any, ...]] = {}  # of each writer's live files together, and of each archive

    def holds(self, where: str, id: tuple[str, int], at: str) -> bool:
        """Is asked for each line, as they are read: whether it comes after the one before it, and is in its writer's file."""
        writer, number = id
        live = LIVE_NAME.fullmatch(where)
        group, place = (live[1], (number,)) if live is not None else (where, (at, id))
        last, self._last[group] = self._last.get(group, ()), place
        return place > last and (live is None or live[1] == writer)


@dataclass(frozen=True, slots=True)
class _Notes:
    """What is noted about the chains, before or after their records are read: other processes may write meanwhile."""

    chains: dict[str, WriterChain]
    heads: dict[str, NotedHead]


def verify_chains(directory: RecordDirectory, on_record: OnRecord = _ignore) -> Verified:
    """Raises BrokenChain for the first record, or kept text of hooks, that was changed, removed or inserted."""
    while True:
        removed = _removed(directory)
        try:
            return _verify_chains(directory, on_record)
        except BrokenChain:
            if _removed(directory) == removed:  # else records that were too old went while others were read
                raise


def _removed(directory: RecordDirectory) -> dict[str, Head]:
    return {writer: chain.removed for writer, chain in ChainsFile(directory.chains).read().items()}


def _verify_chains(directory: RecordDirectory, on_record: OnRecord) -> Verified:
    before = _Notes(ChainsFile(directory.chains).read(), read_heads(directory))
    progress: dict[str, _Progress] = {}
    order = _LineOrder()
    misnamed: list[str] = []
    records = lost = 0
    for line, where in _lines(directory, misnamed):
        on_record()
        record = parse_record(line)
        writer, number = split_id(record["id"]) if record is not None else ("", 0)
        if record is None or not number:
            raise BrokenChain(where, "this is not a record that hookline wrote")
        if writer not in progress:
            progress[writer] = _progress_after(before.chains.get(writer, WriterChain()).removed)
        is_new = _follow(progress[writer], writer, number, (record.get("previous"), line_hash(line)))
        records += is_new
        if not order.holds(where, (writer, number), record["at"]):
            if not is_new:
                raise BrokenChain(record["id"], "a copy of it was inserted")
            progress[writer].note_misplaced(number)
        progress[writer].last = max(progress[writer].last, (number, record["at"]))
        lost += record.get("lost", 0) if record.get("kind") == "gap" else 0
    heads = read_heads(directory)  # before chains.jsonl, which has the end of a writer before its head is removed
    after = _Notes(ChainsFile(directory.chains).read(), heads)
    without_end = 0
    for writer in sorted({*progress, *before.chains, *before.heads}):
        _check_chain(directory, writer, progress.get(writer), before, after)
        without_end += not _check_end(writer, progress.get(writer), before, after)
    for name in misnamed:
        raise BrokenChain(f"archive/{name}", "it was renamed or damaged: its name does not fit its records")
    _check_hook_texts(directory)
    return Verified(
        records,
        lost,
        without_end,
        {writer: each.head for writer, each in progress.items()},
        {writer: each.last[1] for writer, each in progress.items()},
    )


def _follow(chain: _Progress, writer: str, number: int, link: tuple[Any, str]) -> int:
    """1 if the record was not seen before."""
    if number <= chain.removed.number:
        if chain.early.setdefault(number, link) != link:
            raise BrokenChain(f"{writer}-{number}", "there are two records with this number")
        return 0
    if number <= chain.head.number:
        if not chain.is_same(number, link[1]):
            raise BrokenChain(f"{writer}-{number}", "there are two records with this number")
        return 0
    if number in chain.later and chain.later[number] != link:
        raise BrokenChain(f"{writer}-{number}", "there are two records with this number")
    is_new = number not in chain.later
    chain.later[number] = link
    while (following := chain.later.pop(chain.head.number + 1, None)) is not None:
        number = chain.head.number + 1
        if following[0] != chain.head.hash:
            what = "it was changed, or the record before it was changed, removed or inserted"
            raise BrokenChain(f"{writer}-{number}", what)
        chain.advance(following[1])
    return is_new


def _check_early(chain: _Progress, writer: str) -> None:
    """Records that were removed may still be there, if the process that removed them was killed: the last ones, as they were."""
    expected = chain.removed
    for number, (previous, hash) in sorted(chain.early.items(), reverse=True):
        if number != expected.number:
            raise BrokenChain(f"{writer}-{number}", "this record was inserted: those after it were removed as too old")
        if hash != expected.hash:
            raise BrokenChain(f"{writer}-{number}", "it was changed, or inserted after it was removed as too old")
        expected = Head(number - 1, previous)


def _check_chain(
    directory: RecordDirectory, writer: str, chain: _Progress | None, before: _Notes, after: _Notes
) -> None:
    """Against what chains.jsonl says."""
    known, known_now = before.chains.get(writer), after.chains.get(writer)
    if known_now is None:
        if known is not None or (chain is None and not before.heads[writer].least.number):
            return  # its records were too old, and it was left out meanwhile; or it was killed before its first one
        raise BrokenChain(f"{writer}-1", "this writer is not in chains.jsonl, so its records were inserted")
    if chain is not None and chain.later:
        raise BrokenChain(f"{writer}-{chain.head.number + 1}", "this record was removed")
    if chain is not None:
        _check_early(chain, writer)
        if chain.misplaced:
            raise BrokenChain(f"{writer}-{chain.misplaced}", "it was moved: its writer wrote it at another place")
    if known is not None:
        _check_least(writer, chain or _progress_after(known_now.removed), known.known)
    if chain is None and known_now.has_file and not any(directory.live.glob(f"{writer}-*")):
        raise BrokenChain(f"{writer}-1", "this writer's file was removed")


def _check_least(writer: str, chain: _Progress, least: Head) -> None:
    """That this record is there, and as it was."""
    if chain.head.number < least.number:
        raise BrokenChain(f"{writer}-{chain.head.number + 1}", "this record was removed")
    if not chain.is_same(least.number, least.hash):
        raise BrokenChain(f"{writer}-{least.number}", "it was changed")


def _check_most(writer: str, chain: _Progress, most: Head) -> None:
    """That no record follows this one, and that it is as it was, if it is there."""
    if chain.head.number >= most.number and not chain.is_same(most.number, most.hash):
        raise BrokenChain(f"{writer}-{most.number}", "it was changed")
    if chain.head.number > most.number:
        raise BrokenChain(f"{writer}-{most.number + 1}", "this record was inserted")


def _check_end(writer: str, chain: _Progress | None, before: _Notes, after: _Notes) -> bool:
    """Against what its writer noted. False if nobody noted anything, or if the machine stopped before it was on the disk."""
    known = after.chains.get(writer, WriterChain())
    least, most = before.heads.get(writer), after.heads.get(writer)
    if known.end is None and most is None and chain is not None:
        if known.has_head:
            last = f"{writer}-{chain.head.number}"
            raise BrokenChain(last, "what its writer noted about the end of its records in heads/ was removed")
        return False
    try:
        found = chain or _progress_after(known.removed)
        if least is not None:
            _check_least(writer, found, least.least)
        if known.end is not None:
            _check_most(writer, found, known.end)
        elif most is not None:
            _check_most(writer, found, most.last)
    except BrokenChain:
        noted = most or least
        if noted is None or not noted.is_of_earlier_boot:
            raise
        return False
    return True


def _check_hook_texts(directory: RecordDirectory) -> None:
    for path in sorted(directory.hooks.glob("*.json")):
        with suppress(FileNotFoundError):  # it was too old
            if hashlib.sha256(path.read_bytes()).hexdigest() != path.stem:
                raise BrokenChain(f"hooks/{path.name}", "the texts of these hooks were changed")


def _lines(directory: RecordDirectory, misnamed: list[str]) -> Iterator[tuple[bytes, str]]:
    """All lines, those of archives by time. Live files are read first: one that is archived meanwhile is seen twice.

    At the end, `misnamed` has the names of archives that say something else than their records.
    """
    live = [(line, path.name) for path in directory.live_segments() for line in read_lines(path)]
    archived = [_named_lines(path, file, misnamed) for path, file in open_archives(directory)]
    yield from heapq.merge(*archived, key=lambda row: line_time(row[0]))
    yield from live


def _named_lines(path: Path, file: IO[bytes], misnamed: list[str]) -> Iterator[tuple[bytes, str]]:
    content = ArchiveContent()
    with file:
        for line in whole_lines(file):
            content.add(line)
            yield line, path.name
    if not content.has_name(path):
        misnamed.append(path.name)


def write_anchor(directory: RecordDirectory, path: Path, on_record: OnRecord = _ignore) -> Verified:
    """Verifies, and writes how far every chain came. Raises BrokenChain or OSError."""
    verified = verify_chains(directory, on_record)
    chains = ChainsFile(directory.chains).head()
    heads = {
        writer: [head.number, head.hash, verified.times[writer]] for writer, head in sorted(verified.heads.items())
    }
    path.write_text(json.dumps({"chains": [chains.number, chains.hash], "heads": heads}, indent=1) + "\n")
    return verified


def _read_anchor(path: Path) -> bytes:
    """Raises OSError or ValueError."""
    if not path.is_file():  # a device may never end
        raise ValueError(f"{path} is not a regular file")
    with path.open("rb") as file:
        data = file.read(_MAX_ANCHOR + 1)
    if len(data) > _MAX_ANCHOR:
        raise ValueError(f"{path} is larger than {_MAX_ANCHOR >> 20} MB")
    return data


def check_anchor(
    directory: RecordDirectory, path: Path, keep: timedelta | None = DEFAULT_KEEP, on_record: OnRecord = _ignore
) -> Verified:
    """Verifies, and checks that everything the anchor knows is still there, unless it is older than `keep`.

    Raises BrokenChain, OSError or ValueError.
    """
    anchor = json.loads(_read_anchor(path))
    verified = verify_chains(directory, on_record)
    number, digest = anchor["chains"]
    chains = ChainsFile(directory.chains)
    is_older = number < chains.left_out  # lines of then were left out, because no record of their writers is kept
    if number and not is_older and chains.hash_at(number) != digest:
        raise BrokenChain(f"chains.jsonl:{number}", "it is not as it was when the anchor was written")
    known = chains.read()
    oldest = _oldest_kept(keep, verified.records)
    for writer, (last, _, *at) in anchor["heads"].items():  # older anchors have no time
        if (is_older and writer not in known) or last <= known.get(writer, WriterChain()).removed.number:
            if at and at[0] >= oldest:
                raise BrokenChain(f"{writer}-{last}", f"it was removed as too old, but it is of {at[0]}")
        elif verified.heads.get(writer, Head()).number < last:
            raise BrokenChain(f"{writer}-{last}", "the anchor knows this record, but it was removed")
    _compare_hashes(directory, {writer: Head(*head[:2]) for writer, head in anchor["heads"].items()})
    return verified


def _oldest_kept(keep: timedelta | None, records: int) -> str:
    """Records from this time on are not removed, unless there are too many."""
    if keep is None or records > MAX_RECORDS // 2:
        return _AFTER_ALL_TIMES
    return (datetime.now(UTC) - keep).isoformat()


def _compare_hashes(directory: RecordDirectory, wanted: dict[str, Head]) -> None:
    ends = {f"{writer}-{head.number}": head.hash for writer, head in wanted.items()}
    for line, _ in _lines(directory, []):
        record = parse_record(line)
        if record is not None and ends.get(record["id"], line_hash(line)) != line_hash(line):
            raise BrokenChain(record["id"], "it is not as it was when the anchor was written")
