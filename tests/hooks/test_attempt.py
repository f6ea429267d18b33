"""One function attempts, one folds."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from engine.parts import Does, call, raises, says
from hookline.hooks.attempt import Sum, attempt, instead_of, together
from hookline.hooks.event import Event
from hookline.hooks.host import NOBODY, Asking, Host, asking
from hookline.hooks.outcome import Compact, Failure, FailureKind, Note, Outcome, Verdict

SECOND = timedelta(seconds=1)
FAILED = Failure(FailureKind.EXIT, "exit 1")


def test_who_is_asked_is_known_while_it_is_and_not_after() -> None:
    async def look(event: Event, host: Host) -> Outcome:
        asked = asking.get()
        return Outcome(reason=asked.hook if asked else "nobody")

    async def run() -> list[str]:
        heard = [await attempt(Does(look), call(), NOBODY, SECOND, who) for who in (Asking("a"), None)]
        failed = await attempt(raises(ValueError()), call(), NOBODY, SECOND, Asking("b"))
        assert isinstance(failed, Failure)
        assert asking.get() is None
        return [outcome.reason for outcome in heard if isinstance(outcome, Outcome)]

    assert asyncio.run(run()) == ["a", "nobody"]


def test_only_cancellation_leaves_it() -> None:
    async def run() -> None:
        waiting = asyncio.create_task(attempt(Does(_forever), call(), NOBODY, timedelta(hours=1), Asking("a")))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(run())


async def _forever(event: Event, host: Host) -> Outcome:
    await asyncio.Event().wait()
    return Outcome()


def test_a_timeout_of_its_own_is_told_from_ours() -> None:
    ours = asyncio.run(attempt(Does(_forever), call(), NOBODY, timedelta(milliseconds=10)))
    own = asyncio.run(attempt(raises(TimeoutError(), instant=False), call(), NOBODY, SECOND))
    assert isinstance(ours, Failure)
    assert isinstance(own, Failure)
    assert (ours.kind, ours.text) == (FailureKind.TIMEOUT, "did not answer within 0.01 s")
    assert (own.kind, own.text) == (FailureKind.TIMEOUT, "timed out")


def test_what_a_host_lacks_is_told_in_its_words() -> None:
    async def needs(event: Event, host: Host) -> Outcome:
        await host.complete("hello")
        return Outcome()

    failure = asyncio.run(attempt(Does(needs), call(), NOBODY, SECOND))
    assert failure == Failure(FailureKind.UNAVAILABLE, "there is no model here")


@pytest.mark.parametrize(
    ("on_error", "counts"),
    [
        (Outcome(), Outcome()),
        (Outcome(Verdict.ALLOW), Outcome(Verdict.ALLOW)),
        (Outcome(Verdict.DENY), Outcome(Verdict.DENY, "exit 1")),
        (Outcome(Verdict.DENY, "own words"), Outcome(Verdict.DENY, "own words")),
        (Outcome(Verdict.DENY, "it said: {failure}"), Outcome(Verdict.DENY, "it said: exit 1")),
        (Outcome(halt=True), Outcome(reason="exit 1", halt=True)),
        (Outcome(notes=(Note(""), Note("x"))), Outcome(notes=(Note("exit 1"), Note("x")))),
    ],
)
def test_what_counts_instead_of_a_failure(on_error: Outcome, counts: Outcome) -> None:
    assert instead_of(FAILED, on_error) == counts


def test_the_first_of_the_strongest_is_the_voice() -> None:
    heard = Sum()
    for by, outcome in enumerate(
        [Outcome(Verdict.ALLOW, "a"), Outcome(Verdict.ASK, "b"), Outcome(Verdict.ASK, "c"), Outcome()]
    ):
        heard.hear(outcome, str(by))
    assert (heard.verdict, heard.reason, heard.by) == (Verdict.ASK, "b", "1")
    heard.hear(Outcome(reason="stop", halt=True), "4")
    assert (heard.verdict, heard.reason, heard.by, heard.halt) == (Verdict.ASK, "stop", "4", True)


def test_outcomes_together_are_one() -> None:
    parts = [
        Outcome(Verdict.ASK, "sure?", ((("a",), 1),), (Note("x"),)),
        Outcome(changes=((("b",), 2),), requests=(Compact(),), final=True),
    ]
    changes = ((("a",), 1), (("b",), 2))
    assert together(parts) == Outcome(Verdict.ASK, "sure?", changes, (Note("x"),), (Compact(),), final=True)
    assert together([]) == Outcome()


def test_an_allow_is_forgotten_and_nothing_stronger() -> None:
    for verdict, left in ((Verdict.ALLOW, Verdict.SILENT), (Verdict.ASK, Verdict.ASK)):
        heard = Sum()
        heard.hear(Outcome(verdict, "x"), "h")
        heard.forget_allow()
        assert heard.verdict is left


def test_an_answer_passes_through() -> None:
    assert asyncio.run(attempt(says(Outcome(Verdict.ASK)), call(), NOBODY, SECOND)) == Outcome(Verdict.ASK)
