"""Everything that outlives a process: sessions, threads, messages, calls, approvals, files, counts."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.hooks.host import ToolResult
from hookline.runtime.storage import approvals, calls, files, kept, messages, sessions
from hookline.runtime.storage.migrate import bring_up
from hookline.runtime.storage.rows import ApprovalRow, CallRow, Injection, QueuedRow, SessionRow, ThreadRow
from hookline.runtime.storage.urls import connected
from hookline.runtime.storage.work import Database, in_order

_TRIES: Final = 20
_PAUSE: Final = 0.05  # seconds between two tries: that a process was killed is noticed a moment later


class Store:
    """One database, for any number of sessions and tasks at once.

    What a method wrote is committed when it returns. Every failure of the database is a HooklineError of one line.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    @classmethod
    async def open(cls, url: str) -> Store:
        """`sqlite:////absolute/path.db`, `sqlite://` (in memory) or `postgresql://user@host/database`; brings it to our schema."""
        database = await connected(url)
        try:
            await bring_up(database)
        except BaseException:
            await database.close()
            raise
        return cls(database)

    async def close(self) -> None:
        await self._database.close()

    async def claim(self, session: str) -> None:
        """Nobody else writes to it until it is released, the store closed or this process gone.

        Raises HooklineError if another store has it, of this process, another one, or another machine's.
        """
        for _ in range(_TRIES):
            if await self._database.claim(session):
                return
            await asyncio.sleep(_PAUSE)
        raise HooklineError(f"another hookline is at work on the session {session}; end it there first")

    async def release(self, session: str) -> None:
        await self._database.release(session)

    async def holds(self, session: str) -> bool:
        """False if another has claimed it since we did: that can happen while the connection to a server is lost."""
        return await self._database.read(sessions.is_ours(session))

    async def add_session(self, session: SessionRow) -> None:
        await self._database.write(sessions.add(session))

    async def session(self, id: str) -> SessionRow | None:
        return await self._database.read(sessions.one(id))

    async def sessions(self, limit: int = 50) -> list[SessionRow]:
        """The last used first."""
        return await self._database.read(sessions.last_used(limit))

    async def touch_session(self, id: str, **changed: Any) -> None:
        """Fields of SessionRow. HooklineError if there is no such session."""
        await self._database.write(sessions.touch(id, changed))

    async def delete_session(self, id: str) -> None:
        """With everything of it."""
        await self._database.write(sessions.remove(id))

    async def add_thread(self, thread: ThreadRow, session: SessionRow | None = None) -> None:
        """With its session, if that is new: both of them or none."""
        works = [] if session is None else [sessions.add(session)]
        await self._database.write(in_order([*works, sessions.add_thread(thread)]))

    async def thread(self, id: str) -> ThreadRow | None:
        return await self._database.read(sessions.thread(id))

    async def threads(self, session: str) -> list[ThreadRow]:
        """In the order in which they were made."""
        return await self._database.read(sessions.threads_of(session))

    async def touch_thread(self, id: str, **changed: Any) -> None:
        """Fields of ThreadRow. HooklineError if there is no such thread."""
        await self._database.write(sessions.touch_thread(id, changed))

    async def add_message(self, thread: str, message: dict[str, Any], asks_for: QueuedRow | None = None) -> None:
        """It needs an `id` of its own within the thread. Once this returns, kill -9 cannot lose it.

        The queued tool that it asks for leaves the queue with it: both or none. HooklineError if that has left already.
        """
        await self._database.write(messages.add(thread, message, asks_for))

    async def change_message(self, thread: str, id: str, updates: dict[str, Any]) -> dict[str, Any]:
        """The message as it is now. HooklineError if there is none."""
        return await self._database.write(messages.change(thread, id, updates))

    async def messages(self, thread: str, limit: int | None = None, offset: int = 0) -> list[dict[str, Any]]:
        """Oldest first, without compacted ones; with a limit, the last so many before the last `offset`."""
        return await self._database.read(messages.history(thread, limit, offset))

    async def first_prompt(self, thread: str) -> dict[str, Any] | None:
        """What its user said first, also if it was compacted since."""
        return await self._database.read(messages.first_prompt(thread))

    async def compact_messages(self, thread: str, gone: Sequence[str], stands_in: dict[str, Any]) -> None:
        """Those leave the history (the rows stay, marked) and one stands where the first of them stood."""
        await self._database.write(messages.compact(thread, gone, stands_in))

    async def add_injection(self, thread: str, injection: Injection) -> None:
        await self._database.write(messages.inject(thread, injection))

    async def injections(self, thread: str) -> list[Injection]:
        return await self._database.read(messages.injected(thread))

    async def begin_call(self, call: CallRow) -> int:
        """The attempt's number, from 1, for this thread and call id; `call.attempt` is not looked at."""
        return await self._database.write(calls.begin(call))

    async def end_call(self, thread: str, call: str, attempt: int, result: ToolResult) -> None:
        """Its content is text."""
        outcome = {"ok": result.ok, "result": result.content, "error": result.error}
        await self._database.write(calls.end(thread, call, attempt, outcome))

    async def calls(self, thread: str) -> list[CallRow]:
        return await self._database.read(calls.of_thread(thread))

    async def add_approval(self, approval: ApprovalRow) -> None:
        await self._database.write(approvals.add(approval))

    async def approval(self, id: str) -> ApprovalRow | None:
        return await self._database.read(approvals.one(id))

    async def approvals(self, thread: str, call: str) -> list[ApprovalRow]:
        """Every question that this call led to, the oldest first."""
        return await self._database.read(approvals.of_call(thread, call))

    async def answer_approval(self, id: str, yes: bool, by: str, now: float) -> bool:
        """False if it was answered before, has expired or does not exist. Of many at once, one is True."""
        return await self._database.write(approvals.answer(id, yes, by, now))

    async def waiting_approvals(self, session: str | None = None) -> list[ApprovalRow]:
        """Those that nobody answered, the oldest first; expired ones too, for their `expires` is the reader's to judge."""
        return await self._database.read(approvals.waiting(session))

    async def write_file(self, thread: str, path: str, data: bytes, mime_type: str) -> dict[str, Any]:
        """Returns its reference: id, type, path, name, mimeType, size."""
        return await self._database.write(files.write(thread, path, data, mime_type))

    async def read_file(self, thread: str, path: str) -> bytes | None:
        return await self._database.read(files.read(thread, path))

    async def list_files(self, thread: str, path: str = "") -> list[dict[str, Any]]:
        return await self._database.read(files.listed(thread, path))

    async def delete_file(self, thread: str, path: str) -> bool:
        """Whether there was one."""
        return await self._database.write(files.remove(thread, path))

    async def kept(self, owner: str, key: str) -> Any:
        """None if there is nothing."""
        return await self._database.read(kept.one(owner, key))

    async def keep(self, owner: str, key: str, value: Any) -> None:
        await self._database.write(kept.keep(owner, key, value))

    async def forget(self, owner: str, key: str) -> bool:
        """Whether there was something."""
        return await self._database.write(kept.forget(owner, key))

    async def keys(self, owner: str) -> list[str]:
        return await self._database.read(kept.keys(owner))

    async def save_counts(self, session: str, counts: list[dict[str, Any]]) -> None:
        await self._database.write(kept.save_counts(session, counts))

    async def save_progress(
        self,
        session: str,
        changed: dict[str, Any],
        counts: list[dict[str, Any]] | None = None,
        thread: tuple[str, dict[str, Any]] | None = None,
    ) -> None:
        """Fields of SessionRow, counts if there are any, and a thread's fields: all of it or nothing."""
        works = [sessions.touch(session, changed)]
        works += [] if counts is None else [kept.save_counts(session, counts)]
        works += [] if thread is None else [sessions.touch_thread(*thread)]
        await self._database.write(in_order(works))

    async def counts(self, session: str) -> list[dict[str, Any]]:
        return await self._database.read(kept.counts(session))

    async def queue_tool(self, thread: str, name: str, input: dict[str, Any]) -> None:
        await self._database.write(calls.enqueue(thread, name, input))

    async def queued(self, thread: str) -> list[QueuedRow]:
        """In order. They wait until `add_message` or `unqueue` takes them."""
        return await self._database.read(calls.queued(thread))

    async def unqueue(self, thread: str, rows: Sequence[QueuedRow]) -> None:
        """They are not to be run any more."""
        await self._database.write(calls.unqueue(thread, rows))
