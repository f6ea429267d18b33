"""The last decisions of all agents, kept up to date: what a screen shows."""

from __future__ import annotations

from typing import Any, Final

from hookline.record.record_feed import RecordFeed
from hookline.record.record_log import CallKey, LogFilter, RecordLog, call_key
from hookline.record.record_reader import Record
from hookline.record.segment import RecordDirectory

MAX_ROWS: Final = 1000


class LiveLog:
    """`rows` are the last decisions by id, oldest first, with the keys of `hookline log --json`."""

    def __init__(self, directory: RecordDirectory, most: int = MAX_ROWS) -> None:
        self._most = most
        self._feed = RecordFeed(directory)
        self._feed.skip_to_end()  # before the rest is read: a record may be seen twice, but none is missed
        self._log = RecordLog(directory, LogFilter())
        self._records: dict[str, Record] = {}
        self._by_call: dict[CallKey, list[str]] = {}
        self.rows: dict[str, dict[str, Any]] = {}
        for record in self._log.latest_records(most):
            self._add(record)

    def record(self, id: str) -> Record:
        return self._records[id]

    def refresh(self) -> list[str]:
        """The ids of rows that are new, or of whose call it is known now what came of it."""
        changed: dict[str, None] = {}
        for record in self._feed.read_by_time():
            if self._log.take(record) and record["id"] not in self._records:
                changed |= self._add(record)
            for id in self._by_call.get(call_key(record), ()):
                row = self._log.row(self._records[id])
                if row != self.rows[id]:
                    self.rows[id] = row
                    changed[id] = None
        self._forget_oldest()
        return [id for id in changed if id in self.rows]

    def _add(self, record: Record) -> dict[str, None]:
        id = record["id"]
        self._records[id] = record
        self.rows[id] = self._log.row(record)
        if record.get("event") == "tool.before":
            self._by_call.setdefault(call_key(record), []).append(id)
        return {id: None}

    def _forget_oldest(self) -> None:
        while len(self.rows) > self._most:
            id = next(iter(self.rows))
            del self.rows[id]
            key = call_key(self._records.pop(id))
            if self._by_call.get(key, [])[:1] == [id]:
                self._by_call[key].pop(0)
                if not self._by_call[key]:
                    del self._by_call[key]
        self._log.forget_outcomes(self._by_call)
