"""A call is held because its hook cannot be run."""

from __future__ import annotations

import asyncio

import pytest

from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.hooks.actions.hold import HoldCall, holding_answer
from hookline.hooks.conditions.logic import ALWAYS
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.host import NO_HOST
from hookline.hooks.outcome import FailureKind, Outcome, Verdict
from hookline.hooks.protocols import may_of

REASON = "hub.json:4  the command cannot be rendered."


def decide(event: str, on_error: Outcome | None = None, kind: FailureKind = FailureKind.CANNOT_START) -> Decision:
    hook = Hook(
        id="no-rm",
        event=event,
        when=ALWAYS,
        then=HoldCall(REASON, kind),
        origin=Origin("hub.json", 4, "flo"),
        on_error=on_error or Outcome(),
    )
    return asyncio.run(Book([Layer("user", [hook])], NO_HOST, ()).decide(Event(event, {})))


@pytest.mark.parametrize(
    ("event", "verdict"),
    [
        ("tool.before", Verdict.ASK),
        ("prompt.submit", Verdict.DENY),
        ("agent.start", Verdict.DENY),
        ("subagent.start", Verdict.DENY),
        ("message.create", Verdict.DENY),
        ("approval.request", Verdict.DENY),
        ("tool.after", Verdict.SILENT),
        ("stop", Verdict.SILENT),
        ("session.end", Verdict.SILENT),
    ],
)
def test_it_asks_or_denies_where_the_event_accepts_it(event: str, verdict: Verdict) -> None:
    decision = decide(event)
    assert decision.verdict is verdict
    assert decision.reason == (REASON if verdict is not Verdict.SILENT else "")
    assert [(failure.kind, failure.text) for failure in decision.failures] == [
        (FailureKind.CANNOT_START, f"hook no-rm cannot run: {REASON}")
    ]


@pytest.mark.parametrize("event", EVENTS)
def test_every_event_accepts_its_answer(event: str) -> None:
    answer = holding_answer(event, REASON)
    assert answer is None or EVENTS[event].accepts & may_of(answer)


def test_a_stronger_on_error_counts() -> None:
    decision = decide("tool.before", Outcome(Verdict.DENY))
    assert decision.verdict is Verdict.DENY
    assert REASON in decision.reason


def test_an_on_error_that_allows_does_not_release_the_call() -> None:
    assert decide("tool.before", Outcome(Verdict.ALLOW)).verdict is Verdict.ASK


def test_the_failure_says_what_is_wrong() -> None:
    assert decide("tool.before", kind=FailureKind.NOT_TRUSTED).failures[0].kind is FailureKind.NOT_TRUSTED


def test_it_runs_where_no_hook_may_wait() -> None:
    assert HoldCall(REASON).instant
    assert HoldCall(REASON).constant is None
    assert list(HoldCall(REASON).describe()) == [("stop", REASON)]
