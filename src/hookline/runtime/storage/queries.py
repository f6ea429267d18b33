"""The queries of the store, in the order of its tables: each function returns a query for `Database.read` or `write`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    Insert,
    Row,
    Table,
    bindparam,
    delete,
    func,
    insert,
    select,
    update,
)

from hookline.errors import HooklineError
from hookline.runtime.storage import tables
from hookline.runtime.storage.columns import copy_json, decode_json, encode_json, raw_column, unescape_text
from hookline.runtime.storage.database import (
    Query,
    build_rows,
    changed_columns,
    column_values,
    lock_session,
    require_one_row,
    row_values,
    select_rows,
)
from hookline.runtime.storage.prepared_statement import PreparedStatement
from hookline.runtime.storage.tables import (
    ApprovalRow,
    CallEnd,
    CallRow,
    Injection,
    QueuedToolRow,
    SessionRow,
    ThreadRow,
    approvals,
    files,
    injections,
    key_values,
    messages,
    queue,
    sessions,
    threads,
    tool_calls,
)

if TYPE_CHECKING:
    from sqlalchemy.dialects.postgresql import Insert as PostgresInsert
    from sqlalchemy.dialects.sqlite import Insert as SqliteInsert

    AnyInsert: TypeAlias = PostgresInsert | SqliteInsert


def insert_into(dialect: str, table: Table) -> AnyInsert:
    if dialect == "postgresql":
        from sqlalchemy.dialects import postgresql

        return postgresql.insert(table)
    from sqlalchemy.dialects import sqlite

    return sqlite.insert(table)


@cache
def upsert_into(dialect: str, table: Table) -> AnyInsert:
    """Needs every column; overwrites the row with the same primary key."""
    new = insert_into(dialect, table)
    others = {each.name: new.excluded[each.name] for each in table.columns if not each.primary_key}
    return new.on_conflict_do_update(index_elements=[each.name for each in table.primary_key], set_=others)


_UPDATE_SESSION: Final = PreparedStatement(lambda _: update(sessions).where(sessions.c.id == bindparam("of_id")))


def insert_session(session: SessionRow) -> Query[None]:
    values = row_values(session)

    def work(connection: Connection) -> None:
        connection.execute(insert(sessions), values)

    return work


def select_session(id: str) -> Query[SessionRow | None]:
    statement = select_rows(SessionRow, sessions).where(sessions.c.id == id)
    return lambda connection: next(iter(build_rows(SessionRow, connection.execute(statement))), None)


def select_recent_sessions(limit: int) -> Query[list[SessionRow]]:
    newest_first = sessions.c.last_used.desc(), sessions.c.id
    statement = select_rows(SessionRow, sessions).order_by(*newest_first).limit(max(limit, 0))
    return lambda connection: build_rows(SessionRow, connection.execute(statement))


def update_session(id: str, changed: dict[str, Any]) -> Query[None]:
    values = {"of_id": id, **changed_columns(SessionRow, changed)}

    def work(connection: Connection) -> None:
        lock_session(connection, session=id)
        require_one_row(_UPDATE_SESSION.execute(connection, values).rowcount, f"session {id!r}")

    return work


def is_claim_ours(id: str) -> Query[bool]:
    def work(connection: Connection) -> bool:
        try:
            lock_session(connection, session=id)
        except HooklineError:
            return False
        return True

    return work


def delete_session(id: str) -> Query[None]:
    def work(connection: Connection) -> None:
        thread_ids = connection.scalars(select(threads.c.id).where(threads.c.session == id)).all()
        for owner in (id, *thread_ids):
            connection.execute(delete(key_values).where(key_values.c.owner == owner))
        connection.execute(delete(sessions).where(sessions.c.id == id))

    return work


_UPDATE_THREAD: Final = PreparedStatement(lambda _: update(threads).where(threads.c.id == bindparam("of_id")))


def insert_thread(thread: ThreadRow) -> Query[None]:
    values = row_values(thread)

    def work(connection: Connection) -> None:
        lock_session(connection, session=thread.session)
        connection.execute(insert(threads), values)

    return work


def select_thread(id: str) -> Query[ThreadRow | None]:
    statement = select_rows(ThreadRow, threads).where(threads.c.id == id)
    return lambda connection: next(iter(build_rows(ThreadRow, connection.execute(statement))), None)


def select_threads(session: str) -> Query[list[ThreadRow]]:
    statement = select_rows(ThreadRow, threads).where(threads.c.session == session).order_by(threads.c.sequence)
    return lambda connection: build_rows(ThreadRow, connection.execute(statement))


def update_thread(id: str, changed: dict[str, Any]) -> Query[None]:
    values = {"of_id": id, **changed_columns(ThreadRow, changed)}
    return lambda connection: require_one_row(_UPDATE_THREAD.execute(connection, values).rowcount, f"thread {id!r}")


_MESSAGE_COLUMNS: Final[dict[str, type]] = {
    "role": str,
    "content": str,
    "name": str,
    "tool_calls": str,
    "tool_call_id": str,
    "created_at": int,
    "parent_id": str,
    "depth": int,
}
_MESSAGE_KEYS: Final = ("id", *_MESSAGE_COLUMNS, "extra")
_MAX_INTEGER: Final = 2**63 - 1
_IN_HISTORY: Final = messages.c.gone.is_(None)
_SELECT_MESSAGES: Final = select(*(raw_column(messages.c[key]) for key in _MESSAGE_KEYS))
_SELECT_NEWEST_MESSAGES: Final = (
    _SELECT_MESSAGES.where(messages.c.thread == bindparam("of_thread"), _IN_HISTORY)
    .order_by(messages.c.position.desc())
    .limit(bindparam("most", type_=BigInteger))
    .offset(bindparam("after", type_=BigInteger))
)


def insert_message(
    thread: str, message: dict[str, Any], asks_for: QueuedToolRow | None = None, ends: CallEnd | None = None
) -> Query[None]:
    """Storing the same message again changes nothing, so a caller that got no answer may retry."""
    stored = _message_values(message)
    values = {"thread": thread, "of_thread": thread, **stored}

    end = None if ends is None else end_call(ends)

    def work(connection: Connection) -> None:
        lock_session(connection, thread=thread)
        if end is not None:
            end(connection)
        if _INSERT_MESSAGE.execute(connection, values).rowcount:
            if asks_for is not None and not delete_queued_tools(thread, [asks_for])(connection):
                raise HooklineError(f"{asks_for.name} is no longer queued in the thread {thread}")
            return
        row = connection.execute(_SELECT_MESSAGES.where(*_message_filter(thread, stored["id"]))).one()
        if _message_values(_message_from_row(row)) != stored:
            raise HooklineError(f"the thread {thread} already has another message {stored['id']!r}")

    return work


def update_message(thread: str, id: str, updates: dict[str, Any]) -> Query[dict[str, Any]]:
    if updates.get("id", id) != id:
        raise HooklineError(f"the id of the message {id!r} cannot be changed")
    given = copy_json(updates)

    def work(connection: Connection) -> dict[str, Any]:
        lock_session(connection, thread=thread)
        row = connection.execute(_SELECT_MESSAGES.where(*_message_filter(thread, id), _IN_HISTORY)).one_or_none()
        if row is None:
            raise HooklineError(f"there is no message {id!r} in the thread {thread}")
        new = {**_message_from_row(row), **given}
        connection.execute(update(messages).where(*_message_filter(thread, id)), _message_values(new))
        return new

    return work


def select_messages(thread: str, limit: int | None, offset: int) -> Query[list[dict[str, Any]]]:
    most = _MAX_INTEGER if limit is None else min(max(limit, 0), _MAX_INTEGER)
    values = {"of_thread": thread, "most": most, "after": max(offset, 0)}
    return lambda connection: [
        _message_from_row(row) for row in reversed(connection.execute(_SELECT_NEWEST_MESSAGES, values).all())
    ]


def select_first_prompt(thread: str) -> Query[dict[str, Any] | None]:
    first = (
        _SELECT_MESSAGES.where(messages.c.thread == thread, messages.c.role == "user")
        .order_by(messages.c.sequence)
        .limit(1)
    )

    def work(connection: Connection) -> dict[str, Any] | None:
        found = connection.execute(first).one_or_none()
        return None if found is None else _message_from_row(found)

    return work


def compact_messages(thread: str, gone: Sequence[str], stands_in: dict[str, Any]) -> Query[None]:
    new = {"thread": thread, **_message_values(stands_in)}
    if not gone:
        raise HooklineError("there is nothing to compact: no message was named")
    mark_gone = update(messages).where(messages.c.thread == thread, messages.c.id == bindparam("of_id"))
    in_history = select(messages.c.id, messages.c.position).where(messages.c.thread == thread, _IN_HISTORY)

    def work(connection: Connection) -> None:
        lock_session(connection, thread=thread)
        positions = {row.id: int(row.position) for row in connection.execute(in_history)}
        if missing := next((id for id in gone if id not in positions), None):
            raise HooklineError(f"there is no message {missing!r} in the thread {thread}")
        connection.execute(mark_gone.values(gone=new["id"]), [{"of_id": id} for id in gone])
        connection.execute(insert(messages), {**new, "position": min(positions[id] for id in gone)})

    return work


@cache
def _insert_message_statement(dialect: str) -> Insert:
    last = select(func.coalesce(func.max(messages.c.position), 0))
    last = last.where(messages.c.thread == bindparam("of_thread"), _IN_HISTORY)
    new = insert_into(dialect, messages).values(position=last.scalar_subquery() + 1)
    return new.on_conflict_do_nothing(index_elements=["thread", "id"])


_INSERT_MESSAGE: Final = PreparedStatement(_insert_message_statement)


def _message_filter(thread: str, id: str) -> tuple[ColumnElement[bool], ...]:
    return messages.c.thread == thread, messages.c.id == id


def _message_values(message: dict[str, Any]) -> dict[str, Any]:
    """Stores every key of the message and adds none, so that it is read back exactly as it was."""
    id = message.get("id")
    if not isinstance(id, str) or not id:
        raise HooklineError("a message needs an id that is text")
    values: dict[str, Any] = {"id": id, **dict.fromkeys(_MESSAGE_COLUMNS)}
    extra = {}
    for key, value in message.items():
        if key in _MESSAGE_COLUMNS and _fits_column(_MESSAGE_COLUMNS[key], value):
            values[key] = value
        elif key != "id":
            extra[key] = value
    values["extra"] = encode_json(extra) if extra else None
    return values


def _fits_column(column: type, value: Any) -> bool:
    return type(value) is column and (not isinstance(value, int) or -_MAX_INTEGER <= value <= _MAX_INTEGER)


def _message_from_row(row: Row[Any]) -> dict[str, Any]:
    """Decodes without the column types: histories are read often, and this takes a third of the time."""
    stored = {
        key: value if isinstance(value, int) else unescape_text(value)
        for key, value in zip(_MESSAGE_KEYS, row, strict=True)
        if value is not None
    }
    extra = stored.pop("extra", None)
    return stored if extra is None else {**stored, **json.loads(str(extra))}


_INSERT_INJECTION: Final = PreparedStatement(lambda _: insert(injections))


def insert_injection(thread: str, injection: Injection) -> Query[None]:
    values = {"thread": thread, **row_values(injection)}

    def work(connection: Connection) -> None:
        lock_session(connection, thread=thread)
        _INSERT_INJECTION.execute(connection, values)

    return work


def select_injections(thread: str) -> Query[list[Injection]]:
    statement = select_rows(Injection, injections).where(injections.c.thread == thread).order_by(injections.c.sequence)
    return lambda connection: build_rows(Injection, connection.execute(statement))


_CALL_FILTER: Final = (tool_calls.c.thread == bindparam("of_thread"), tool_calls.c.call == bindparam("of_call"))
_ATTEMPT_FILTER: Final = (*_CALL_FILTER, tool_calls.c.attempt == bindparam("of_attempt"))
_LAST_ATTEMPT: Final = select(func.coalesce(func.max(tool_calls.c.attempt), 0)).where(*_CALL_FILTER).scalar_subquery()
_INSERT_CALL: Final = PreparedStatement(
    lambda _: insert(tool_calls).values(attempt=_LAST_ATTEMPT + 1).returning(tool_calls.c.attempt)
)
_SELECT_ATTEMPT: Final = select(tool_calls.c.sequence).where(*_ATTEMPT_FILTER)
_UPDATE_CALL: Final = PreparedStatement(
    lambda _: update(tool_calls).where(*_ATTEMPT_FILTER, tool_calls.c.ended.is_(None))
)


def begin_call(call: CallRow) -> Query[int]:
    values = {**row_values(call), "of_thread": call.thread, "of_call": call.call}
    del values["attempt"]

    def work(connection: Connection) -> int:
        lock_session(connection, thread=call.thread)
        return int(_INSERT_CALL.execute(connection, values).fetchall()[0][0])

    return work


def end_call(end: CallEnd) -> Query[None]:
    key = {"of_thread": end.thread, "of_call": end.call, "of_attempt": end.attempt}
    values = {**key, "ok": end.ok, "result": end.result, "error": end.error, "ended": end.ended}

    def work(connection: Connection) -> None:
        if _UPDATE_CALL.execute(connection, values).rowcount:
            return
        if connection.execute(_SELECT_ATTEMPT, key).first() is None:
            raise HooklineError(f"the call {end.call!r} has no attempt {end.attempt} in the thread {end.thread}")

    return work


def select_calls(thread: str) -> Query[list[CallRow]]:
    statement = select_rows(CallRow, tool_calls).where(tool_calls.c.thread == thread).order_by(tool_calls.c.sequence)
    return lambda connection: build_rows(CallRow, connection.execute(statement))


def insert_approval(approval: ApprovalRow) -> Query[None]:
    values = row_values(approval)

    def work(connection: Connection) -> None:
        lock_session(connection, session=approval.session)
        connection.execute(insert(approvals), values)

    return work


def select_approval(id: str) -> Query[ApprovalRow | None]:
    statement = select_rows(ApprovalRow, approvals).where(approvals.c.id == id)
    return lambda connection: next(iter(build_rows(ApprovalRow, connection.execute(statement))), None)


def answer_approval(id: str, yes: bool, by: str, now: float, more: dict[str, Any]) -> Query[bool]:
    is_waiting = approvals.c.id == id, approvals.c.answered.is_(None), approvals.c.expires > now
    statement = update(approvals).where(*is_waiting).values(answered=yes, by=by, answered_at=now, **column_values(more))
    return lambda connection: connection.execute(statement).rowcount == 1


def select_call_approvals(thread: str, call: str) -> Query[list[ApprovalRow]]:
    statement = select_rows(ApprovalRow, approvals).where(approvals.c.thread == thread, approvals.c.call == call)
    statement = statement.order_by(approvals.c.created, approvals.c.id)
    return lambda connection: build_rows(ApprovalRow, connection.execute(statement))


def select_remembered_approval(like: ApprovalRow) -> Query[ApprovalRow | None]:
    """The row of a changed input has that input's hash; the one before it, with `edited`, approved nothing as it was."""
    same = [approvals.c[name] == getattr(like, name) for name in ("session", "hook", "input_hash")]
    for_session = approvals.c.answered.is_(True), approvals.c.remember == "session"
    statement = select_rows(ApprovalRow, approvals).where(*same, *for_session)
    return lambda connection: next(
        (row for row in build_rows(ApprovalRow, connection.execute(statement)) if row.edited is None), None
    )


