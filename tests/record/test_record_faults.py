"""What must hold whatever happens to the processes, the disk and the clock.

No record whose decision the caller has is lost, none is there twice, and all chains are whole.
"""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.record.record_reader import Record, read_records
from hookline.record.segment import RecordDirectory, record_directory
from hookline.record.verification import verify_chains

PROCESS = Path(__file__).with_name("record_process.py")
ENDLESS = 1_000_000


class Writers:
    """Processes that write into one record, and what they were told of."""

    def __init__(self, path: Path) -> None:
        self.state = path / "state"
        self.acks = path / "acks"
        self.complaints = path / "complaints"
        self.acks.touch()
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, *words: object) -> subprocess.Popen[bytes]:
        what, *rest = words
        out = self.complaints if what in ("read", "archive") else self.acks
        argv = [sys.executable, str(PROCESS), str(what), str(self.state), str(out), *map(str, rest)]
        process = subprocess.Popen(argv)
        self.running.append(process)
        return process

    def kill(self, process: subprocess.Popen[bytes]) -> None:
        process.kill()
        process.wait()
        self.running.remove(process)

    @property
    def acknowledged(self) -> list[str]:
        return [line[:-1] for line in self.acks.read_text().splitlines() if line.endswith(";")]

    def wait_for(self, more: int) -> None:
        """Until that many more records were acknowledged."""
        wanted, deadline = len(self.acknowledged) + more, time.monotonic() + 60
        while len(self.acknowledged) < wanted:
            assert time.monotonic() < deadline
            time.sleep(0.01)

    @property
    def directory(self) -> RecordDirectory:
        return record_directory(self.state)

    def records(self) -> list[Record]:
        return [record for record in read_records(self.directory) if record["kind"] == "decision"]


@pytest.fixture
def writers(tmp_path: Path) -> Iterator[Writers]:
    started = Writers(tmp_path)
    yield started
    for process in list(started.running):
        started.kill(process)


def names(records: list[Record]) -> Counter[str]:
    return Counter(record["facts"]["tool"]["input"]["command"].split()[1] for record in records)


def describe_loss(writers: Writers, missing: Counter[str]) -> str:
    """Whether the writers themselves say that they could not write, and where records may be."""
    gaps = [record for record in read_records(writers.directory) if record["kind"] == "gap"]
    files = [f"{path.relative_to(writers.state)} {path.stat().st_size}" for path in writers.state.rglob("*.*")]
    where = {
        name: [path.name for path in writers.state.rglob("*.jsonl") if name in path.read_text()] for name in missing
    }
    return "\n".join([f"acknowledged records are lost: {where}", f"gaps: {gaps}", *sorted(files)])


def assert_nothing_is_lost(writers: Writers, most_unacknowledged: int) -> None:
    found, known = names(writers.records()), Counter(writers.acknowledged)
    assert not known - found, describe_loss(writers, known - found)
    assert max(found.values()) == 1, "a record is there twice"
    assert (found - known).total() <= most_unacknowledged  # written, and killed before the caller had its answer
    verified = verify_chains(writers.directory)
    assert verified.lost == 0
    assert not writers.complaints.exists(), writers.complaints.read_text()


def kill_at_random(writers: Writers, seed: int, kills: int, clock: str = "") -> None:
    chance = random.Random(seed)
    roles = [*[("write", ENDLESS, clock)] * 3, ("read", 0, ""), ("archive", 0, "")]
    running = [(role, writers.start(role[0], chance.getrandbits(30), *role[1:])) for role in roles]
    for _ in range(kills):
        writers.wait_for(chance.randint(1, 60))
        role, process = running.pop(chance.randrange(len(running)))
        writers.kill(process)
        running.append((role, writers.start(role[0], chance.getrandbits(30), *role[1:])))
    writers.wait_for(20)
    for _, process in running:
        writers.kill(process)
    assert_nothing_is_lost(writers, kills + len(running))


def test_three_writers_a_reader_and_an_archiver_are_killed(writers: Writers) -> None:
    kill_at_random(writers, 1, kills=4)


@pytest.mark.slow
def test_the_clock_is_set_back(writers: Writers) -> None:
    kill_at_random(writers, 2, kills=2, clock="clock")


@pytest.mark.slow
@pytest.mark.parametrize("clock", ["", "clock"])
@pytest.mark.parametrize("seed", range(10, 14))
def test_three_writers_a_reader_and_an_archiver_are_killed_many_times(writers: Writers, seed: int, clock: str) -> None:
    kill_at_random(writers, seed, kills=40, clock=clock)


def write_at_once(writers: Writers, processes: int, count: int) -> None:
    beside = [writers.start("read", 1), writers.start("archive", 1)]
    assert writers.start("fork", processes, count).wait(timeout=300) == 0
    for process in beside:
        writers.kill(process)
    assert len(writers.acknowledged) == processes * count
    assert_nothing_is_lost(writers, 0)
    assert len({record["id"].split("-")[0] for record in writers.records()}) == processes


@pytest.mark.slow
def test_ten_processes_at_once(writers: Writers) -> None:
    write_at_once(writers, 10, 20)


@pytest.mark.slow
def test_a_hundred_processes_at_once(writers: Writers) -> None:
    write_at_once(writers, 100, 200)


def assert_lost_records_are_counted(writers: Writers) -> None:
    """Some could not be written; the next one that could says how many."""
    found, known = names(writers.records()), Counter(writers.acknowledged)
    lost = sum(record["lost"] for record in read_records(writers.directory) if record["kind"] == "gap")
    assert lost > 0
    assert max(found.values()) == 1
    assert not found - known
    assert (known - found).total() == lost
    assert verify_chains(writers.directory).lost == lost


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_files_that_may_not_grow(writers: Writers, seed: int) -> None:
    assert writers.start("limit", seed).wait(60) == 0
    assert_lost_records_are_counted(writers)


@pytest.mark.parametrize("seed", range(3))
def test_a_disk_that_is_full(writers: Writers, tmp_path: Path, seed: int) -> None:
    """A real one: a small file system of its own."""
    if not shutil.which("unshare") or subprocess.run(["unshare", "-rm", "true"], capture_output=True).returncode:
        pytest.skip("a file system of one's own needs `unshare -rm`, which this system does not allow")
    disk, copy = tmp_path / "disk", tmp_path / "state"
    disk.mkdir()
    argv = [sys.executable, str(PROCESS), "fill", str(disk / "state"), str(writers.acks), str(seed)]
    script = 'mount -t tmpfs -o size=512k tmpfs "$1" && disk="$1" copy="$2" && shift 2 && "$@" && cp -r "$disk/state" "$copy"'
    command = ["unshare", "-rm", "sh", "-c", script, "sh", str(disk), str(copy), *argv]
    subprocess.run(command, check=True, timeout=60)
    assert_lost_records_are_counted(writers)
