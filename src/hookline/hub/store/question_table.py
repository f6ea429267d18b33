"""Questions of other hosts that wait for a person, and what was answered."""

from __future__ import annotations

from typing import Any

from sqlalchemy import insert, select, update

from hookline.lazy_dataclasses import dataclass
from hookline.runtime.gate import fingerprint
from hookline.runtime.storage.database import Database, column_values
from hookline.runtime.storage.hub_tables import questions

WAITING = "waiting"


@dataclass(frozen=True, slots=True)
class QuestionRow:
    id: str
    origin: str
    key: str  # of the credential that asked
    host: str
    machine: str
    user: str
    session: str
    agent: str
    call: str
    tool: str
    input: dict[str, Any]
    input_hash: str
    reason: str
    hook: str
    can_edit: bool
    created: float
    expires: float
    state: str = WAITING  # waiting, approved, denied, expired or withdrawn
    by: str | None = None
    answered_at: float | None = None
    edited: dict[str, Any] | None = None
    why: str | None = None
    remember: str | None = None


_NAMES = tuple(QuestionRow.__dataclass_fields__)
_COLUMNS = tuple(questions.c[name] for name in _NAMES)


class QuestionTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, row: QuestionRow) -> None:
        statement = insert(questions).values(column_values({name: getattr(row, name) for name in _NAMES}))
        await self._database.write(lambda connection: connection.execute(statement) and None)

    async def find(self, id: str) -> QuestionRow | None:
        found = await self._select(questions.c.id == id, limit=1)
        return found[0] if found else None

    async def waiting(self) -> list[QuestionRow]:
        """Oldest first."""
        return list(reversed(await self._select(questions.c.state == WAITING)))

    async def recent(self, limit: int, before: float | None = None) -> list[QuestionRow]:
        """Those that wait no more, newest first."""
        conditions = [questions.c.state != WAITING]
        if before is not None:
            conditions.append(questions.c.created < before)
        return await self._select(*conditions, limit=limit)

    async def find_remembered(self, row: QuestionRow) -> QuestionRow | None:
        """An earlier yes for the whole session: to the same hook, about the same call as the person left it."""
        if not row.session:  # hosts that name no session would share one for ever
            return None
        found = await self._select(
            questions.c.session == row.session,
            questions.c.hook == row.hook,
            questions.c.tool == row.tool,
            questions.c.key == row.key,
            questions.c.state == "approved",
            questions.c.remember == "session",
        )
        return next((each for each in found if _approved_hash(each) == row.input_hash), None)

    async def close(self, id: str, state: str, now: float, **answer: Any) -> bool:
        """The first answer counts: False if it was answered already, or the time is over."""
        is_open = questions.c.id == id, questions.c.state == WAITING, questions.c.expires > now
        statement = update(questions).where(*is_open).values(state=state, answered_at=now, **column_values(answer))
        return await self._database.write(lambda connection: connection.execute(statement).rowcount == 1)

    async def expire(self, now: float) -> list[str]:
        """Closes those whose time is over, and returns their ids."""
        late = [row.id for row in await self._select(questions.c.state == WAITING, questions.c.expires <= now)]
        statement = (
            update(questions)
            .where(questions.c.id.in_(late), questions.c.state == WAITING)
            .values(state="expired", answered_at=now)
        )
        if late:
            await self._database.write(lambda connection: connection.execute(statement) and None)
        return late

    async def _select(self, *conditions: Any, limit: int = 1000) -> list[QuestionRow]:
        statement = (
            select(*_COLUMNS).where(*conditions).order_by(questions.c.created.desc(), questions.c.id).limit(limit)
        )
        return await self._database.read(
            lambda connection: [QuestionRow(*row) for row in connection.execute(statement)]
        )


def _approved_hash(row: QuestionRow) -> str:
    """Of the input that the person let run: a call that was changed is not approved as it was."""
    return row.input_hash if row.edited is None else fingerprint(row.tool, row.edited)
