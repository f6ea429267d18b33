from __future__ import annotations

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest

from hookline.cli.waiting_approvals import WaitingApprovals
from hookline.runtime.storage.store import Store, file_url
from runtime.storage import temporary_postgres
from runtime.storage.conftest import NO_POSTGRES
from runtime.storage.row_factories import make_approval, make_session, make_thread, open_store_with_thread


def test_without_a_store_nothing_waits_and_none_is_made(tmp_path: Path) -> None:
    approvals = WaitingApprovals(None, tmp_path)
    assert asyncio.run(approvals.find()) == []
    assert list(tmp_path.iterdir()) == []


def test_those_that_expired_cannot_be_answered(tmp_path: Path) -> None:
    async def run() -> None:
        store = await Store.open(file_url(tmp_path / "sessions.db"))
        await store.add_session(make_session("s"))
        await store.add_thread(make_thread("t", "s"))
        for id, seconds in (("late", -1), ("open", 60)):
            await store.add_approval(make_approval(id, expires=time.time() + seconds))
        approvals = WaitingApprovals(None, tmp_path)
        (row,) = await approvals.find()
        assert row.id == "open"
        assert await approvals.answer(row, approve=True)
        assert not await approvals.answer(row, approve=False), "the first answer counts"
        answered: Any = await store.approval("open")
        assert (answered.answered, bool(answered.by)) == (True, True)
        assert await approvals.find() == []
        await approvals.close()
        await store.close()

    asyncio.run(run())


@pytest.mark.slow
def test_approvals_in_postgresql(tmp_path: Path) -> None:
    programs = temporary_postgres.programs()
    if programs is None:
        pytest.skip(NO_POSTGRES)
    with temporary_postgres.running(programs, tmp_path) as socket:
        asyncio.run(_answer_in_postgresql(f"postgresql://tests@/postgres?host={socket}", tmp_path))


async def _answer_in_postgresql(url: str, state: Path) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_approval(make_approval("open", expires=time.time() + 60))
        approvals = WaitingApprovals(url, state)
        (row,) = await approvals.find()
        assert await approvals.answer(row, approve=False)
        answered: Any = await store.approval("open")
        assert answered.answered is False
        await approvals.close()


def test_a_database_that_is_gone_is_told(tmp_path: Path) -> None:
    approvals = WaitingApprovals("postgresql://nobody@127.0.0.1:1/none", tmp_path)
    assert asyncio.run(approvals.find()) == []
    assert approvals.problem
