from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from hookline.errors import HooklineError
from runtime.storage.row_factories import async_test, make_approval, make_session, open_store, open_store_with_thread

pytestmark = pytest.mark.slow


@async_test
async def test_an_approval_comes_back(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_approval(make_approval("a"))
        assert await store.approval("a") == make_approval("a")
        assert await store.approval("none") is None
        with pytest.raises(HooklineError, match="this id is already in use"):
            await store.add_approval(replace(make_approval("a"), reason="other"))


@pytest.mark.parametrize("yes", [True, False])
@async_test
async def test_an_approval_is_answered_once(url: str, yes: bool) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_approval(make_approval("a"))
        assert await store.answer_approval("a", yes, "me", now=50.0)
        assert not await store.answer_approval("a", not yes, "you", now=51.0)
        assert await store.approval("a") == make_approval("a", answered=yes, by="me", answered_at=50.0)
        assert not await store.answer_approval("none", True, "me", now=1.0)


@pytest.mark.parametrize("now", [100.0, 101.0])
@async_test
async def test_an_expired_approval_is_not_answered(url: str, now: float) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_approval(make_approval("a", expires=100.0))
        assert not await store.answer_approval("a", True, "me", now)
        assert await store.approval("a") == make_approval("a", expires=100.0)


@async_test
async def test_of_answers_at_once_one_counts(url: str) -> None:
    async with open_store_with_thread(url) as store, open_store(url) as other:
        await store.add_approval(make_approval("a"))
        tries = [(each, number) for number in range(10) for each in (store, other)]
        told = await asyncio.gather(
            *(each.answer_approval("a", bool(at % 2), str(at), 2.0) for at, (each, _) in enumerate(tries))
        )
        assert sum(told) == 1
        won = told.index(True)
        assert await store.approval("a") == make_approval("a", answered=bool(won % 2), by=str(won), answered_at=2.0)


@async_test
async def test_waiting_approvals_are_listed(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_session(make_session("other"))
        await store.add_approval(replace(make_approval("late"), created=9.0))
        await store.add_approval(make_approval("b", "other"))
        await store.add_approval(make_approval("a"))
        await store.add_approval(make_approval("done"))
        await store.answer_approval("done", False, "me", 2.0)
        assert [each.id for each in await store.waiting_approvals()] == ["a", "b", "late"]
        assert [each.id for each in await store.waiting_approvals("s")] == ["a", "late"]


@async_test
async def test_the_questions_of_a_call_are_found(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_approval(replace(make_approval("second"), created=2.0))
        await store.add_approval(make_approval("first"))
        await store.add_approval(replace(make_approval("other"), call="d"))
        await store.answer_approval("first", False, "me", 2.0)
        assert [each.id for each in await store.approvals("t", "c")] == ["first", "second"]
        assert await store.approvals("u", "c") == []
