"""Signs people and machines in: one-time codes, tokens and keys. The database has only their hashes."""

from __future__ import annotations

import hashlib
import secrets
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from typing import Final

from hookline.errors import HooklineError
from hookline.hub.access.roles import NOBODY, Caller, Role, weaker_role
from hookline.hub.store.user_table import CredentialRow, UserRow, UserTable
from hookline.lazy_dataclasses import dataclass

CODE_LIFETIME: Final = timedelta(minutes=5)
SESSION_LIFETIME: Final = timedelta(days=30)
SESSION_IDLE: Final = timedelta(days=7)
_USED_AGAIN_SECONDS: Final = 60.0  # how often a credential's time of use is written
_MAX_SECRET: Final = 200  # characters


def hash_secret(secret: str) -> str:
    """Secrets are random and long, so a plain hash cannot be guessed back."""
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class SignedIn:
    token: str
    user: UserRow
    role: Role


class Access:
    def __init__(self, table: UserTable, clock: Callable[[], float] = time.time) -> None:
        self.table = table
        self._clock = clock

    async def first_owner(self, name: str) -> UserRow:
        """The owner whose link a starting hub shows. The first one is created."""
        owners = [user for user in await self.table.users() if user.role == Role.OWNER]
        return (
            next((user for user in owners if user.name == name), owners[0])
            if owners
            else await self.add_user(name, Role.OWNER)
        )

    async def add_user(self, name: str, role: Role, subject: str | None = None) -> UserRow:
        """Raises HooklineError if there is a user with this name."""
        if await self.table.user_named(name) is not None:
            raise HooklineError(f"there is a user {name} already")
        user = UserRow(uuid.uuid4().hex, name, role, subject, self._clock())
        await self.table.add_user(user)
        return user

    async def create_code(self, user: UserRow, role: Role | None = None) -> str:
        """A code that signs in once within five minutes, with at most this role, and never more than the user has then."""
        secret = secrets.token_urlsafe(24)
        now = self._clock()
        await self.table.add_credential(
            _credential(secret, "code", user.id, role or Role.OWNER, now, now + CODE_LIFETIME.total_seconds())
        )
        return secret

    async def enter(self, code: str) -> SignedIn | None:
        """None if the code is unknown, too old or was used already."""
        now = self._clock()
        taken = await self.table.take_code(hash_secret(code[:_MAX_SECRET]), now)
        user = await self.table.user(taken.user) if taken is not None and taken.user else None
        if taken is None or user is None:
            return None
        token = f"hls_{secrets.token_urlsafe(32)}"
        row = _credential(token, "session", user.id, Role(taken.role), now, now + SESSION_LIFETIME.total_seconds())
        await self.table.add_credential(row)
        return SignedIn(token, user, weaker_role(Role(user.role), Role(taken.role)))

    async def add_key(
        self, name: str, role: Role = Role.REPORTER, *, replace: bool = False
    ) -> tuple[str, CredentialRow]:
        """The key, which nobody can read again, and its row."""
        key = f"hlk_{secrets.token_urlsafe(32)}"
        row = _credential(key, "key", None, role, self._clock(), None, name)
        await (self.table.replace_key(row) if replace else self.table.add_credential(row))
        return key, row

    async def identify(self, token: str) -> Caller:
        """NOBODY if the token is not valid."""
        if not token or len(token) > _MAX_SECRET:
            return NOBODY
        found = await self.table.find(hash_secret(token))
        now = self._clock()
        if found is None or not _is_valid(found[0], now):
            return NOBODY
        row, user = found
        if now - (row.used or 0) > _USED_AGAIN_SECONDS:
            with suppress(HooklineError):  # a full disk must not keep people from looking
                await self.table.mark_used(row.hash, now)
        if user is None:
            if row.kind != "key":  # its user has just been removed
                return NOBODY
            return Caller(Role(row.role), row.name, "", row.id)
        return Caller(weaker_role(Role(user.role), Role(row.role)), user.name, user.id, row.id)

    async def sign_out(self, caller: Caller) -> bool:
        return await self.table.remove_credential(caller.credential, "session")

    async def remove_expired(self) -> int:
        now = self._clock()
        return await self.table.remove_expired(now, now - SESSION_IDLE.total_seconds())


def _credential(
    secret: str, kind: str, user: str | None, role: Role, now: float, expires: float | None, name: str = ""
) -> CredentialRow:
    return CredentialRow(hash_secret(secret), uuid.uuid4().hex, kind, name, user, role, now, expires, None)


def _is_valid(row: CredentialRow, now: float) -> bool:
    """A code is no credential: it only signs in."""
    if row.kind == "code" or (row.expires is not None and row.expires <= now):
        return False
    return row.kind == "key" or now - (row.used or row.created) < SESSION_IDLE.total_seconds()


class RateLimit:
    """At most `most` tries in a minute for each address."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic, addresses: int = 10_000) -> None:
        self._most = most
        self._clock = clock
        self._addresses = addresses
        self._tries: OrderedDict[str, deque[float]] = OrderedDict()

    def take(self, address: str) -> bool:
        now = self._clock()
        tries = self._tries.setdefault(address, deque())
        self._tries.move_to_end(address)
        while len(self._tries) > self._addresses:
            self._tries.popitem(last=False)
        while tries and now - tries[0] >= 60:
            tries.popleft()
        if len(tries) >= self._most:
            return False
        tries.append(now)
        return True
