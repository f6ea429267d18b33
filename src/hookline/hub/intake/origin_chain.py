"""Follows the chain of one process's records: which are new, which are missing, and whether one was changed."""

from __future__ import annotations

from hookline.hub.store.origin_table import OriginRow
from hookline.hub.store.record_line import RecordLine
from hookline.lazy_dataclasses import dataclass, field


@dataclass(slots=True)
class OriginChain:
    row: OriginRow
    apart: dict[int, tuple[str, str]] = field(default_factory=dict)
    """Records beside the whole part of the chain, of which others are missing: number → (previous, hash)."""

    @property
    def stored(self) -> tuple[int, int]:
        """What tells whether another process has written the row meanwhile."""
        return (self.row.number, self.row.newest)

    def take(self, line: RecordLine, now: float) -> bool:
        """True if the record is new."""
        row = self.row
        if row.newest == 0:  # the first one here; those before it may be too old to be kept
            row.begin, row.number, row.hash = line.number, line.number - 1, line.previous
            row.first = now
        if row.begin <= line.number <= row.number or line.number in self.apart:
            return False
        self._describe(line, now)
        self.apart[line.number] = (line.previous, line.hash)
        row.newest = max(row.newest, line.number)
        while self.apart.pop(row.begin - 1, None) is not None:  # its file was read after a later one
            row.begin -= 1
        while (following := self.apart.pop(row.number + 1, None)) is not None:
            if following[0] != row.hash and row.broken is None:
                row.broken = row.number + 1
            row.number, row.hash = row.number + 1, following[1]
        return True

    def continues(self, line: RecordLine) -> bool:
        """Whether it follows from the last record: whoever wrote it knows the chain."""
        return line.number == self.row.number + 1 and line.previous == self.row.hash

    def _describe(self, line: RecordLine, now: float) -> None:
        row, record = self.row, line.record
        row.last = now
        row.skew = max(0.0, line.at - now)  # records may come late, so only a lead is known for sure
        if line.kind == "start":
            row.machine, row.version = _text(record.get("machine")), _text(record.get("version"))
            row.pid = record["pid"] if type(record.get("pid")) is int and 0 <= record["pid"] < 1 << 31 else None
        elif line.kind == "gap" and type(record.get("lost")) is int:
            row.lost += min(max(0, record["lost"]), 1 << 40)
        row.host = _text(record.get("host")) or row.host
        row.user = row.user or _text(record.get("user"))
        facts = record.get("facts")
        if not row.workspace and isinstance(facts, dict):
            row.workspace = _text(facts.get("cwd"))


def _text(value: object) -> str:
    return value[:500] if isinstance(value, str) else ""
