"""Questions to people, each bound to one call."""

from __future__ import annotations

from sqlalchemy import Connection, insert, update

from hookline.runtime.storage.rows import ApprovalRow
from hookline.runtime.storage.schema import approvals
from hookline.runtime.storage.work import Work, hold, made, rows_of, values_of


def add(approval: ApprovalRow) -> Work[None]:
    values = values_of(approval)

    def work(connection: Connection) -> None:
        hold(connection, session=approval.session)
        connection.execute(insert(approvals), values)

    return work


def one(id: str) -> Work[ApprovalRow | None]:
    found = rows_of(ApprovalRow, approvals).where(approvals.c.id == id)
    return lambda connection: next(iter(made(ApprovalRow, connection.execute(found))), None)


def answer(id: str, yes: bool, by: str, now: float) -> Work[bool]:
    waits = approvals.c.id == id, approvals.c.answered.is_(None), approvals.c.expires > now
    answering = update(approvals).where(*waits).values(answered=yes, by=by, answered_at=now)
    return lambda connection: connection.execute(answering).rowcount == 1


def of_call(thread: str, call: str) -> Work[list[ApprovalRow]]:
    found = rows_of(ApprovalRow, approvals).where(approvals.c.thread == thread, approvals.c.call == call)
    found = found.order_by(approvals.c.created, approvals.c.id)
    return lambda connection: made(ApprovalRow, connection.execute(found))


def waiting(session: str | None) -> Work[list[ApprovalRow]]:
    found = rows_of(ApprovalRow, approvals).where(approvals.c.answered.is_(None))
    if session is not None:
        found = found.where(approvals.c.session == session)
    found = found.order_by(approvals.c.created, approvals.c.id)
    return lambda connection: made(ApprovalRow, connection.execute(found))
