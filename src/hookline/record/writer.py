"""Appends one process's records to its own files, each linked to the one before."""

from __future__ import annotations

import atexit
import json
import json.encoder
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date
from typing import Any, Final

from hookline.record.hash_chain import FIRST, ChainEntry, ChainsFile, Head, line_hash
from hookline.record.head_file import STATE_OFFSET, WRITING, WRITTEN, create_head_file
from hookline.record.segment import SEGMENT_BYTES, RecordDirectory, open_segment

_RETRY_SECONDS: Final = 5.0  # after a failed write: a full disk must not cost every decision a system call
_MINUTE: Final = 60_000_000_000  # nanoseconds
_FIRST_DAY: Final = date(1970, 1, 1).toordinal()

_log = logging.getLogger("hookline")


class RecordWriter:
    """One process's records. A write that fails costs the record, never the decision; the next one says how many were lost.

    A record is in the system's file cache when `write` returns, so it outlives the process, however that ends.
    """

    def __init__(
        self,
        directory: RecordDirectory,
        about: Mapping[str, str],
        on_new_file: Callable[[], None] = lambda: None,
        clock: Callable[[], int] = time.time_ns,
    ) -> None:
        """`about` is told once, by the first record of each process. `on_new_file` must not raise."""
        self._directory = directory
        self._about = about
        self._on_new_file = on_new_file
        self._clock = RecordClock(clock)
        self._lock = threading.Lock()
        self._file = self._head_file = -1
        self._size = 0
        self._segment = 0
        self._lost = 0
        self._retry_at = 0.0
        self._is_begun = self._notes_at_exit = False
        self.id = ""
        self._number = 0  # of the last record, and its hash: two plain values, because every record needs them
        self._hash = FIRST
        self._last_at = self._next_day = self._look_at = ""
        forget = weakref.WeakMethod(self._forget_parent)
        os.register_at_fork(after_in_child=lambda: (method := forget()) and method())  # asking each time costs a call

    def write(self, text: str) -> str:
        """Appends a record, and returns its id; "" if it was lost. The text is that of `encode_record`."""
        with self._lock:
            if not self._is_begun:  # the first record, or a fork
                self._begin()
            if self._lost and time.monotonic() < self._retry_at:
                self._lost += 1
                return ""
            try:
                at = self._clock.now()
                if self._size >= SEGMENT_BYTES or self._file < 0 or not self._last_at <= at < self._look_at:
                    self._look(at)
                if self._lost:
                    self._append_gap(at)
                return self._append(text, at)
            except OSError as error:
                if not self._lost:
                    _log.warning("a decision could not be recorded: %s", error)
                self._count_lost()
                self._retry_at = time.monotonic() + _RETRY_SECONDS
                if self._number == 0:  # the chain has no record yet: begin another one
                    self._close_files()
                    self._is_begun = False
                return ""

    def close_old_file(self) -> None:
        """Leaves a file of an earlier day to be archived, so that it does not keep old records, also if no new one comes.

        If somebody has removed the file, the next record begins a new chain.
        """
        with self._lock:
            if self._file >= 0 and self._is_begun:
                if self._is_removed():
                    self._is_begun = False
                elif self._clock.now() >= self._next_day:
                    self._close_file()

    def count_lost(self) -> None:
        """A record that could not be made."""
        with self._lock:
            self._count_lost()

    def close(self) -> None:
        """The chain ends. Another record would begin a new one."""
        self.note_lost()
        with self._lock:
            if self._is_begun:
                self._close_files()
                self._is_begun = False

    def note_lost(self) -> None:
        """Says how many records were lost, also if no other one follows: at the end, there is no later try."""
        with self._lock:
            if not self._lost:
                return
            if not self._is_begun:
                self._begin()
            with suppress(OSError):
                at = self._clock.now()
                if self._file < 0 or not self._last_at <= at < self._next_day:
                    self._open_next(at)
                self._append_gap(at)

    def _count_lost(self) -> None:
        self._lost += 1
        if not self._notes_at_exit:
            self._notes_at_exit = True
            note = weakref.WeakMethod(self.note_lost)
            atexit.register(lambda: (method := note()) and method())

    def _append_gap(self, at: str) -> None:
        self._append(encode_record({"kind": "gap", "lost": self._lost}), at)
        self._lost = 0

    def _forget_parent(self) -> None:
        """In a forked process: another thread may have had the lock."""
        self._lock = threading.Lock()
        self._is_begun, self._lost = False, 0

    def _begin(self) -> None:
        """A new chain: a process that was forked must not go on with its parent's."""
        self._close_files()  # after a fork, the parent's own descriptors keep the locks
        self._is_begun = True
        self.id = os.urandom(8).hex()
        self._segment, self._number, self._hash, self._last_at = 0, 0, FIRST, ""

    def _close_files(self) -> None:
        self._close_file()
        if self._head_file >= 0:
            os.close(self._head_file)
        self._head_file = -1

    def _close_file(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def _look(self, at: str) -> None:
        """At least each minute. If somebody has removed the record, another chain begins."""
        if self._file >= 0 and self._is_removed():
            self._begin()
        if self._size >= SEGMENT_BYTES or self._file < 0 or not self._last_at <= at < self._next_day:
            self._open_next(at)
        self._look_at = at[: len("2026-11-16T20:01:")] + "U"  # after all times of the minute

    def _is_removed(self) -> bool:
        return os.fstat(self._file).st_nlink == 0

    def _open_next(self, at: str) -> None:
        """Also each day, and if the clock was set back: in a chain, no record is older than the one before it.

        So a chain's oldest records are its first ones, and retention removes no others.
        """
        # The directory is missing if somebody has removed the whole record.
        if self._number and (at < self._last_at or not self._directory.live.is_dir()):
            self._begin()
        is_first = self._number == 0
        if is_first:
            self._directory.create()
        file = open_segment(self._directory.live / f"{self.id}-{self._segment + 1}.jsonl")
        if self._file >= 0:
            os.close(self._file)
        self._file, self._size, self._segment = file, 0, self._segment + 1
        self._next_day = at[: len("2026-11-16")] + "U"  # after all times of the day, `…T23:59:59`
        if is_first:
            self._head_file = create_head_file(self._directory.heads / self.id)
            ChainsFile(self._directory.chains).add([ChainEntry(self.id, "begun", Head(), time.time())])
            self._append(encode_record({"kind": "start", **self._about, "pid": os.getpid()}), at)
        self._on_new_file()

    def _append(self, text: str, at: str) -> str:
        """One function, because a process that has slept loads the code of each one anew."""
        number, previous, head = self._number + 1, self._hash, self._head_file
        id = f"{self.id}-{number}"
        line = f'{{"id":"{id}","previous":"{previous}","at":"{at}",{text}'.encode()
        hash = line_hash(line)
        # `zfill`, because formatting a number with its width takes longer after a pause
        os.pwrite(head, f"{str(number).zfill(20)} {hash} {previous} {WRITING}".encode(), 0)
        written = os.write(self._file, line + b"\n")
        if written != len(line) + 1:
            os.ftruncate(self._file, self._size)
            raise OSError("the disk is full")
        try:  # noqa: SIM105  the same for the code of `suppress`
            os.pwrite(head, WRITTEN, STATE_OFFSET)
        except OSError:  # the record may then be missing without anybody noticing: no more
            pass
        self._size += written
        self._number, self._hash, self._last_at = number, hash, at
        return id


class RecordClock:
    """The times of records. In a process that has slept, this costs a quarter of what `datetime` does."""

    def __init__(self, nanoseconds: Callable[[], int]) -> None:
        self._nanoseconds = nanoseconds
        self._minute = 0  # when it began, in nanoseconds
        self._start = "1970-01-01T00:00:"

    def now(self) -> str:
        """`2026-11-16T20:01:35.458752Z`"""
        nanoseconds = self._nanoseconds
        since = nanoseconds() - self._minute
        if not 0 <= since < _MINUTE:
            since = self._begin_minute(self._minute + since)
        digits = str(100_000_000_000 + since)  # the seconds are its second and third digit
        return f"{self._start}{digits[1:3]}.{digits[3:9]}Z"

    def _begin_minute(self, now: int) -> int:
        """How many nanoseconds of it are over."""
        minute, since = divmod(now, _MINUTE)
        day, of_day = divmod(minute, 1440)
        self._minute = now - since
        self._start = f"{date.fromordinal(_FIRST_DAY + day).isoformat()}T{of_day // 60:02}:{of_day % 60:02}:"
        return since


def _make_encoder() -> Callable[[object], str]:
    """`JSONEncoder.encode` without building its C part anew for every record, which costs a quarter of it."""
    encoder = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return encoder.encode
    encode = make(None, encoder.default, json.encoder.encode_basestring_ascii, None, ":", ",", False, False, False)
    return lambda value: "".join(encode(value, 0))


encode_json: Final = _make_encoder()
"""ASCII. Raises TypeError, ValueError or RecursionError for what is not JSON."""


def encode_record(value: Mapping[str, object]) -> str:
    """The JSON of an object that is not empty, without its first brace: the writer's own fields come first.

    Raises TypeError, ValueError or RecursionError for what is not JSON.
    """
    return encode_json(value)[1:]