def select_answered_approvals(limit: int, before: float | None) -> Query[list[ApprovalRow]]:
    statement = select_rows(ApprovalRow, approvals).where(approvals.c.answered.is_not(None))
    if before is not None:
        statement = statement.where(approvals.c.created < before)
    statement = statement.order_by(approvals.c.created.desc(), approvals.c.id).limit(limit)
    return lambda connection: build_rows(ApprovalRow, connection.execute(statement))


def select_waiting_approvals(session: str | None) -> Query[list[ApprovalRow]]:
    statement = select_rows(ApprovalRow, approvals).where(approvals.c.answered.is_(None))
    if session is not None:
        statement = statement.where(approvals.c.session == session)
    statement = statement.order_by(approvals.c.created, approvals.c.id)
    return lambda connection: build_rows(ApprovalRow, connection.execute(statement))


def upsert_file(thread: str, path: str, data: bytes, mime_type: str) -> Query[dict[str, Any]]:
    values = {"thread": thread, "path": path, "data": bytes(data), "mime_type": mime_type, "size": len(data)}

    def work(connection: Connection) -> dict[str, Any]:
        lock_session(connection, thread=thread)
        connection.execute(upsert_into(connection.dialect.name, files), values)
        return _file_reference(path, mime_type, len(data))

    return work


