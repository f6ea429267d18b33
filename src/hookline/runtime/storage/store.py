"""Everything that outlives a process: sessions, threads, messages, calls, approvals, files, counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hookline.runtime.storage.rows import ApprovalRow, CallRow, Injection, SessionRow, ThreadRow


class Store:
    """One database, for any number of sessions and tasks at once.

    What a method wrote is committed when it returns. Every failure of the database is a HooklineError of one line.
    """

    @classmethod
    async def open(cls, url: str) -> Store:
        """`sqlite:////absolute/path.db`, `sqlite://` (in memory) or `postgresql://user@host/database`; brings it to our schema."""
        raise NotImplementedError

    async def close(self) -> None:
        raise NotImplementedError

    async def add_session(self, session: SessionRow) -> None:
        raise NotImplementedError

    async def session(self, id: str) -> SessionRow | None:
        raise NotImplementedError

    async def sessions(self, limit: int = 50) -> list[SessionRow]:
        """The last used first."""
        raise NotImplementedError

    async def touch_session(self, id: str, **changed: Any) -> None:
        """Fields of SessionRow. HooklineError if there is no such session."""
        raise NotImplementedError

    async def delete_session(self, id: str) -> None:
        """With everything of it."""
        raise NotImplementedError

    async def add_thread(self, thread: ThreadRow) -> None:
        raise NotImplementedError

    async def thread(self, id: str) -> ThreadRow | None:
        raise NotImplementedError

    async def threads(self, session: str) -> list[ThreadRow]:
        """In the order in which they were made."""
        raise NotImplementedError

    async def touch_thread(self, id: str, **changed: Any) -> None:
        """Fields of ThreadRow. HooklineError if there is no such thread."""
        raise NotImplementedError

    async def add_message(self, thread: str, message: dict[str, Any]) -> None:
        """It needs an `id` of its own within the thread. Once this returns, kill -9 cannot lose it."""
        raise NotImplementedError

    async def change_message(self, thread: str, id: str, updates: dict[str, Any]) -> dict[str, Any]:
        """The message as it is now. HooklineError if there is none."""
        raise NotImplementedError

    async def messages(self, thread: str, limit: int | None = None, offset: int = 0) -> list[dict[str, Any]]:
        """Oldest first, without compacted ones; with a limit, the last so many before the last `offset`."""
        raise NotImplementedError

    async def compact_messages(self, thread: str, gone: Sequence[str], stands_in: dict[str, Any]) -> None:
        """Those leave the history (the rows stay, marked) and one stands where the first of them stood."""
        raise NotImplementedError

    async def add_injection(self, thread: str, injection: Injection) -> None:
        raise NotImplementedError

    async def injections(self, thread: str) -> list[Injection]:
        raise NotImplementedError

    async def begin_call(self, call: CallRow) -> int:
        """The attempt's number, from 1, for this thread and call id; `call.attempt` is not looked at."""
        raise NotImplementedError

    async def end_call(self, thread: str, call: str, attempt: int, ok: bool, result: str, error: str) -> None:
        raise NotImplementedError

    async def calls(self, thread: str) -> list[CallRow]:
        raise NotImplementedError

    async def add_approval(self, approval: ApprovalRow) -> None:
        raise NotImplementedError

    async def approval(self, id: str) -> ApprovalRow | None:
        raise NotImplementedError

    async def answer_approval(self, id: str, yes: bool, by: str, now: float) -> bool:
        """False if it was answered before, has expired or does not exist. Of many at once, one is True."""
        raise NotImplementedError

    async def waiting_approvals(self, session: str | None = None) -> list[ApprovalRow]:
        """Those that nobody answered, the oldest first; expired ones too, for their `expires` is the reader's to judge."""
        raise NotImplementedError

    async def write_file(self, thread: str, path: str, data: bytes, mime_type: str) -> dict[str, Any]:
        """Returns its reference: id, type, path, name, mimeType, size."""
        raise NotImplementedError

    async def read_file(self, thread: str, path: str) -> bytes | None:
        raise NotImplementedError

    async def list_files(self, thread: str, path: str = "") -> list[dict[str, Any]]:
        raise NotImplementedError

    async def delete_file(self, thread: str, path: str) -> bool:
        """Whether there was one."""
        raise NotImplementedError

    async def kept(self, owner: str, key: str) -> Any:
        """None if there is nothing."""
        raise NotImplementedError

    async def keep(self, owner: str, key: str, value: Any) -> None:
        raise NotImplementedError

    async def forget(self, owner: str, key: str) -> bool:
        """Whether there was something."""
        raise NotImplementedError

    async def keys(self, owner: str) -> list[str]:
        raise NotImplementedError

    async def save_counts(self, session: str, counts: list[dict[str, Any]]) -> None:
        raise NotImplementedError

    async def counts(self, session: str) -> list[dict[str, Any]]:
        raise NotImplementedError

    async def queue_tool(self, thread: str, name: str, input: dict[str, Any]) -> None:
        raise NotImplementedError

    async def take_queued(self, thread: str) -> list[tuple[str, dict[str, Any]]]:
        """In order; each is taken once, by one."""
        raise NotImplementedError
