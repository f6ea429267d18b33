"""Users and their credentials."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, delete, func, insert, select, update

from hookline.lazy_dataclasses import dataclass
from hookline.runtime.storage.database import Database, Query
from hookline.runtime.storage.hub_tables import credentials, users


@dataclass(frozen=True, slots=True)
class UserRow:
    id: str
    name: str
    role: str
    subject: str | None
    created: float


@dataclass(frozen=True, slots=True)
class CredentialRow:
    """A one-time code, a session of the console, or a key. Only the hash of its secret is kept."""

    hash: str
    id: str
    kind: str
    name: str
    user: str | None
    role: str
    created: float
    expires: float | None
    used: float | None


_USER_COLUMNS = tuple(users.c[name] for name in UserRow.__dataclass_fields__)
_CREDENTIAL_COLUMNS = tuple(credentials.c[name] for name in CredentialRow.__dataclass_fields__)


class UserTable:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def add_user(self, user: UserRow) -> None:
        """Raises HooklineError if the name or the subject is in use."""
        await self._database.write(_execute(insert(users).values(**_values(user))))

    async def users(self) -> list[UserRow]:
        statement = select(*_USER_COLUMNS).order_by(users.c.created, users.c.id)
        return await self._database.read(lambda connection: [UserRow(*row) for row in connection.execute(statement)])

    async def user(self, id: str) -> UserRow | None:
        return await self._user_where(users.c.id == id)

    async def user_named(self, name: str) -> UserRow | None:
        return await self._user_where(users.c.name == name)

    async def user_of_subject(self, subject: str) -> UserRow | None:
        return await self._user_where(users.c.subject == subject)

    async def set_role(self, id: str, role: str, last_of_role: str) -> bool:
        """False if no other user has the role that must be left."""
        return await self._database.write(
            _unless_last(id, role, last_of_role, update(users).where(users.c.id == id).values(role=role))
        )

    async def remove_user(self, id: str, last_of_role: str) -> bool:
        """With all credentials. False if no other user has the role that must be left."""
        return await self._database.write(_unless_last(id, "", last_of_role, delete(users).where(users.c.id == id)))

    async def add_credential(self, row: CredentialRow) -> None:
        await self._database.write(_execute(insert(credentials).values(**_values(row))))

    async def replace_key(self, row: CredentialRow) -> None:
        """Adds the key, and removes those with the same name."""

        def work(connection: Connection) -> None:
            connection.execute(
                delete(credentials).where(credentials.c.kind == row.kind, credentials.c.name == row.name)
            )
            connection.execute(insert(credentials).values(**_values(row)))

        await self._database.write(work)

    async def find(self, hash: str) -> tuple[CredentialRow, UserRow | None] | None:
        joined = credentials.outerjoin(users, users.c.id == credentials.c.user)
        statement = select(*_CREDENTIAL_COLUMNS, *_USER_COLUMNS).select_from(joined).where(credentials.c.hash == hash)
        found = await self._database.read(lambda connection: connection.execute(statement).first())
        if found is None:
            return None
        count = len(_CREDENTIAL_COLUMNS)
        return CredentialRow(*found[:count]), UserRow(*found[count:]) if found[count] is not None else None

    async def take_code(self, hash: str, now: float) -> CredentialRow | None:
        """The code, once: of two that come at the same time, one gets it."""

        def work(connection: Connection) -> CredentialRow | None:
            taken = (
                delete(credentials)
                .where(credentials.c.hash == hash, credentials.c.kind == "code", credentials.c.expires > now)
                .returning(*_CREDENTIAL_COLUMNS)
            )
            row = connection.execute(taken).first()
            return CredentialRow(*row) if row is not None else None

        return await self._database.write(work)

    async def mark_used(self, hash: str, now: float) -> None:
        await self._database.write(_execute(update(credentials).where(credentials.c.hash == hash).values(used=now)))

    async def credentials(self, kind: str, user: str | None = None) -> list[CredentialRow]:
        """Newest first."""
        statement = select(*_CREDENTIAL_COLUMNS).where(credentials.c.kind == kind)
        if user is not None:
            statement = statement.where(credentials.c.user == user)
        newest = statement.order_by(credentials.c.created.desc(), credentials.c.id)
        return await self._database.read(lambda connection: [CredentialRow(*row) for row in connection.execute(newest)])

    async def remove_credential(self, id: str, kind: str) -> bool:
        statement = delete(credentials).where(credentials.c.id == id, credentials.c.kind == kind)
        return await self._database.write(lambda connection: bool(connection.execute(statement).rowcount))

    async def remove_expired(self, now: float, idle_since: float) -> int:
        """Codes and sessions that nobody can use any more."""
        statement = delete(credentials).where(
            (credentials.c.expires < now)
            | (
                (credentials.c.kind == "session")
                & (func.coalesce(credentials.c.used, credentials.c.created) < idle_since)
            )
        )
        return await self._database.write(lambda connection: connection.execute(statement).rowcount)

    async def _user_where(self, condition: Any) -> UserRow | None:
        statement = select(*_USER_COLUMNS).where(condition)
        found = await self._database.read(lambda connection: connection.execute(statement).first())
        return UserRow(*found) if found is not None else None


def _unless_last(id: str, role: str, last_of_role: str, statement: Any) -> Query[bool]:
    """Runs the statement if a user with the role is left then. Two at a time must not both pass: PostgreSQL locks the rows."""
    with_role = select(users.c.id).where(users.c.role == last_of_role).order_by(users.c.id).with_for_update()

    def work(connection: Connection) -> bool:
        left = set(connection.execute(with_role).scalars()) - {id}
        if not left and role != last_of_role:
            return False
        return bool(connection.execute(statement).rowcount)

    return work


def _execute(statement: Any) -> Query[None]:
    def work(connection: Connection) -> None:
        connection.execute(statement)

    return work


def _values(row: UserRow | CredentialRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in type(row).__dataclass_fields__}
