"""Finds decisions in the record, each with what came of it."""

from __future__ import annotations

import json
from collections.abc import Container, Iterator
from typing import Any, Final

from hookline.lazy_dataclasses import dataclass
from hookline.record.record_feed import RecordFeed
from hookline.record.record_reader import Record, read_latest, read_records
from hookline.record.segment import RecordDirectory, split_id

_OUTCOME_EVENTS: Final = ("tool.after", "tool.failed")
_OUTCOME_MARKS: Final = (b'"tool.after"', b'"tool.failed"', b'"kind":"answer"')

_MANY_OUTCOMES: Final = 10_000

CallKey = tuple[str, str, str, str]
LOG_KEYS: Final = (
    *("id", "at", "host", "session", "event", "tool", "input", "verdict", "reason", "hook", "file", "line", "ms"),
    "outcome",
)
"""The keys of a row, as `hookline log --json` prints them."""


@dataclass(frozen=True, slots=True)
class LogFilter:
    """What a decision must be to be shown. Empty texts mean anything."""

    since: str = ""  # a time as in records
    host: str = ""
    session: str = ""
    event: str = ""
    tool: str = ""  # in any case: agents call their shell Bash and bash
    verdict: str = ""
    hook: str = ""
    text: str = ""  # anywhere in the record, in any case

    def matches(self, record: Record) -> bool:
        return (
            record.get("kind") == "decision"
            and record["at"] >= self.since
            and all(not wanted or record.get(key) == wanted for key, wanted in self._fields)
            and (not self.tool or self.tool.lower() == record.get("tool", "").lower())
            and (not self.hook or self.hook in _hooks_of(record))
            and (not self.text or _as_json(self.text) in json.dumps(record, ensure_ascii=False).lower())
        )

    def may_match(self, line: bytes) -> bool:
        """False only if the line is no record that matches, nor what came of one. Parsing a line costs ten times this."""
        if any(mark in line for mark in _OUTCOME_MARKS):
            return True
        if self.tool.isascii() and self.tool and _quoted(self.tool).lower() not in line.lower():
            return False
        return all(not wanted or _quoted(wanted) in line for wanted in (*(w for _, w in self._fields), self.hook))

    @property
    def _fields(self) -> tuple[tuple[str, str], ...]:
        return (
            ("host", self.host),
            ("session", self.session),
            ("event", self.event),
            ("verdict", self.verdict),
        )


class RecordLog:
    """The decisions of a record directory as rows with LOG_KEYS."""

    def __init__(self, directory: RecordDirectory, filter: LogFilter) -> None:
        self._directory = directory
        self._filter = filter
        self._feed = RecordFeed(directory)
        self._outcomes: dict[CallKey, list[tuple[str, str]]] = {}  # with their times
        self.lines_read = 0

    def latest(self, limit: int) -> list[dict[str, Any]]:
        """The last rows, oldest first."""
        return [self.row(record) for record in self.latest_records(limit)]

    def latest_records(self, limit: int) -> list[Record]:
        return read_latest(self._directory, self.take, limit, self._may_match)

    def all(self) -> list[dict[str, Any]]:
        """Every row, oldest first. What came of a call is known only once all is read; facts are not kept until then."""
        rows: list[tuple[dict[str, Any], CallKey | None]] = []
        for record in read_records(self._directory, self._may_match, self._filter.since):
            if self.take(record):
                waits = record.get("event") == "tool.before" and record.get("verdict") != "deny"
                rows.append((self._row_so_far(record), call_key(record) if waits else None))
        for row, call in rows:
            if call is not None:
                row["outcome"] = self._first_outcome(call, row["at"])
        return [row for row, _ in rows]

    def _may_match(self, line: bytes) -> bool:
        self.lines_read += 1
        return self._filter.may_match(line)

    def begin_to_follow(self) -> None:
        """`follow` gives what comes from now on. What is read later by another method may have some of it, too."""
        self._feed.skip_to_end()

    def follow(self) -> Iterator[dict[str, Any] | None]:
        """Rows as they come. None after each look, so that the caller can wait."""
        while True:
            for record in self._feed.read_by_time():
                if self.take(record):
                    yield self.row(record)
            self._outcomes.clear()  # rows are not shown again
            yield None

    def take(self, record: Record) -> bool:
        """Remembers what came of a call; true if the record is wanted."""
        outcome = outcome_of(record)
        if outcome:
            self._outcomes.setdefault(call_key(record), []).append((record["at"], outcome))
        return self._filter.matches(record)

    def forget_outcomes(self, calls: Container[CallKey]) -> None:
        """Of all other calls, if there are many of them."""
        if len(self._outcomes) > _MANY_OUTCOMES:
            self._outcomes = {key: known for key, known in self._outcomes.items() if key in calls}

    def row(self, record: Record) -> dict[str, Any]:
        """With what came of the call, as far as records that were taken tell."""
        row = self._row_so_far(record)
        if record.get("event") == "tool.before" and record.get("verdict") != "deny":
            row["outcome"] = self._first_outcome(call_key(record), record["at"])
        return row

    def _row_so_far(self, record: Record) -> dict[str, Any]:
        """Without what comes of the call."""
        row = {key: record.get(key) for key in LOG_KEYS}
        facts = record.get("facts")
        tool = facts.get("tool") if isinstance(facts, dict) else None
        row["input"] = tool.get("input") if isinstance(tool, dict) else None
        if row["input"] is None and isinstance(facts, dict) and "prompt" in facts:
            row["input"] = {"prompt": facts["prompt"]}
        row["outcome"] = outcome_of(record) if record.get("event") in _OUTCOME_EVENTS else None
        return row

    def _first_outcome(self, call: CallKey, at: str) -> str | None:
        """The first one after the decision: a host without ids for calls may make the same call again."""
        known = sorted(self._outcomes.get(call, ()))
        later = [outcome for each, outcome in known if each >= at]
        if later[:1] == ["approved"] and later[1:2] != ["refused"]:
            later = later[1:] or later
        return later[0] if later else None


