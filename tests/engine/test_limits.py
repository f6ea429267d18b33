"""How often a hook may fire: exactly, whoever else fires at the same time."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from engine.parts import ASK, DENY, Desk, Does, Seen, book, call, decide, hook, raises, says
from hookline.engine.book import Book, Layer
from hookline.engine.limits import Counts, session_of
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook, Limit, Scope
from hookline.hooks.host import Host
from hookline.hooks.outcome import NOT_APPLIED, Outcome, Verdict

ONCE = Limit(max_fires=1)


def fired(held: Book, desk: Desk, **facts: Any) -> bool:
    return decide(held, call(**facts), desk).verdict is Verdict.ASK


def test_max_fires_counts_per_session_and_the_first_fire_is_never_held_back() -> None:
    held, desk = book(hook(ASK, limit=Limit(max_fires=2))), Desk()
    assert [fired(held, desk, session={"id": "a"}) for _ in range(3)] == [True, True, False]
    assert fired(held, desk, session={"id": "b"})


def test_a_cooldown_begins_with_the_first_fire() -> None:
    held, desk = book(hook(ASK, limit=Limit(cooldown=timedelta(seconds=10)))), Desk()
    assert fired(held, desk)
    desk.clock.advance(timedelta(seconds=9.9))
    assert not fired(held, desk)
    desk.clock.advance(timedelta(seconds=0.2))
    assert fired(held, desk)


def test_a_cooldown_in_turns_counts_turns() -> None:
    held, desk = book(hook(ASK, limit=Limit(cooldown_turns=3))), Desk()
    turns = [fired(held, desk, turn={"number": n}) for n in range(8)]
    assert turns == [True, False, False, True, False, False, True, False]


@pytest.mark.parametrize("number", [True, "x", None, [], float("nan"), 1.5])
def test_a_turn_that_is_no_number_never_holds_back(number: Any) -> None:
    held, desk = book(hook(ASK, limit=Limit(cooldown_turns=3))), Desk()
    assert fired(held, desk, turn={"number": 0})
    assert fired(held, desk, turn={"number": number})


def test_hooks_of_one_id_in_two_files_or_scopes_count_apart() -> None:
    from hookline.hooks.hook import Origin

    desk = Desk()
    one = hook(ASK, id="x", limit=ONCE, origin=Origin("a.yaml", 1, "native"))
    two = hook(ASK, id="x", limit=ONCE, origin=Origin("b.yaml", 1, "native"))
    mine = hook(ASK, id="x", limit=ONCE, scope=Scope(agent="me"), origin=Origin("b.yaml", 9, "native"))
    assert all(fired(book(one), desk) for one in (one, two))
    assert fired(book(mine), desk, agent={"id": "me"})
    assert not fired(book(one), desk)


def test_a_reload_keeps_the_counts() -> None:
    desk = Desk()
    assert fired(book(hook(ASK, id="x", limit=ONCE)), desk)
    assert not fired(book(hook(ASK, id="x", limit=ONCE)), desk)


def test_without_a_host_counts_live_as_long_as_the_book() -> None:
    held = book(hook(ASK, limit=ONCE))
    assert decide(held, call()).verdict is Verdict.ASK
    assert decide(held, call()).verdict is Verdict.SILENT
    assert decide(held.with_layer(Layer("two", [])), call()).verdict is Verdict.SILENT
    assert decide(book(*held.hooks), call()).verdict is Verdict.ASK


@pytest.mark.parametrize("then", [raises(ValueError("boom")), says(NOT_APPLIED)])
def test_a_claim_is_given_back_after_a_failure_and_when_there_was_nothing_to_do(then: Does) -> None:
    desk, limited = Desk(), hook(then, limit=ONCE)
    for _ in range(3):
        decide(book(limited), call(), desk)
        assert desk.counts.fires(limited, "") == (0, None)


@pytest.mark.parametrize("then", [raises(ValueError("boom")), says(NOT_APPLIED)])
def test_a_background_claim_is_given_back_too(then: Does) -> None:
    desk, limited = Desk(), hook(then, limit=ONCE, wait=False)

    async def fire() -> None:
        await book(limited).decide(call(), desk)
        assert desk.counts.fires(limited, "")[0] == 1
        await desk.drain()

    asyncio.run(fire())
    assert desk.counts.fires(limited, "") == (0, None)


def _forever() -> tuple[Does, asyncio.Event]:
    began = asyncio.Event()

    async def wait(event: Event, host: Host) -> Outcome:
        began.set()
        await asyncio.Event().wait()
        return Outcome()

    return Does(wait), began


def test_a_cancelled_background_hook_gives_its_claim_back() -> None:
    async def fire() -> None:
        then, began = _forever()
        desk, limited = Desk(), hook(then, limit=ONCE, wait=False)
        await book(limited).decide(call(), desk)
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
        desk, limited = Desk(), hook(then, limit=ONCE, on_error=Outcome(Verdict.ALLOW))
        deciding = asyncio.create_task(book(limited).decide(call(), desk))
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
        held = book(hook(then, on_error=Outcome(Verdict.ALLOW)), hook(DENY))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.02):
                await held.decide(call())

    asyncio.run(fire())


def test_a_thousand_tasks_fire_exactly_as_often_as_allowed() -> None:
    async def fire() -> int:
        desk = Desk()
        held = book(hook(says(Outcome(Verdict.ASK)), limit=Limit(max_fires=7)))
        decisions = await asyncio.gather(*(held.decide(call(), desk) for _ in range(1000)))
        return sum(decision.verdict is Verdict.ASK for decision in decisions)

    assert asyncio.run(fire()) == 7


def test_threads_fire_exactly_as_often_as_allowed() -> None:
    desk, held = Desk(), book(hook(ASK, limit=Limit(max_fires=100)))

    def many(_: int) -> int:
        return sum(held.decide_now(call(), desk).verdict is Verdict.ASK for _ in range(100))

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(many, range(8))) == 100


def test_an_earlier_claim_given_back_does_not_undo_a_later_one_of_the_same_moment() -> None:
    counts, limited = Counts(), hook(ASK, limit=Limit(max_fires=5))
    first = counts.claim(limited, call(), 3.0)
    second = counts.claim(limited, call(), 3.0)
    assert first is not None
    assert second is not None
    first()
    assert counts.fires(limited, "") == (1, 3.0)
    second()
    assert counts.fires(limited, "")[0] == 0


def test_a_claim_of_a_session_that_was_forgotten_cannot_be_given_back_to_the_next() -> None:
    counts, limited = Counts(), hook(ASK, limit=ONCE)
    old = counts.claim(limited, call(), 1.0)
    counts.forget("")
    assert counts.claim(limited, call(), 2.0) is not None
    assert old is not None
    old()
    assert counts.fires(limited, "") == (1, 2.0)
    assert counts.claim(limited, call(), 3.0) is None


def test_counts_are_stored_with_a_session() -> None:
    counts, again, limited = Counts(), Counts(), hook(ASK, limit=ONCE)
    event = call(session={"id": "s"}, turn={"number": 4})
    counts.claim(limited, event, 2.5)
    again.restore("s", counts.saved("s"))
    assert again.fires(limited, "s") == (1, 2.5)
    assert not again.allows(limited, event, 9.0)
    assert counts.saved("other") == []


@pytest.mark.parametrize(
    ("session", "id"), [({"id": "s"}, "s"), ({"id": 5}, "5"), (None, ""), ([], ""), ({"id": []}, "")]
)
def test_a_session_is_known_by_its_id(session: Any, id: str) -> None:
    assert session_of(Event("stop", {"session": session})) == id


def test_hooks_without_a_limit_are_not_counted_unless_they_say_so() -> None:
    desk = Desk()
    free, counted = hook(Seen(), id="free"), hook(Seen(), id="counted", limit=Limit(counted=True))
    for _ in range(3):
        decide(book(free, counted), call(), desk)
    assert [desk.counts.fires(one, "")[0] for one in (free, counted)] == [0, 3]
    assert isinstance(free, Hook)
