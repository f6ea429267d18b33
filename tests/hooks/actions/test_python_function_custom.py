"""A third party's action."""

from __future__ import annotations

from typing import Any

from engine.hook_factories import FakeHost, decide, make_book, make_hook, tool_call_event
from hookline.hooks.actions.python_function import CustomAction
from hookline.hooks.event import Event
from hookline.hooks.host import Host
from hookline.hooks.outcome import FailureKind, Outcome, Verdict
from hookline.hooks.protocols import May


def test_it_gets_a_copy_of_the_event() -> None:
    async def spoil(params: Any, event: Event, host: Host) -> None:
        event.facts["tool"]["input"]["command"] = "spoilt"
        event.facts.clear()

    decision = decide(make_book(make_hook(CustomAction("spoil", spoil))), tool_call_event("one"), FakeHost())
    assert decision.event.facts == tool_call_event("one").facts
    assert decision.verdict is Verdict.SILENT
    assert not decision.failures


def test_it_may_answer_only_what_it_declared() -> None:
    async def deny(params: Any, event: Event, host: Host) -> Outcome:
        return Outcome(Verdict.DENY, "no")

    quiet = decide(make_book(make_hook(CustomAction("deny", deny, may=May.NOTES))), tool_call_event())
    assert quiet.verdict is Verdict.SILENT
    assert quiet.failures[0].kind is FailureKind.NOT_ACCEPTED
    assert decide(make_book(make_hook(CustomAction("deny", deny, may=May.DENY))), tool_call_event()).denied
