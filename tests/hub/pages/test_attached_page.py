from __future__ import annotations

import asyncio

import pytest

from hookline.hub.pages.attached_page import OpenPages, PageGoneError
from hub.hub_sandbox import async_test
from hub.pages.page_stand_in import PageStandIn


@async_test
async def test_an_answer_comes_back() -> None:
    page = PageStandIn("s1", lambda event, data: {"content": data["n"] + 1}).page
    assert await page.ask("tool", {"n": 1}, 5) == {"content": 2}


@async_test
async def test_a_page_that_leaves_ends_what_it_was_asked_at_once() -> None:
    page = PageStandIn("s1", lambda event, data: None).page
    asking = asyncio.ensure_future(page.ask("script", {}, 3600))
    await asyncio.sleep(0)
    page.leave()
    with pytest.raises(PageGoneError):
        await asyncio.wait_for(asking, 10)
    with pytest.raises(PageGoneError):
        await page.ask("script", {}, 3600)
    assert not page.has("hooks")


@async_test
async def test_the_clock_of_the_hub_ends_what_is_not_answered() -> None:
    page = PageStandIn("s1", lambda event, data: None).page
    with pytest.raises(TimeoutError):
        await page.ask("script", {}, 0.01)


@async_test
async def test_an_answer_that_comes_too_late_or_twice_is_nothing() -> None:
    callbacks = []

    async def send(event: str, data: object, callback: object) -> None:
        callbacks.append(callback)

    page = PageStandIn("s1", lambda event, data: None).page
    page._send = send  # type: ignore[assignment]
    with pytest.raises(TimeoutError):
        await page.ask("script", {}, 0.01)
    callbacks[0]("late")  # type: ignore[operator]
    asking = asyncio.ensure_future(page.ask("script", {}, 5))
    await asyncio.sleep(0)
    callbacks[1]("first")  # type: ignore[operator]
    callbacks[1]("second")  # type: ignore[operator]
    assert await asking == "first"


def test_one_page_drives_a_session() -> None:
    pages = OpenPages()
    first, second = (PageStandIn("s1", lambda event, data: None).page for _ in range(2))
    other = PageStandIn("s2", lambda event, data: None).page
    assert pages.attach(first) is None
    assert pages.attach(other) is None
    assert pages.attach(second) is first
    assert not first.is_attached
    assert not pages.detach(first)
    assert pages.find("s1") is second
    assert pages.detach(second)
    assert pages.find("s1") is None
    assert pages.all == (other,)


def test_only_a_frame_that_answers_is_there() -> None:
    page = PageStandIn("s1", lambda event, data: None, {"hooks": "hangs", "agent": "ok"}).page
    assert [page.has(frame) for frame in ("hooks", "agent", "net")] == [False, True, False]
