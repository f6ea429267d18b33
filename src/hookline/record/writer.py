"""Appends one process's records to its own files, each linked to the one before."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from hookline.record.hash_chain import ChainEntry, ChainsFile, Head, line_hash
from hookline.record.segment import SEGMENT_BYTES, RecordDirectory, open_segment

_RETRY_SECONDS: Final = 5.0  # after a failed write: a full disk must not cost every decision a system call

_log = logging.getLogger("hookline")


class RecordWriter:
    """One process's records. A write that fails costs the record, never the decision; the next one says how many were lost.

    A record is in the system's file cache when `write` returns, so it outlives the process, however that ends.
    """

    def __init__(
        self, directory: RecordDirectory, about: Mapping[str, str], on_new_file: Callable[[], None] = lambda: None
    ) -> None:
        """`about` is told once, by the first record of each process. `on_new_file` must not raise."""
        self._directory = directory
        self._about = about
        self._on_new_file = on_new_file
        self._lock = threading.Lock()
        self._file = -1
        self._size = 0
        self._segment = 0
        self._lost = 0
        self._retry_at = 0.0
        self._pid = 0
        self.id = ""
        self._head = Head()

    def write(self, text: str) -> str:
        """Appends a JSON object that is not empty, and returns the record's id; "" if it was lost."""
        with self._lock:
            if self._pid != os.getpid():  # the first record, or a fork
                self._begin()
            now = time.monotonic()
            if self._lost and now < self._retry_at:
                self._lost += 1
                return ""
            try:
                if self._file < 0 or self._size >= SEGMENT_BYTES:
                    self._open_next()
                if self._lost:
                    self._append(encode_record({"kind": "gap", "lost": self._lost}))
                    self._lost = 0
                return self._append(text)
            except OSError as error:
                if not self._lost:
                    _log.warning("a decision could not be recorded: %s", error)
                self._lost += 1
                self._retry_at = now + _RETRY_SECONDS
                if self._head.number == 0:  # the chain has not begun: begin it again
                    self._close_file()
                return ""

    def close(self) -> None:
        with self._lock:
            if self._pid == os.getpid():
                self._close_file()

    def _begin(self) -> None:
        """A new chain: a process that was forked must not go on with its parent's."""
        self._close_file()  # after a fork, the parent's own descriptor keeps the lock
        self._pid = os.getpid()
        self.id = os.urandom(8).hex()
        self._segment, self._head, self._lost = 0, Head(), 0

    def _close_file(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file = -1

    def _open_next(self) -> None:
        is_first = self._head.number == 0
        if is_first:
            self._directory.create()
        file = open_segment(self._directory.live / f"{self.id}-{self._segment + 1}.jsonl")
        if self._file >= 0:
            os.close(self._file)
        self._file, self._size, self._segment = file, 0, self._segment + 1
        if is_first:
            ChainsFile(self._directory.chains).add([ChainEntry(self.id, "opened", Head(), time.time())])
            self._append(encode_record({"kind": "start", **self._about, "pid": self._pid}))
        self._on_new_file()

    def _append(self, text: str) -> str:
        number = self._head.number + 1
        id = f"{self.id}-{number}"
        at = datetime.now(UTC).isoformat(timespec="microseconds")[:-6]
        line = f'{{"id":"{id}","previous":"{self._head.hash}","at":"{at}Z",{text[1:]}'.encode()
        written = os.write(self._file, line + b"\n")
        if written != len(line) + 1:
            os.ftruncate(self._file, self._size)
            raise OSError("the disk is full")
        self._size += written
        self._head = Head(number, line_hash(line))
        return id


encode_record: Final = json.JSONEncoder(separators=(",", ":"), allow_nan=False).encode