def call_key(record: Record) -> CallKey:
    """The same for what was asked about a call and what came of it. Hosts without ids for calls have its input."""
    host, session, call = str(record.get("host", "")), str(record.get("session", "")), record.get("call")
    if isinstance(call, str):
        return host, session, call, ""
    facts = record.get("facts")
    tool = facts.get("tool") if isinstance(facts, dict) else None
    input = tool.get("input") if isinstance(tool, dict) else None
    return host, session, str(record.get("tool", "")), json.dumps(input, sort_keys=True)


def outcome_of(record: Record) -> str:
    """`ok`, `failed`, `approved` or `refused`; "" for a record that does not tell what came of a call."""
    if record.get("kind") == "answer":
        return "approved" if record.get("approved") and not record.get("edit_denied") else "refused"
    if record.get("event") not in _OUTCOME_EVENTS:
        return ""
    facts = record.get("facts")
    tool = facts.get("tool") if isinstance(facts, dict) else None
    ok = tool.get("ok", True) if isinstance(tool, dict) else True
    return "failed" if record["event"] == "tool.failed" or ok is False else "ok"


def find_records(directory: RecordDirectory, id: str) -> list[Record]:
    """The records with this id, of which the writer's part may be shortened: `3f9a-12`."""
    writer, number = split_id(id)
    needles = f'"id":"{writer}'.encode(), f'-{number}"'.encode()
    found = read_records(directory, lambda line: needles[0] in line and needles[1] in line)
    return [each for each in found if each["id"].startswith(writer) and split_id(each["id"])[1] == number]


def last_spoken(directory: RecordDirectory) -> Record | None:
    """The last decision on which a hook spoke."""
    found = read_latest(
        directory,
        lambda record: record.get("kind") == "decision" and (bool(record.get("hook")) or _some_hook_spoke(record)),
        1,
        lambda line: b'"trace":' in line or b'"hook":' in line,
    )
    return found[-1] if found else None


def _some_hook_spoke(record: Record) -> bool:
    entries = [each for each in record.get("trace", ()) if isinstance(each, dict)]
    return any("failure" in each or entry_spoke(each) for each in entries)


def entry_spoke(entry: Record) -> bool:
    """Whether the hook of this entry of a trace allowed, asked, denied, changed or said something."""
    outcome = entry.get("outcome") or {}
    return outcome.get("verdict", "silent") != "silent" or len(outcome) > 1


def _hooks_of(record: Record) -> set[str]:
    trace = record.get("trace", ())
    return {str(record.get("hook", "")), *(str(each.get("hook", "")) for each in trace if isinstance(each, dict))}


def _quoted(text: str) -> bytes:
    """As the text stands in a line."""
    return json.dumps(text).encode()


def _as_json(text: str) -> str:
    """As the text stands in JSON, in small letters."""
    return json.dumps(text, ensure_ascii=False)[1:-1].lower()
