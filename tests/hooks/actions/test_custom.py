"""A third party's action."""

from __future__ import annotations

from typing import Any

from engine.parts import Desk, book, call, decide, hook
from hookline.hooks.action import May
from hookline.hooks.actions.custom import Custom
from hookline.hooks.event import Event
from hookline.hooks.host import Host
from hookline.hooks.outcome import FailureKind, Outcome, Verdict


def test_it_gets_a_copy_of_the_event() -> None:
    async def spoil(params: Any, event: Event, host: Host) -> None:
        event.facts["tool"]["input"]["command"] = "spoilt"
        event.facts.clear()

    decision = decide(book(hook(Custom("spoil", spoil))), call("one"), Desk())
    assert decision.event.facts == call("one").facts
    assert decision.verdict is Verdict.SILENT
    assert not decision.failures


def test_it_may_answer_only_what_it_declared() -> None:
    async def deny(params: Any, event: Event, host: Host) -> Outcome:
        return Outcome(Verdict.DENY, "no")

    quiet = decide(book(hook(Custom("deny", deny, may=May.NOTES))), call())
    assert quiet.verdict is Verdict.SILENT
    assert quiet.failures[0].kind is FailureKind.NOT_ACCEPTED
    assert decide(book(hook(Custom("deny", deny, may=May.DENY))), call()).denied