def select_file_data(thread: str, path: str) -> Query[bytes | None]:
    statement = select(files.c.data).where(files.c.thread == thread, files.c.path == path)
    return lambda connection: connection.execute(statement).scalar_one_or_none()


def select_files(thread: str, path: str) -> Query[list[dict[str, Any]]]:
    prefix = f"{path.strip('/')}/" if path.strip("/") else ""
    statement = select(files.c.path, files.c.mime_type, files.c.size).where(files.c.thread == thread)

    def work(connection: Connection) -> list[dict[str, Any]]:
        rows = sorted(tuple(row) for row in connection.execute(statement))
        return [_file_reference(*row) for row in rows if row[0].startswith(prefix) or row[0] == path]

    return work


def delete_stored_file(thread: str, path: str) -> Query[bool]:
    statement = delete(files).where(files.c.thread == thread, files.c.path == path)

    def work(connection: Connection) -> bool:
        lock_session(connection, thread=thread)
        return connection.execute(statement).rowcount == 1

    return work


def _file_reference(path: str, mime_type: str, size: int) -> dict[str, Any]:
    name = path.rpartition("/")[2]
    return {"id": path, "type": "file", "path": path, "name": name, "mimeType": mime_type, "size": size}


_SELECT_VALUE: Final = PreparedStatement(
    lambda _: select(raw_column(key_values.c.value)).where(
        key_values.c.owner == bindparam("of_owner"), key_values.c.key == bindparam("of_key")
    )
)
_COUNT_KEYS: Final = PreparedStatement(
    lambda _: select(func.count()).select_from(key_values).where(key_values.c.owner == bindparam("of_owner"))
)
_UPSERT_VALUE: Final = PreparedStatement(partial(upsert_into, table=key_values))


