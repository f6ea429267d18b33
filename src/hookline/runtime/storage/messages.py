"""The messages of a thread, and what hooks put beside them for the model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from sqlalchemy import BigInteger, ColumnElement, Connection, Insert, Row, bindparam, func, insert, select, update

from hookline.errors import HooklineError
from hookline.runtime.storage.calls import unqueue
from hookline.runtime.storage.rows import Injection, QueuedRow
from hookline.runtime.storage.schema import injections, messages
from hookline.runtime.storage.texts import as_stored, copied, encoded, read
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
_KEYS: Final = ("id", *_COLUMNS, "extra")
_MOST: Final = 2**63 - 1
_IN_HISTORY: Final = messages.c.gone.is_(None)
_STORED: Final = select(*(as_stored(messages.c[key]) for key in _KEYS))
_LAST_FIRST: Final = (
    _STORED.where(messages.c.thread == bindparam("of_thread"), _IN_HISTORY)
    .order_by(messages.c.position.desc())
    .limit(bindparam("most", type_=BigInteger))
    .offset(bindparam("after", type_=BigInteger))
)


def add(thread: str, message: dict[str, Any], asks_for: QueuedRow | None = None) -> Work[None]:
    """The same message once more changes nothing: whoever did not hear that it was stored may try again."""
    stored = _values(message)
    values = {"thread": thread, "of_thread": thread, **stored}

    def work(connection: Connection) -> None:
        hold(connection, thread=thread)
        if connection.execute(_adding(connection.dialect.name), values).rowcount:
            if asks_for is not None and not unqueue(thread, [asks_for])(connection):
                raise HooklineError(f"{asks_for.name} does not wait in the thread {thread} any more")
            return
        found = connection.execute(_STORED.where(*_named(thread, stored["id"]))).one()
        if _values(_message(found)) != stored:
            raise HooklineError(f"there is another message {stored['id']!r} in the thread {thread}")

    return work


def change(thread: str, id: str, updates: dict[str, Any]) -> Work[dict[str, Any]]:
    if updates.get("id", id) != id:
        raise HooklineError(f"the message {id!r} cannot take another id")
    given = copied(updates)

    def work(connection: Connection) -> dict[str, Any]:
        hold(connection, thread=thread)
        found = connection.execute(_STORED.where(*_named(thread, id), _IN_HISTORY)).one_or_none()
        if found is None:
            raise HooklineError(f"there is no message {id!r} in the thread {thread}")
        new = {**_message(found), **given}
        connection.execute(update(messages).where(*_named(thread, id)), _values(new))
        return new

    return work


def history(thread: str, limit: int | None, offset: int) -> Work[list[dict[str, Any]]]:
    most = _MOST if limit is None else min(max(limit, 0), _MOST)
    values = {"of_thread": thread, "most": most, "after": max(offset, 0)}
    return lambda connection: [_message(row) for row in reversed(connection.execute(_LAST_FIRST, values).all())]


def first_prompt(thread: str) -> Work[dict[str, Any] | None]:
    first = _STORED.where(messages.c.thread == thread, messages.c.role == "user").order_by(messages.c.sequence).limit(1)

    def work(connection: Connection) -> dict[str, Any] | None:
        found = connection.execute(first).one_or_none()
        return None if found is None else _message(found)

    return work


def compact(thread: str, gone: Sequence[str], stands_in: dict[str, Any]) -> Work[None]:
    new = {"thread": thread, **_values(stands_in)}
    if not gone:
        raise HooklineError("there is nothing to compact: no message was named")
    leave = update(messages).where(messages.c.thread == thread, messages.c.id == bindparam("of_id"))
    live = select(messages.c.id, messages.c.position).where(messages.c.thread == thread, _IN_HISTORY)

    def work(connection: Connection) -> None:
        hold(connection, thread=thread)
        places = {row.id: int(row.position) for row in connection.execute(live)}
        if missing := next((id for id in gone if id not in places), None):
            raise HooklineError(f"there is no message {missing!r} in the thread {thread}")
        connection.execute(leave.values(gone=new["id"]), [{"of_id": id} for id in gone])
        connection.execute(insert(messages), {**new, "position": min(places[id] for id in gone)})

    return work


def inject(thread: str, injection: Injection) -> Work[None]:
    values = {"thread": thread, **values_of(injection)}

    def work(connection: Connection) -> None:
        hold(connection, thread=thread)
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
    return type(value) is column and (not isinstance(value, int) or -_MOST <= value <= _MOST)


def _message(row: Row[Any]) -> dict[str, Any]:
    """By hand, not by the columns' types: histories are read often, and this takes a third of the time."""
    stored = {
        key: value if isinstance(value, int) else read(value)
        for key, value in zip(_KEYS, row, strict=True)
        if value is not None
    }
    extra = stored.pop("extra", None)
    return stored if extra is None else {**stored, **json.loads(str(extra))}
