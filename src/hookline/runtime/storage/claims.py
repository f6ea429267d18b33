"""Claims make sure that only one process works on a session: two would run its tools twice."""

from __future__ import annotations

import asyncio
import fcntl
import hashlib
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Protocol

from hookline.lazy_dataclasses import dataclass, field
from hookline.runtime.storage.columns import escape_text

if TYPE_CHECKING:
    import asyncpg


class Claims(Protocol):
    """Claims end with the process, however it ends."""

    async def claim(self, session: str) -> bool:
        """False if another process has it."""

    async def release(self, session: str) -> None: ...
    async def close(self) -> None: ...


class NoClaims:
    """For a database that only this process uses."""

    async def claim(self, session: str) -> bool:
        return True

    async def release(self, session: str) -> None: ...
    async def close(self) -> None: ...


@dataclass(slots=True)
class _FileLocks:
    """The locks of one file. Closing any descriptor of a file releases all locks that the process has on it.

    So the file is opened once, for all stores that use it, and stays open while one of them has a claim.
    """

    descriptor: int
    taken: set[int] = field(default_factory=set)


_LOCKS_BY_FILE: Final[dict[Path, _FileLocks]] = {}
_LOCKS_GUARD: Final = Lock()


class FileClaims:
    """Locks of one file, one byte per session."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._locked_bytes: set[int] = set()

    async def claim(self, session: str) -> bool:
        byte = _lock_offset(session)
        with _LOCKS_GUARD:
            locks = _LOCKS_BY_FILE.get(self._path) or _FileLocks(
                os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            )
            _LOCKS_BY_FILE[self._path] = locks
            if byte not in locks.taken and _try_lock(locks.descriptor, byte):
                locks.taken.add(byte)
                self._locked_bytes.add(byte)
                return True
            _close_if_free(self._path)
        return False

    async def release(self, session: str) -> None:
        self._release(_lock_offset(session))

    async def close(self) -> None:
        for byte in list(self._locked_bytes):
            self._release(byte)

    def _release(self, byte: int) -> None:
        if byte not in self._locked_bytes:
            return
        self._locked_bytes.remove(byte)
        with _LOCKS_GUARD:
            fcntl.lockf(_LOCKS_BY_FILE[self._path].descriptor, fcntl.LOCK_UN, 1, byte)
            _LOCKS_BY_FILE[self._path].taken.remove(byte)
            _close_if_free(self._path)


def _try_lock(descriptor: int, byte: int) -> bool:
    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
    except (BlockingIOError, PermissionError):  # the system decides which one
        return False
    return True


def _close_if_free(path: Path) -> None:
    if not _LOCKS_BY_FILE[path].taken:
        os.close(_LOCKS_BY_FILE.pop(path).descriptor)


class PostgresClaims:
    """PostgreSQL advisory locks on a separate connection: the server releases them when the connection closes.

    Another process may claim the session before this one notices that its connection is lost. So each claim has a number,
    which is stored in the session's row, and writes with an older number are rejected (see `database.lock_session`).
    """

    def __init__(self, connect: Callable[[], Awaitable[asyncpg.Connection[Any]]], hub: str = "") -> None:
        self.numbers: dict[str, int] = {}
        self._hub = hub or None  # the hub that claims; None: another program
        self._connect = connect
        self._connection: asyncpg.Connection[Any] | None = None
        self._asking = asyncio.Lock()

    async def claim(self, session: str) -> bool:
        async with self._asking:
            await self._ensure_connected()
            if session in self.numbers or not await self._fetch_value(
                "SELECT pg_try_advisory_lock($1)", _lock_key(session)
            ):
                return False
            numbered = "UPDATE sessions SET claim = claim + 1, hub = $2 WHERE id = $1 RETURNING claim"
            self.numbers[session] = (
                await self._fetch_value(numbered, escape_text(session), self._hub) or 0
            )  # 0: the session is not stored yet
            return True

    async def renew(self) -> None:
        """Renews the claims after a lost connection, except for sessions that another process has claimed."""
        if self.numbers and (self._connection is None or self._connection.is_closed()):
            async with self._asking:
                await self._ensure_connected()

    async def release(self, session: str) -> None:
        if self.numbers.pop(session, None) is None:
            return
        async with self._asking:
            if self._connection is not None and not self._connection.is_closed():
                await self._fetch_value("SELECT pg_advisory_unlock($1)", _lock_key(session))

    async def close(self) -> None:
        if self._connection is not None:
            self._connection.terminate()
            self._connection = None

    async def _ensure_connected(self) -> None:
        if self._connection is not None and not self._connection.is_closed():
            return
        self._connection = await self._connect()
        for session in self.numbers:
            await self._fetch_value("SELECT pg_try_advisory_lock($1)", _lock_key(session))

    async def _fetch_value(self, statement: str, *values: object) -> Any:
        assert self._connection is not None
        try:
            return await self._connection.fetchval(statement, *values)
        except BaseException:  # releases a lock of unknown state
            await self.close()
            raise


def _lock_offset(session: str) -> int:
    return _lock_key(session) % 2**62


def _lock_key(session: str) -> int:
    digest = hashlib.sha256(session.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big", signed=True)