def select_value(owner: str, key: str) -> Query[Any]:
    def work(connection: Connection) -> Any:
        found = _SELECT_VALUE.execute(connection, {"of_owner": owner, "of_key": key}).fetchall()
        return decode_json(found[0][0]) if found else None

    return work


def upsert_value(owner: str, key: str, value: Any, max_keys: int | None = None) -> Query[bool]:
    values = {"owner": owner, "key": key, "value": encode_json(value)}

    def has_room(connection: Connection) -> bool:
        if max_keys is None or _COUNT_KEYS.execute(connection, {"of_owner": owner}).fetchall()[0][0] < max_keys:
            return True
        return bool(_SELECT_VALUE.execute(connection, {"of_owner": owner, "of_key": key}).fetchall())

    def work(connection: Connection) -> bool:
        if not has_room(connection):
            return False
        _UPSERT_VALUE.execute(connection, values)
        return True

    return work


def delete_value(owner: str, key: str) -> Query[bool]:
    statement = delete(key_values).where(key_values.c.owner == owner, key_values.c.key == key)
    return lambda connection: connection.execute(statement).rowcount == 1


def select_keys(owner: str) -> Query[list[str]]:
    statement = select(key_values.c.key).where(key_values.c.owner == owner)
    return lambda connection: sorted(connection.scalars(statement))


