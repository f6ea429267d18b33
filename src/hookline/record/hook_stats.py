"""How often each hook was asked, spoke and denied, and how long it took."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final

from hookline.lazy_dataclasses import dataclass, field
from hookline.record.record_log import entry_spoke
from hookline.record.record_reader import Record

_STRENGTH: Final = {"silent": 0, "allow": 1, "ask": 2, "deny": 3}  # of verdicts


@dataclass(slots=True)
class HookStats:
    hook: str
    file: str
    line: int = 0
    ran: int = 0  # its condition was true
    spoke: int = 0  # it allowed, asked, denied, changed or said something
    denied: int = 0
    asked: int = 0
    allowed: int = 0
    failed: int = 0
    overridden: int = 0  # it gave a verdict, and another hook's counted
    times: list[float] = field(default_factory=list)  # milliseconds

    def as_json(self) -> dict[str, Any]:
        names = ("hook", "file", "line", "ran", "spoke", "denied", "asked", "failed", "overridden")
        times = {"p50_ms": self.percentile(50), "p95_ms": self.percentile(95), "total_ms": round(sum(self.times), 3)}
        return {**{name: getattr(self, name) for name in names}, **times}

    def percentile(self, percent: int) -> float:
        """The least time that so many of them do not exceed."""
        ordered = sorted(self.times)
        return ordered[max(0, -(-len(ordered) * percent // 100) - 1)] if ordered else 0.0

    @property
    def is_always_overridden(self) -> bool:
        verdicts = self.denied + self.asked + self.allowed
        return bool(self.overridden) and self.overridden == verdicts


def count_hooks(records: Iterable[Record], find_path: Callable[[Record, str], str]) -> dict[tuple[str, str], HookStats]:
    """By the path and id of each hook that took part in a decision. `find_path` gives a file's path by its recorded name."""
    found: dict[tuple[str, str], HookStats] = {}
    for record in records:
        by_hook: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for entry in record.get("trace", ()):
            by_hook.setdefault((str(entry.get("file", "")), str(entry.get("hook", ""))), []).append(entry)
        for (file, hook), entries in by_hook.items():
            key = (find_path(record, file), hook)
            stats = found.get(key)
            if stats is None:
                stats = found[key] = HookStats(hook, key[0])
            stats.line = int(entries[-1].get("line", 0))  # where it stood last
            _count(stats, entries, record)
    return found


def _count(stats: HookStats, entries: list[dict[str, Any]], record: Record) -> None:
    """Once for each decision: a hook that ran again after a change has several entries."""
    outcomes = [entry.get("outcome") or {} for entry in entries]
    verdict = max((outcome.get("verdict", "silent") for outcome in outcomes), key=lambda each: _STRENGTH.get(each, 0))
    halted = any(outcome.get("halt") for outcome in outcomes)
    stats.ran += 1
    stats.spoke += any(map(entry_spoke, entries))
    stats.denied += verdict == "deny" or (halted and record.get("verdict") == "deny")
    stats.asked += verdict == "ask"
    stats.failed += any("failure" in entry for entry in entries)
    stats.allowed += verdict == "allow"
    is_other = record.get("hook") != stats.hook and not halted
    stats.overridden += is_other and (verdict in ("deny", "ask") or (verdict == "allow" and _is_stopped(record)))
    stats.times.append(round(sum(float(entry.get("ms", 0.0)) for entry in entries), 3))


def _is_stopped(record: Record) -> bool:
    return bool(record.get("halt")) or record.get("verdict") in ("deny", "ask")
