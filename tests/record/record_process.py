"""A process that writes records or reads them, until it is killed. Run by test_record_faults.py.

record_process.py write STATE ACKS SEED COUNT [clock]   decides COUNT events, and notes in ACKS each that it was told of
record_process.py archive STATE COMPLAINTS SEED         archives again and again
record_process.py read STATE COMPLAINTS SEED            reads, verifies and follows again and again
record_process.py fork STATE ACKS PROCESSES COUNT       makes that many processes that write at the same time
record_process.py limit STATE ACKS SEED                 writes, while from time to time no file may grow
record_process.py fill STATE ACKS SEED                  writes, while from time to time another file takes all room
"""

from __future__ import annotations

import os
import random
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import timedelta
from pathlib import Path

from hookline.hooks.event import Event
from hookline.project import load_text
from hookline.record import writer
from hookline.record.archive import archive_records_of_ended_writers
from hookline.record.record_feed import RecordFeed
from hookline.record.record_reader import read_latest, read_records
from hookline.record.recorder import Recorder
from hookline.record.segment import record_directory
from hookline.record.verification import verify_chains

BOOK = load_text("hooks: [{id: no-rm, on: tool.before, when: {input: {command: ^rm}}, then: deny}]", "hookline.yaml")


class JumpingClock:
    """A clock that somebody sets back, and forward again."""

    def __init__(self) -> None:
        self._behind = 0

    def __call__(self) -> int:
        if random.random() < 0.1:
            self._behind = random.choice([0, 3600, 86_400])
        return time.time_ns() - self._behind * 10**9


def decide(recorder: Recorder) -> str:
    """Records a decision, and returns the name that it has there."""
    name = f"{os.getpid()}.{random.getrandbits(48)}"
    tool = {"name": "Bash", "input": {"command": f"{random.choice(['ls', 'rm'])} {name}"}}
    recorder.decide_now(BOOK, Event("tool.before", {"session": {"id": "s"}, "tool": tool}))
    return name


def _acknowledge(name: str) -> str:
    """A process that is killed while it writes this may leave a part of it: what has no end does not count."""
    return f"\n{name};\n"


def write(state: Path, acks: Path, count: int) -> None:
    """`acks` gets a line for each decision once the caller has it."""
    recorder = Recorder(record_directory(state))
    told = os.open(acks, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    for _ in range(count):
        os.write(told, _acknowledge(decide(recorder)).encode())


@contextmanager
def small_files(_: Path) -> Iterator[None]:
    """The system cuts a write short, and refuses the next one."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (random.choice([0, 700, 1500]), resource.RLIM_INFINITY))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))


@contextmanager
def full_disk(state: Path) -> Iterator[None]:
    filler = state.parent / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while file.write(bytes(random.choice([1, 4096]))):
            pass
    yield
    filler.unlink()


def write_without_room(state: Path, acks: Path, full: Callable[[Path], AbstractContextManager[None]]) -> None:
    recorder, told = Recorder(record_directory(state)), []
    for is_full in (*(random.random() < 0.5 for _ in range(20)), False):
        with full(state) if is_full else nullcontext():
            told += [decide(recorder) for _ in range(random.randint(1, 20))]
    recorder.close()
    acks.write_text("".join(map(_acknowledge, told)))


def archive(state: Path, complaints: Path) -> None:
    directory = record_directory(state)
    while True:
        with noted(complaints):
            archive_records_of_ended_writers(directory, timedelta(days=30), settle=0)


def read(state: Path, complaints: Path) -> None:
    """While other processes write and archive. What it has seen once, it must see each time."""
    directory = record_directory(state)
    feed, fed, seen = RecordFeed(directory), set[str](), set[str]()
    while True:
        with noted(complaints):
            ids = [record["id"] for record in read_records(directory)]
            assert len(ids) == len(set(ids)), "a record was read twice"
            assert seen <= set(ids), "a record was missed"
            seen = set(ids)
            for each in feed.read():
                assert each.is_linked, "a record was missed"
                assert each.record is not None
                assert each.record["id"] not in fed, "a record was handed out twice"
                fed.add(each.record["id"])
            assert seen <= fed, "a record was not handed out"
            last = max(seen, default="")
            assert last in {record["id"] for record in read_latest(directory, lambda each: True, 10**9)} or not last
            verify_chains(directory)


@contextmanager
def noted(complaints: Path) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        with complaints.open("a") as file:
            file.write(f"{type(error).__name__}: {error}\n")


def fork(state: Path, acks: Path, processes: int, count: int) -> None:
    ready, go = os.pipe()
    children = []
    for number in range(processes):
        child = os.fork()
        if child == 0:
            os.close(go)
            os.read(ready, 1)  # until all are there
            random.seed(number)
            write(state, acks, count)
            os._exit(0)
        children.append(child)
    os.close(go)
    for child in children:
        assert os.waitpid(child, 0)[1] == 0


def main(what: str, state: str, out: str, number: str, count: str = "0", clock: str = "") -> None:
    writer.SEGMENT_BYTES = 4000  # type: ignore[misc]
    writer._RETRY_SECONDS = 0.0  # type: ignore[misc]
    random.seed(int(number))
    if clock:
        clock_of_writer = writer.RecordClock.__init__
        writer.RecordClock.__init__ = lambda self, _: clock_of_writer(self, JumpingClock())  # type: ignore[method-assign]
    if what == "write":
        write(Path(state), Path(out), int(count))
    elif what == "read":
        read(Path(state), Path(out))
    elif what == "archive":
        archive(Path(state), Path(out))
    elif what == "limit":
        write_without_room(Path(state), Path(out), small_files)
    elif what == "fill":
        write_without_room(Path(state), Path(out), full_disk)
    else:
        fork(Path(state), Path(out), int(number), int(count))


if __name__ == "__main__":
    main(*sys.argv[1:])
