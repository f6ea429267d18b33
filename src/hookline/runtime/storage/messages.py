"""The messages of a thread, and what hooks put beside them for the model."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import ColumnElement, Connection, Insert, Row, Select, bindparam, func, insert, select, update

from hookline.errors import HooklineError
from hookline.runtime.storage.rows import Injection
from hookline.runtime.storage.schema import injections, messages
from hookline.runtime.storage.texts import encoded
from hookline.runtime.storage.upsert import inserting
from hookline.runtime.storage.work import Work, hold, made, rows_of, values_of

_COLUMNS: Final[dict[str, type]] = {
    "role": str,
    "content": str,
    "name": str,
    "tool_calls": str,
    "tool_call_id": str,
    "created_at": int,
    "parent_id": str,
    "depth": int,
}
_MOST: Final = 2**63
_IN_HISTORY: Final = messages.c.gone.is_(None)
_STORED: Final = select(*(messages.c[name] for name in ("id", *_COLUMNS, "extra")))


def add(thread: str, message: dict[str, Any]) -> Work[None]:
    """The same message once more changes nothing: whoever did not hear that it was stored may try again."""
    values = {"thread": thread, "of_thread": thread, **_values(message)}

    def work(connection: Connection) -> None:
        hold(connection, thread)
        if connection.execute(_adding(connection.dialect.name), values).rowcount:
            return
        if _one(connection, _STORED.where(*_named(thread, values["id"]))) != message:
            raise HooklineError(f"there is another message {values['id']!r} in the thread {thread}")

    return work


def change(thread: str, id: str, updates: dict[str, Any]) -> Work[dict[str, Any]]:
    if updates.get("id", id) != id:
        raise HooklineError(f"the message {id!r} cannot take another id")
    _values({"id": id, **updates})

    def work(connection: Connection) -> dict[str, Any]:
        hold(connection, thread)
        found = _one(connection, _STORED.where(*_named(thread, id), _IN_HISTORY))
        if found is None:
            raise HooklineError(f"there is no message {id!r} in the thread {thread}")
        new = {**found, **updates}
        connection.execute(update(messages).where(*_named(thread, id)), _values(new))
        return new

    return work


def history(thread: str, limit: int | None, offset: int) -> Work[list[dict[str, Any]]]:
    last_first = _STORED.where(messages.c.thread == thread, _IN_HISTORY).order_by(messages.c.position.desc())
    if offset > 0:
        last_first = last_first.offset(offset)
    if limit is not None:
        last_first = last_first.limit(max(limit, 0))
    return lambda connection: [_message(row) for row in reversed(connection.execute(last_first).all())]


def compact(thread: str, gone: Sequence[str], stands_in: dict[str, Any]) -> Work[None]:
    new = {"thread": thread, **_values(stands_in)}
    if not gone:
        raise HooklineError("there is nothing to compact: no message was named")
    leave = update(messages).where(messages.c.thread == thread, messages.c.id == bindparam("of_id"))
    live = select(messages.c.id, messages.c.position).where(messages.c.thread == thread, _IN_HISTORY)

    def work(connection: Connection) -> None:
        hold(connection, thread)
        places = {row.id: int(row.position) for row in connection.execute(live)}
        if missing := next((id for id in gone if id not in places), None):
            raise HooklineError(f"there is no message {missing!r} in the thread {thread}")
        connection.execute(leave.values(gone=new["id"]), [{"of_id": id} for id in gone])
        connection.execute(insert(messages), {**new, "position": min(places[id] for id in gone)})

    return work


def inject(thread: str, injection: Injection) -> Work[None]:
    values = {"thread": thread, **values_of(injection)}

    def work(connection: Connection) -> None:
        connection.execute(insert(injections), values)

    return work


def injected(thread: str) -> Work[list[Injection]]:
    found = rows_of(Injection, injections).where(injections.c.thread == thread).order_by(injections.c.sequence)
    return lambda connection: made(Injection, connection.execute(found))


@cache
def _adding(dialect: str) -> Insert:
    last = select(func.coalesce(func.max(messages.c.position), 0))
    last = last.where(messages.c.thread == bindparam("of_thread"), _IN_HISTORY)
    new = inserting(dialect, messages).values(position=last.scalar_subquery() + 1)
    return new.on_conflict_do_nothing(index_elements=["thread", "id"])


def _named(thread: str, id: str) -> tuple[ColumnElement[bool], ...]:
    return messages.c.thread == thread, messages.c.id == id


def _one(connection: Connection, found: Select[Any]) -> dict[str, Any] | None:
    row = connection.execute(found).one_or_none()
    return None if row is None else _message(row)


def _values(message: dict[str, Any]) -> dict[str, Any]:
    """Nothing of a message is lost, and nothing is made up: a key that was not there will not be there again."""
    id = message.get("id")
    if not isinstance(id, str) or not id:
        raise HooklineError("a message needs an id that is text")
    values: dict[str, Any] = {"id": id, **dict.fromkeys(_COLUMNS)}
    extra = {}
    for key, value in message.items():
        if key in _COLUMNS and _fits(_COLUMNS[key], value):
            values[key] = value
        elif key != "id":
            extra[key] = value
    values["extra"] = encoded(extra) if extra else None
    return values


def _fits(column: type, value: Any) -> bool:
    return type(value) is column and (not isinstance(value, int) or -_MOST <= value < _MOST)


def _message(row: Row[Any]) -> dict[str, Any]:
    values = row._mapping
    given = {key: values[key] for key in ("id", *_COLUMNS) if values[key] is not None}
    return {**given, **(values["extra"] or {})}
