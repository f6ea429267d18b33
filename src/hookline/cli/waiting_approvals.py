"""The calls of hookline's own agents that wait for a person, found through their store."""

from __future__ import annotations

import getpass
import time
from pathlib import Path
from typing import TYPE_CHECKING

from hookline.errors import HooklineError

if TYPE_CHECKING:
    from hookline.runtime.storage.store import Store
    from hookline.runtime.storage.tables import ApprovalRow


class WaitingApprovals:
    """`url` is where sessions are stored; without it, they are in `state`, hookline's state directory."""

    def __init__(self, url: str | None, state: Path) -> None:
        self._url = url
        self._file = state / "sessions.db"
        self._store: Store | None = None
        self.problem = ""  # why nobody knows what waits

    async def find(self) -> list[ApprovalRow]:
        """Those that can still be answered, oldest first."""
        if self._store is None and not await self._open():
            return []
        assert self._store is not None
        now = time.time()
        try:
            waiting = await self._store.waiting_approvals()
        except HooklineError as error:  # the database may be restarting
            self.problem = str(error)
            return []
        self.problem = ""
        return [row for row in waiting if row.expires > now]

    async def answer(self, approval: ApprovalRow, *, approve: bool) -> bool:
        """False if somebody was faster, or it has expired. Raises HooklineError."""
        assert self._store is not None
        return await self._store.answer_approval(approval.id, approve, _user_name(), time.time())

    async def close(self) -> None:
        if self._store is not None:
            await self._store.close()

    async def _open(self) -> bool:
        """False if no session was ever stored, hookline's agent is not installed, or the store cannot be reached."""
        if self._url is None and not self._file.exists():
            return False
        try:
            from hookline.runtime.storage.store import Store, file_url

            self._store = await Store.open(self._url or file_url(self._file))
        except ModuleNotFoundError as error:
            from hookline.extras import install_command

            self.problem = f"approvals need {error.name}. Install it: {install_command('agent')}"
        except HooklineError as error:
            self.problem = str(error)
        return self._store is not None


def _user_name() -> str:
    try:
        return getpass.getuser()
    except (OSError, KeyError):
        return "the user"
