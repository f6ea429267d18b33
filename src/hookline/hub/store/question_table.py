"""Questions of other hosts that wait for a person, and what was answered.

A question that waits has its texts as the host wrote them: people must see what they approve. Once it is answered they are
kept masked, as in the record. The answer itself stays as it was given until the time of the host is over: the host runs a
changed input, and fetches it again if the connection breaks.
"""

from __future__ import annotations

from typing import Any, Final

from sqlalchemy import Connection, func, select, update

from hookline.hooks.record_settings import RecordedFacts
from hookline.lazy_dataclasses import dataclass
from hookline.record.facts import RecordableFacts
from hookline.runtime.gate import fingerprint
from hookline.runtime.storage.database import Database, column_values
from hookline.runtime.storage.hub_tables import questions
from hookline.runtime.storage.queries import insert_into

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
    input_hash: str  # after the answer: of the input that the person let run
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


_ASKED: Final = ("input", "reason")
_ANSWERED: Final = ("edited", "why")
TEXTS_WITH_SECRETS: Final = (*_ASKED, *_ANSWERED)
_NAMES = tuple(QuestionRow.__dataclass_fields__)
_COLUMNS = tuple(questions.c[name] for name in _NAMES)


class QuestionTable:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._masked_until = 0.0  # answers whose time was over by then are masked

    async def add(self, row: QuestionRow) -> bool:
        """False if there is one with this id."""
        values = column_values({name: getattr(row, name) for name in _NAMES})

        def work(connection: Connection) -> bool:
            statement = insert_into(connection.dialect.name, questions).values(values).on_conflict_do_nothing()
            return bool(connection.execute(statement).rowcount == 1)

        return await self._database.write(work)

    async def find(self, id: str) -> QuestionRow | None:
        found = await self._select(questions.c.id == id, limit=1)
        return found[0] if found else None

    async def waiting(self) -> list[QuestionRow]:
        """Oldest first."""
        return list(reversed(await self._select(questions.c.state == WAITING)))

    async def count_waiting(self, key: str) -> int:
        """Those that this credential asked."""
        statement = select(func.count()).where(questions.c.state == WAITING, questions.c.key == key)
        return await self._database.read(lambda connection: int(connection.execute(statement).scalar_one()))

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
            questions.c.input_hash == row.input_hash,
            limit=1,
        )
        return found[0] if found else None

    async def close(self, id: str, state: str, now: float, **answer: Any) -> bool:
        """The first answer counts: False if it was answered already, or the time is over."""
        row = await self.find(id)
        if row is None:
            return False
        values = {"state": state, "answered_at": now, **answer, **_masked(row, _ASKED)}
        if answer.get("edited") is not None:  # a call that was changed is not approved as it was
            values["input_hash"] = fingerprint(row.tool, answer["edited"])
        is_open = questions.c.id == id, questions.c.state == WAITING, questions.c.expires > now
        statement = update(questions).where(*is_open).values(**column_values(values))
        return await self._database.write(lambda connection: connection.execute(statement).rowcount == 1)

    async def mark_edit_denied(self, id: str) -> bool:
        """Hooks denied the input that a person let run instead. False if no such answer was given."""
        is_edit = questions.c.id == id, questions.c.state == "approved", questions.c.edited.is_not(None)
        statement = update(questions).where(*is_edit).values(state="denied")
        return await self._database.write(lambda connection: connection.execute(statement).rowcount == 1)

    async def expire(self, now: float) -> list[str]:
        """Closes those whose time is over, and returns their ids."""
        late = await self._select(questions.c.state == WAITING, questions.c.expires <= now)
        for row in late:
            values = {"state": "expired", "answered_at": now, **_masked(row, _ASKED)}
            await self._update(values, questions.c.id == row.id, questions.c.state == WAITING)
        return [row.id for row in late]

    async def mask_answers(self, now: float) -> None:
        """Of questions whose host does not wait any more."""
        is_over = questions.c.state != WAITING, questions.c.expires <= now, questions.c.expires > self._masked_until
        has_answer = questions.c.edited.is_not(None) | questions.c.why.is_not(None)
        for row in await self._select(*is_over, has_answer, limit=None):
            await self._update(_masked(row, _ANSWERED), questions.c.id == row.id)
        self._masked_until = now

    async def _update(self, values: dict[str, Any], *conditions: Any) -> None:
        statement = update(questions).where(*conditions).values(**column_values(values))
        await self._database.write(lambda connection: connection.execute(statement) and None)

    async def _select(self, *conditions: Any, limit: int | None = 1000) -> list[QuestionRow]:
        statement = (
            select(*_COLUMNS).where(*conditions).order_by(questions.c.created.desc(), questions.c.id).limit(limit)
        )
        return await self._database.read(
            lambda connection: [QuestionRow(*row) for row in connection.execute(statement)]
        )


def mask_text(value: Any) -> Any:
    """A text, or an input with its texts, as it is recorded."""
    return RecordableFacts(RecordedFacts.MASKED, masks=True).value(value)


def _masked(row: QuestionRow, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: mask_text(getattr(row, name)) for name in names}
