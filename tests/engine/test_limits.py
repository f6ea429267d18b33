"""How often a hook may fire: exactly, whoever else fires at the same time."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from engine.hook_factories import (
    ASK,
    DENY,
    FakeHost,
    FunctionAction,
    RecordingAction,
    decide,
    make_book,
    make_hook,
    raising_action,
    returning_action,
    tool_call_event,
)
from hookline.engine.book import Book, Layer
from hookline.engine.limits import FireCounts, session_id
from hookline.hooks.event import Event
from hookline.hooks.hook import EventCount, Hook, Limit, Period, Scope
from hookline.hooks.host import Host
from hookline.hooks.outcome import NOT_APPLIED, Outcome, Verdict

ONCE = Limit(max_fires=1)


def does_fire(book: Book, desk: FakeHost, **facts: Any) -> bool:
    return decide(book, tool_call_event(**facts), desk).verdict is Verdict.ASK


def test_max_fires_counts_per_session_and_the_first_fire_is_never_held_back() -> None:
    book, desk = make_book(make_hook(ASK, limit=Limit(max_fires=2))), FakeHost()
    assert [does_fire(book, desk, session={"id": "a"}) for _ in range(3)] == [True, True, False]
    assert does_fire(book, desk, session={"id": "b"})


def test_a_cooldown_begins_with_the_first_fire() -> None:
    book, desk = make_book(make_hook(ASK, limit=Limit(cooldown=timedelta(seconds=10)))), FakeHost()
    assert does_fire(book, desk)
    desk.clock.advance(timedelta(seconds=9.9))
    assert not does_fire(book, desk)
    desk.clock.advance(timedelta(seconds=0.2))
    assert does_fire(book, desk)


def test_a_cooldown_in_turns_counts_turns() -> None:
    book, desk = make_book(make_hook(ASK, limit=Limit(cooldown_turns=3))), FakeHost()
    turns = [does_fire(book, desk, turn={"number": n}) for n in range(8)]
    assert turns == [True, False, False, True, False, False, True, False]


@pytest.mark.parametrize("number", [True, "x", None, [], float("nan"), 1.5])
def test_a_turn_that_is_no_number_never_holds_back(number: Any) -> None:
    book, desk = make_book(make_hook(ASK, limit=Limit(cooldown_turns=3))), FakeHost()
    assert does_fire(book, desk, turn={"number": 0})
    assert does_fire(book, desk, turn={"number": number})


def test_hooks_of_one_id_in_two_files_or_scopes_count_apart() -> None:
    from hookline.hooks.hook import Origin

    desk = FakeHost()
    one = make_hook(ASK, id="x", limit=ONCE, origin=Origin("a.yaml", 1, "native"))
    two = make_hook(ASK, id="x", limit=ONCE, origin=Origin("b.yaml", 1, "native"))
    mine = make_hook(ASK, id="x", limit=ONCE, scope=Scope(agent="me"), origin=Origin("b.yaml", 9, "native"))
    assert all(does_fire(make_book(one), desk) for one in (one, two))
    assert does_fire(make_book(mine), desk, agent={"id": "me"})
    assert not does_fire(make_book(one), desk)


def test_a_reload_keeps_the_counts() -> None:
    desk = FakeHost()
    assert does_fire(make_book(make_hook(ASK, id="x", limit=ONCE)), desk)
    assert not does_fire(make_book(make_hook(ASK, id="x", limit=ONCE)), desk)


def test_without_a_host_counts_live_as_long_as_the_book() -> None:
    book = make_book(make_hook(ASK, limit=ONCE))
    assert decide(book, tool_call_event()).verdict is Verdict.ASK
    assert decide(book, tool_call_event()).verdict is Verdict.SILENT
    assert decide(book.with_layer(Layer("two", [])), tool_call_event()).verdict is Verdict.SILENT
    assert decide(make_book(*book.hooks), tool_call_event()).verdict is Verdict.ASK


@pytest.mark.parametrize("then", [raising_action(ValueError("boom")), returning_action(NOT_APPLIED)])
def test_a_claim_is_given_back_after_a_failure_and_when_there_was_nothing_to_do(then: FunctionAction) -> None:
    desk, limited = FakeHost(), make_hook(then, limit=ONCE)
    for _ in range(3):
        decide(make_book(limited), tool_call_event(), desk)
        assert desk.counts.fires(limited, "") == (0, None)


@pytest.mark.parametrize("then", [raising_action(ValueError("boom")), returning_action(NOT_APPLIED)])
def test_a_background_claim_is_given_back_too(then: FunctionAction) -> None:
    desk, limited = FakeHost(), make_hook(then, limit=ONCE, wait=False)

    async def fire() -> None:
        await make_book(limited).decide(tool_call_event(), desk)
        assert desk.counts.fires(limited, "")[0] == 1
        await desk.drain()

    asyncio.run(fire())
    assert desk.counts.fires(limited, "") == (0, None)


def _forever() -> tuple[FunctionAction, asyncio.Event]:
    began = asyncio.Event()

    async def wait(event: Event, host: Host) -> Outcome:
        began.set()
        await asyncio.Event().wait()
        return Outcome()

    return FunctionAction(wait), began


def test_a_cancelled_background_hook_gives_its_claim_back() -> None:
    async def fire() -> None:
        then, began = _forever()
        desk, limited = FakeHost(), make_hook(then, limit=ONCE, wait=False)
        await make_book(limited).decide(tool_call_event(), desk)
        draining = asyncio.create_task(desk.drain())
        await began.wait()
        draining.cancel()
        with pytest.raises(asyncio.CancelledError):
            await draining
        assert desk.counts.fires(limited, "") == (0, None)

    asyncio.run(fire())


def test_a_cancelled_round_has_no_decision_and_gives_its_claim_back() -> None:
    async def fire() -> None:
        then, began = _forever()
        desk, limited = FakeHost(), make_hook(then, limit=ONCE, on_error=Outcome(Verdict.ALLOW))
        deciding = asyncio.create_task(make_book(limited).decide(tool_call_event(), desk))
        await began.wait()
        assert desk.counts.fires(limited, "")[0] == 1
        deciding.cancel()
        with pytest.raises(asyncio.CancelledError):
            await deciding
        assert desk.counts.fires(limited, "") == (0, None)

    asyncio.run(fire())


def test_a_host_that_gives_up_on_a_round_hears_no_decision() -> None:
    async def fire() -> None:
        then, _ = _forever()
        book = make_book(make_hook(then, on_error=Outcome(Verdict.ALLOW)), make_hook(DENY))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await book.decide(tool_call_event())

    asyncio.run(fire())


def test_a_thousand_tasks_fire_exactly_as_often_as_allowed() -> None:
    async def fire() -> int:
        desk = FakeHost()
        book = make_book(make_hook(returning_action(Outcome(Verdict.ASK)), limit=Limit(max_fires=7)))
        decisions = await asyncio.gather(*(book.decide(tool_call_event(), desk) for _ in range(1000)))
        return sum(decision.verdict is Verdict.ASK for decision in decisions)

    assert asyncio.run(fire()) == 7


def test_threads_fire_exactly_as_often_as_allowed() -> None:
    desk, book = FakeHost(), make_book(make_hook(ASK, limit=Limit(max_fires=100)))

    def many(_: int) -> int:
        return sum(book.decide_now(tool_call_event(), desk).verdict is Verdict.ASK for _ in range(100))

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(many, range(8))) == 100


def test_an_earlier_claim_given_back_does_not_undo_a_later_one_of_the_same_moment() -> None:
    counts, limited = FireCounts(), make_hook(ASK, limit=Limit(max_fires=5))
    first = counts.claim(limited, tool_call_event(), 3.0)
    second = counts.claim(limited, tool_call_event(), 3.0)
    assert first is not None
    assert second is not None
    first()
    assert counts.fires(limited, "") == (1, 3.0)
    second()
    assert counts.fires(limited, "")[0] == 0


def test_a_claim_of_a_session_that_was_forgotten_cannot_be_given_back_to_the_next() -> None:
    counts, limited = FireCounts(), make_hook(ASK, limit=ONCE)
    old = counts.claim(limited, tool_call_event(), 1.0)
    counts.forget("")
    assert counts.claim(limited, tool_call_event(), 2.0) is not None
    assert old is not None
    old()
    assert counts.fires(limited, "") == (1, 2.0)
    assert counts.claim(limited, tool_call_event(), 3.0) is None


def test_counts_are_stored_with_a_session() -> None:
    counts, again, limited = FireCounts(), FireCounts(), make_hook(ASK, limit=ONCE)
    event = tool_call_event(session={"id": "s"}, turn={"number": 4})
    counts.claim(limited, event, 2.5)
    again.restore("s", counts.snapshot("s"))
    assert again.fires(limited, "s") == (1, 2.5)
    assert not again.allows(limited, event, 9.0)
    assert counts.snapshot("other") == []


@pytest.mark.parametrize(
    ("session", "id"), [({"id": "s"}, "s"), ({"id": 5}, "5"), (None, ""), ([], ""), ({"id": []}, "")]
)
def test_a_session_is_known_by_its_id(session: Any, id: str) -> None:
    assert session_id(Event("stop", {"session": session})) == id


def test_hooks_without_a_limit_are_not_counted_unless_they_say_so() -> None:
    desk = FakeHost()
    free, counted = (
        make_hook(RecordingAction(), id="free"),
        make_hook(RecordingAction(), id="counted", limit=Limit(is_counted=True)),
    )
    for _ in range(3):
        decide(make_book(free, counted), tool_call_event(), desk)
    assert [desk.counts.fires(one, "")[0] for one in (free, counted)] == [0, 3]
    assert isinstance(free, Hook)


@pytest.mark.parametrize("per", ["session", "minute"])
def test_a_count_is_exact_and_stored_with_the_session(per: str) -> None:
    hook = make_hook("h", DENY, limit=Limit(count=EventCount(2, Period(per))))
    event, first = Event("tool.before", {"session": {"id": "s"}}), FireCounts()
    assert [first.claim(hook, event, now) is not None for now in (1.0, 2.0)] == [False, False]
    assert not first.allows(hook, event, 2.0)
    second = FireCounts()
    second.restore("s", first.snapshot("s"))
    assert second.claim(hook, event, 3.0) is not None
    assert second.allows(hook, event, 3.0)
    assert (second.claim(hook, event, 100.0) is not None) is (per == "session")
