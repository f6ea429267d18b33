"""The decisions of all hosts, and what came of them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final

from sqlalchemy import Connection, Select, func, select

from hookline.hub.store.deleted_sessions import is_deleted
from hookline.hub.store.record_line import (
    DECISION_COLUMNS,
    CallName,
    call_name,
    call_of,
    row_json,
    searched_name,
)
from hookline.lazy_dataclasses import dataclass, replace
from hookline.record.record_reader import Record, parse_record
from hookline.runtime.storage.columns import escape_text
from hookline.runtime.storage.database import Database, Query
from hookline.runtime.storage.hub_tables import decisions, origins

MAX_ROWS: Final = 500
_EXPORT_ROWS: Final = 500
_TRACE_ROWS: Final = 2000
_EQUAL: Final = ("host", "session", "thread", "agent", "event", "tool", "verdict", "hook", "call")


@dataclass(frozen=True, slots=True)
class DecisionFilter:
    """What a decision must be to be listed. Empty texts mean anything."""

    host: str = ""
    machine: str = ""
    session: str = ""
    thread: str = ""
    agent: str = ""
    event: str = ""
    tool: str = ""
    verdict: str = ""
    hook: str = ""
    call: str = ""
    hooks: tuple[str, ...] | None = None  # one of these, for example all with a tag
    q: str = ""  # words, all of which must stand somewhere
    since: float | None = None
    until: float | None = None

    def apply(self, statement: Select[Any]) -> Select[Any]:
        statement = statement.where(decisions.c.kind == "decision")
        for name in _EQUAL:
            if wanted := getattr(self, name):
                statement = statement.where(decisions.c[name] == searched_name(wanted))
        if self.machine:
            named = select(origins.c.id).where(origins.c.machine == self.machine)
            statement = statement.where(decisions.c.origin.in_(named))
        if self.hooks is not None:
            statement = statement.where(decisions.c.hook.in_([searched_name(each) for each in self.hooks]))
        for word in self.q.lower().split()[:8]:
            statement = statement.where(decisions.c.words.contains(escape_text(word), autoescape=True))
        if self.since is not None:
            statement = statement.where(decisions.c.at >= self.since)
        return statement if self.until is None else statement.where(decisions.c.at < self.until)


@dataclass(frozen=True, slots=True)
class StoredDecision:
    sequence: int
    machine: str
    record: Record


class DecisionTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def page(
        self, filter: DecisionFilter, before: int | None, limit: int
    ) -> tuple[list[dict[str, Any]], int | None]:
        """Rows, newest first, with their outcomes, and the cursor of the next page."""
        found = await self._database.read(_select_page(filter, before, min(limit, MAX_ROWS)))
        outcomes = await self._database.read(_select_outcomes([each.record for each in found]))
        rows = [decision_row(each, outcomes) for each in found]
        return rows, found[-1].sequence if len(found) == min(limit, MAX_ROWS) else None

    async def export(self, filter: DecisionFilter) -> AsyncIterator[list[dict[str, Any]]]:
        """All rows, newest first, in pieces."""
        before: int | None = None
        while True:
            rows, before = await self.page(filter, before, _EXPORT_ROWS)
            if rows:
                yield rows
            if before is None:
                return

    async def find(self, id: str) -> StoredDecision | None:
        origin, _, number = id.partition("-")
        if not number.isdecimal() or len(number) > 16:
            return None
        statement = _select_decisions().where(decisions.c.origin == origin, decisions.c.number == int(number))
        return await self._database.read(lambda connection: next(iter(_stored(connection, statement)), None))

    async def of_call(self, record: Record, call: str) -> list[Record]:
        """Every record about the same call, oldest first."""
        if not call:
            return []
        statement = (
            _select_decisions()
            .where(decisions.c.call == call, decisions.c.session == searched_name(record.get("session")))
            .order_by(decisions.c.sequence)
            .limit(MAX_ROWS)
        )
        return [each.record for each in await self._database.read(lambda connection: _stored(connection, statement))]

    async def denials(self, calls: Collection[CallName]) -> list[Record]:
        """Decisions that denied one of these calls, oldest first."""
        statement = (
            _select_decisions()
            .where(decisions.c.call.in_(sorted({call for _, call in calls})))
            .where(decisions.c.event == "tool.before", decisions.c.verdict.in_(("deny", "halt")))
            .order_by(decisions.c.sequence)
        )
        rows = await self._database.read(lambda connection: _stored(connection, statement)) if calls else []
        return [each.record for each in rows if call_of(each.record) in calls]

    async def earlier_in_session(self, found: StoredDecision, limit: int) -> list[Record]:
        """The decisions of its session before it, oldest first: the last `limit` of them."""
        statement = (
            _select_decisions()
            .where(decisions.c.session == searched_name(found.record.get("session")), decisions.c.kind == "decision")
            .where(decisions.c.sequence < found.sequence)
            .order_by(decisions.c.sequence.desc())
            .limit(limit)
        )
        rows = await self._database.read(lambda connection: _stored(connection, statement))
        return [each.record for each in reversed(rows)]

    async def latest(self, filter: DecisionFilter, limit: int) -> list[Record]:
        """Newest first."""
        statement = filter.apply(_select_decisions()).order_by(decisions.c.sequence.desc()).limit(limit)
        return [each.record for each in await self._database.read(lambda connection: _stored(connection, statement))]

    async def sessions(self, limit: int, id: str = "") -> list[dict[str, Any]]:
        """What is known of sessions from their decisions: those with the newest come first. Deleted ones are left out."""
        newest = func.max(decisions.c.sequence)
        statement = select(
            decisions.c.session,
            func.max(decisions.c.host),
            func.max(decisions.c.agent),
            func.min(decisions.c.at),
            func.max(decisions.c.at),
            func.count(),
            newest,
        ).where(decisions.c.kind == "decision", decisions.c.session != "", ~is_deleted(decisions.c.session))
        if id:
            statement = statement.where(decisions.c.session == searched_name(id))
        statement = statement.group_by(decisions.c.session).order_by(newest.desc()).limit(limit)
        names = ("id", "host", "agent", "created", "last_used", "decisions")

        def work(connection: Connection) -> list[dict[str, Any]]:
            found = connection.execute(statement).all()
            last = _select_decisions().where(decisions.c.sequence.in_([row[-1] for row in found]))
            places = {each.sequence: _directory(each.record) for each in _stored(connection, last)}
            return [
                {**dict(zip(names, row[:-1], strict=True)), "state": "reported", "workspace": places.get(row[-1], "")}
                for row in found
            ]

        return await self._database.read(work)

    async def counts(self, column: str, since: float, filter: DecisionFilter | None = None) -> dict[str, int]:
        """How many decisions there are for each value of the column."""
        value = decisions.c[column]
        statement = replace(filter or DecisionFilter(), since=since).apply(select(value, func.count()))
        grouped = statement.group_by(value)
        return await self._database.read(lambda connection: {row[0]: row[1] for row in connection.execute(grouped)})

    async def timeline(self, since: float, until: float, steps: int = 60) -> dict[str, Any]:
        """How many decisions of each verdict there are in each step of the time."""
        width = max((until - since) / steps, 1e-6)
        step = func.floor((decisions.c.at - since) / width)
        statement = (
            select(step, decisions.c.verdict, func.count())
            .where(decisions.c.kind == "decision", decisions.c.at >= since, decisions.c.at < until)
            .group_by(step, decisions.c.verdict)
        )
        rows = await self._database.read(lambda connection: list(connection.execute(statement)))
        items: list[dict[str, Any]] = [{"at": since + number * width} for number in range(steps)]
        for number, verdict, count in rows:
            items[min(int(number), steps - 1)][verdict or "silent"] = count
        return {"step": width, "items": items}

    async def last_book(self, origin: str) -> str:
        """The hash of the hooks at the last decision of a process."""
        statement = (
            select(decisions.c.book)
            .where(decisions.c.origin == origin, decisions.c.book != "")
            .order_by(decisions.c.number.desc())
            .limit(1)
        )
        return await self._database.read(lambda connection: str(connection.execute(statement).scalar() or ""))

    async def with_hooks(self, since: float = 0, after: int = 0) -> AsyncIterator[list[StoredDecision]]:
        """Decisions in which a hook took part, newest first, in pieces."""
        before: int | None = None
        took_part = (decisions.c.hook != "") | decisions.c.record.contains('"trace":', autoescape=True)
        while True:
            statement = _select_decisions().where(decisions.c.at >= since, decisions.c.sequence > after, took_part)
            if before is not None:
                statement = statement.where(decisions.c.sequence < before)
            piece = statement.order_by(decisions.c.sequence.desc()).limit(_TRACE_ROWS)
            found = await self._database.read(partial(_stored, statement=piece))
            if found:
                yield found
            if len(found) < _TRACE_ROWS:
                return
            before = found[-1].sequence

    async def size(self) -> int:
        statement = select(func.count()).select_from(decisions)
        return await self._database.read(lambda connection: int(connection.execute(statement).scalar_one()))


def _select_decisions() -> Select[Any]:
    joined = decisions.outerjoin(origins, origins.c.id == decisions.c.origin)
    return select(decisions.c.sequence, origins.c.machine, decisions.c.record).select_from(joined)


def _stored(connection: Connection, statement: Select[Any]) -> list[StoredDecision]:
    rows = ((row[0], row[1] or "", parse_record(row[2].encode())) for row in connection.execute(statement))
    return [StoredDecision(sequence, machine, record) for sequence, machine, record in rows if record is not None]


def _directory(record: Record) -> str:
    """In which the agent worked."""
    facts = record.get("facts")
    place = facts.get("cwd") if isinstance(facts, dict) else None
    return place[:500] if isinstance(place, str) else ""


def _select_page(filter: DecisionFilter, before: int | None, limit: int) -> Query[list[StoredDecision]]:
    statement = filter.apply(_select_decisions())
    if before is not None:
        statement = statement.where(decisions.c.sequence < before)
    newest = statement.order_by(decisions.c.sequence.desc()).limit(limit)
    return lambda connection: _stored(connection, newest)


_Outcomes = dict[tuple[str, str], list[tuple[float, str]]]


def _select_outcomes(records: Iterable[Record]) -> Query[_Outcomes]:
    """What came of the calls of these records, by session and call."""
    calls = {call_name(record) for record in records if record.get("event") == "tool.before"} - {""}
    statement = select(decisions.c.session, decisions.c.call, decisions.c.at, decisions.c.outcome).where(
        decisions.c.call.in_(sorted(calls)), decisions.c.outcome != ""
    )

    def work(connection: Connection) -> _Outcomes:
        found: _Outcomes = {}
        for session, call, at, outcome in connection.execute(statement) if calls else ():
            found.setdefault((session, call), []).append((at, outcome))
        return {key: sorted(known) for key, known in found.items()}

    return work


def decision_row(found: StoredDecision, outcomes: _Outcomes) -> dict[str, Any]:
    record = found.record
    row = {"sequence": found.sequence, **row_json(record), "machine": found.machine}
    if record.get("event") == "tool.before" and record.get("verdict") != "deny":
        known = outcomes.get((searched_name(record.get("session")), call_name(record)), [])
        at = datetime.fromisoformat(record["at"]).timestamp()
        row["outcome"] = first_outcome([outcome for when, outcome in known if when >= at])
    return row


def first_outcome(later: Sequence[str]) -> str | None:
    """Of what is known after a decision: the first one, but a call that was approved then ended somehow."""
    if later[:1] == ["approved"] and later[1:2] != ["refused"]:
        later = later[1:] or later
    return later[0] if later else None


_INSERT_COLUMNS: Final = ", ".join(f'"{name}"' for name in DECISION_COLUMNS)
_SQLITE_INSERT: Final = (
    f"INSERT OR IGNORE INTO decisions ({_INSERT_COLUMNS}) VALUES ({', '.join('?' * len(DECISION_COLUMNS))})"
)
_POSTGRES_TYPES: Final = {"number": "bigint", "at": "double precision", "took": "double precision"}
_POSTGRES_INSERT: Final = (
    f"INSERT INTO decisions ({_INSERT_COLUMNS}) SELECT * FROM unnest("
    + ", ".join(f"${at}::{_POSTGRES_TYPES.get(name, 'text')}[]" for at, name in enumerate(DECISION_COLUMNS, 1))
    + ") ON CONFLICT (origin, number) DO NOTHING"
)


def insert_decisions(values: Sequence[tuple[Any, ...]]) -> Query[None]:
    """Rows of DECISION_COLUMNS. Those that are there already stay.

    One statement of the driver: SQLAlchemy's own way costs three times as much.
    """

    def work(connection: Connection) -> None:
        if not values:
            return
        if connection.dialect.name == "sqlite":
            driver: Any = connection.connection.driver_connection
            driver.executemany(_SQLITE_INSERT, values)
        else:
            connection.exec_driver_sql(_POSTGRES_INSERT, tuple([list(column) for column in zip(*values, strict=True)]))

    return work
