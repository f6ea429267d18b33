"""A PostgreSQL database."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar

from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from hookline.errors import HooklineError, extra_required
from hookline.runtime.storage.claims import PostgresClaims
from hookline.runtime.storage.database import Query, explain_database_error

T = TypeVar("T")

_POOL_SIZE: Final = 10
_SECONDS_TO_CONNECT: Final = 10
_SECONDS_TO_ANSWER: Final = 60
_SETTINGS: Final = {
    "lock_timeout": "10s",  # how long to wait for a lock of another program
    "tcp_keepalives_idle": "15",  # with the next two: claims of a lost machine end after 30 s
    "tcp_keepalives_interval": "5",
    "tcp_keepalives_count": "3",
}


class Postgres:
    """Each write is its own transaction: several commit at the same time, and the server merges their disk writes."""

    def __init__(
        self, place: str, engine: AsyncEngine, claims: PostgresClaims, failures: tuple[type[Exception], ...]
    ) -> None:
        self._place, self._claims, self._failures = place, claims, failures
        self._engine = engine.execution_options(claims=claims.numbers)
        self._reading = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        self._writing: set[asyncio.Task[Any]] = set()

    @classmethod
    def open(cls, url: URL, hub: str = "") -> Postgres:
        with extra_required("PostgreSQL needs asyncpg", "postgres"):
            import asyncpg
        shown = url.set(query={}).render_as_string(hide_password=True)  # the query can contain a password too
        place = f"the database {shown}"
        connect = partial(_open_connection, url.render_as_string(hide_password=False), place)
        engine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=connect,
            pool_size=_POOL_SIZE,
            max_overflow=0,
            pool_timeout=None,
        )
        failures = (SQLAlchemyError, asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError)
        return cls(place, engine, PostgresClaims(connect, hub), failures)

    async def read(self, work: Query[T]) -> T:
        return await self._explain_errors(self._run_with_retry(self._run_read, work))

    async def write(self, work: Query[T]) -> T:
        task = asyncio.ensure_future(self._explain_errors(self._renew_and_write(work)))
        self._writing.add(task)
        task.add_done_callback(self._finish_write)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            await asyncio.wait([task])
            raise

    async def claim(self, session: str) -> bool:
        return await self._explain_errors(self._claims.claim(session))

    async def release(self, session: str) -> None:
        with suppress(HooklineError):  # if the connection is lost, so is the claim
            await self._explain_errors(self._claims.release(session))

    async def close(self) -> None:
        await asyncio.gather(*self._writing, return_exceptions=True)
        await self._claims.close()
        await self._engine.dispose()

    async def _run_with_retry(self, once: Callable[[Query[T]], Awaitable[T]], work: Query[T]) -> T:
        """A dead connection fails only when it is used. Then this retries once with a new one."""
        try:
            return await once(work)
        except DBAPIError as failed:
            if not failed.connection_invalidated:
                raise
        return await once(work)

    async def _explain_errors(self, work: Awaitable[T]) -> T:
        try:
            return await work
        except self._failures as failed:
            raise explain_database_error(failed, self._place) from failed

    async def _run_read(self, work: Query[T]) -> T:
        async with self._reading.connect() as connection:
            return await connection.run_sync(work)

    async def _renew_and_write(self, work: Query[T]) -> T:
        await self._claims.renew()
        return await self._run_with_retry(self._run_write, work)

    async def _run_write(self, work: Query[T]) -> T:
        async with self._engine.connect() as connection:
            result = await connection.run_sync(work)
            try:
                await connection.commit()
            except self._failures as failed:  # it may have been committed, so it must not run again
                raise explain_database_error(failed, self._place) from failed
            return result

    def _finish_write(self, task: asyncio.Task[Any]) -> None:
        self._writing.discard(task)
        if not task.cancelled():
            task.exception()  # marks it as retrieved: the caller may be gone


async def _open_connection(dsn: str, place: str) -> Any:
    import asyncpg

    try:
        opened = await asyncpg.connect(dsn, timeout=_SECONDS_TO_CONNECT, command_timeout=_SECONDS_TO_ANSWER)
    except (OSError, TimeoutError, ValueError) as failed:
        raise HooklineError(f"{place} cannot be reached ({failed}); check that it is running") from failed
    await opened.execute("; ".join(f"SET {name} = '{value}'" for name, value in _SETTINGS.items()))
    return opened
