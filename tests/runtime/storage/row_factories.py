"""Rows to store, and how an async test is run."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import wraps
from typing import Any

from hookline.runtime.storage.store import Store
from hookline.runtime.storage.tables import ApprovalRow, CallRow, SessionRow, ThreadRow


def async_test(test: Callable[..., Awaitable[None]]) -> Callable[..., None]:
    @wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        async def within() -> None:
            async with asyncio.timeout(60):
                await test(*args, **kwargs)

        asyncio.run(within())

    return run


@asynccontextmanager
async def open_store(url: str) -> AsyncIterator[Store]:
    store = await Store.open(url)
    try:
        yield store
    finally:
        await store.close()


@asynccontextmanager
async def open_store_with_thread(url: str) -> AsyncIterator[Store]:
    """A store with the session `s` and its thread `t`."""
    async with open_store(url) as store:
        await store.add_session(make_session("s"))
        await store.add_thread(make_thread("t", "s"))
        yield store


def make_session(id: str, last_used: float = 1.0, **more: Any) -> SessionRow:
    return SessionRow(id, "app", "agent", "/workspace", "user", created=1.0, last_used=last_used, **more)


def make_thread(id: str, session: str, **more: Any) -> ThreadRow:
    return ThreadRow(id, session, "agent", parent=None, depth=0, created=1.0, **more)


def make_message(id: str, content: str | None = "text", **more: Any) -> dict[str, Any]:
    return {"id": id, "role": "user", "content": content, "created_at": 1, **more}


def make_call(id: str, thread: str = "t", **more: Any) -> CallRow:
    return CallRow(thread, id, "bash", "hash", {"verdict": "allow"}, **more)


def make_approval(id: str, session: str = "s", expires: float = 100.0, **more: Any) -> ApprovalRow:
    return ApprovalRow(id, session, "t", "c", "bash", {"command": "ls"}, "hash", "why", "hook", 1.0, expires, **more)


async def message_ids(store: Store, thread: str = "t") -> list[str]:
    return [each["id"] for each in await store.messages(thread)]