_UPSERT_COUNTS: Final = PreparedStatement(partial(upsert_into, table=tables.counts))


def upsert_counts(session: str, counts: list[dict[str, Any]]) -> Query[None]:
    values = {"session": session, "counts": encode_json(counts)}

    def work(connection: Connection) -> None:
        _UPSERT_COUNTS.execute(connection, values)

    return work


def select_counts(session: str) -> Query[list[dict[str, Any]]]:
    statement = select(tables.counts.c.counts).where(tables.counts.c.session == session)
    return lambda connection: connection.execute(statement).scalar_one_or_none() or []


def insert_queued_tool(thread: str, name: str, input: dict[str, Any]) -> Query[None]:
    values = {"thread": thread, "name": name, "input": encode_json(input)}

    def work(connection: Connection) -> None:
        lock_session(connection, thread=thread)
        connection.execute(insert(queue), values)

    return work


def select_queued_tools(thread: str) -> Query[list[QueuedToolRow]]:
    statement = select_rows(QueuedToolRow, queue).where(queue.c.thread == thread).order_by(queue.c.sequence)
    return lambda connection: build_rows(QueuedToolRow, connection.execute(statement))


def delete_queued_tools(thread: str, rows: Sequence[QueuedToolRow]) -> Query[int]:
    """Returns how many of them were still queued."""
    statement = delete(queue).where(queue.c.sequence.in_([row.sequence for row in rows]))

    def work(connection: Connection) -> int:
        lock_session(connection, thread=thread)
        return connection.execute(statement).rowcount

    return work
