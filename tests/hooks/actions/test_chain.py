"""Several actions as one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.hook_factories import (
    ALLOW,
    DENY,
    RecordingAction,
    changing_action,
    command_changing_action,
    decide,
    instant_action,
    make_book,
    make_hook,
    raising_action,
    returning_action,
    tool_call_event,
)
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.actions.chain import Chain, ChainStep
from hookline.hooks.host import NO_HOST
from hookline.hooks.outcome import NOT_APPLIED, ActionError, Note, Outcome, Verdict
from hookline.hooks.protocols import May


def chain(*actions: Any, **more: Any) -> Chain:
    return Chain(tuple(ChainStep(f"step {n}", action) for n, action in enumerate(actions)), **more)


def run(made: Chain) -> Outcome:
    return asyncio.run(made.run(tool_call_event("one"), NO_HOST))


def test_each_step_sees_what_the_steps_before_it_left() -> None:
    last = RecordingAction()
    outcome = run(chain(command_changing_action("two"), last))
    assert last.commands == ["two"]
    assert outcome.changes == ((("tool", "input", "command"), "two"),)


def test_a_deny_or_a_halt_ends_it() -> None:
    for stop in (DENY, FixedAnswer(Outcome(halt=True))):
        last = RecordingAction()
        run(chain(stop, last))
        assert not last.events


def test_a_failure_is_recorded_where_later_steps_and_hooks_can_read_it() -> None:
    last = RecordingAction()
    decision = decide(
        make_book(make_hook(chain(raising_action(ValueError("boom")), raising_action(KeyError("x")), last))),
        tool_call_event(),
    )
    recorded = [{"action": "step 0", "error": "ValueError: boom"}, {"action": "step 1", "error": "KeyError: 'x'"}]
    assert last.events[0].facts["metadata"]["hook_failures"] == recorded
    assert decision.event.facts["metadata"]["hook_failures"] == recorded
    assert [failure.text for failure in decision.failures] == ["step 0: ValueError: boom"]


def test_a_failure_that_no_step_answers_is_the_hooks() -> None:
    told = FixedAnswer(Outcome(notes=(Note("told"),)))
    guard = make_hook(chain(told, raising_action(ValueError("boom")), told), on_error=Outcome(Verdict.DENY))
    decision = decide(make_book(guard), tool_call_event())
    assert (decision.verdict, decision.reason) == (Verdict.DENY, "step 1: ValueError: boom")
    assert [note.text for note in decision.notes] == ["told", "told"]


def test_a_failure_that_its_step_answers_is_not_the_hooks() -> None:
    answered = Chain((ChainStep("a", raising_action(ValueError()), Outcome()), ChainStep("b", FixedAnswer(Outcome()))))
    decision = decide(make_book(make_hook(answered, on_error=Outcome(Verdict.DENY))), tool_call_event())
    assert decision.verdict is Verdict.SILENT
    assert not decision.failures


def test_a_failure_ends_it_where_it_is_told_to() -> None:
    last = RecordingAction()
    for ending in (
        chain(raising_action(ValueError()), last, stop_on_failure=True),
        Chain((ChainStep("pipe", raising_action(ValueError()), ends_chain=True), ChainStep("last", last))),
    ):
        with pytest.raises(ActionError):
            run(ending)
    assert not last.events


def test_a_failing_steps_on_error_counts() -> None:
    failing = Chain((ChainStep("a", raising_action(ValueError("boom")), Outcome(Verdict.DENY)),))
    outcome = run(failing)
    assert (outcome.verdict, outcome.reason) == (Verdict.DENY, "ValueError: boom")
    assert failing.may & May.DENY


def test_what_a_step_ends_for_its_group_the_chain_ends() -> None:
    assert run(chain(FixedAnswer(Outcome(final=True)), RecordingAction())).final
    assert run(Chain((ChainStep("a", raising_action(ValueError()), Outcome(final=True)),))).final
    assert not run(chain(RecordingAction())).final


def test_an_allow_counts_for_what_was_judged_and_not_for_what_a_later_step_made_of_it() -> None:
    assert run(chain(ALLOW, command_changing_action("two"))).verdict is Verdict.SILENT
    assert run(chain(ALLOW, command_changing_action("one"))).verdict is Verdict.ALLOW
    assert run(chain(ALLOW, changing_action(("metadata.x", 1)))).verdict is Verdict.ALLOW
    assert run(chain(command_changing_action("two"), ALLOW)).verdict is Verdict.ALLOW


def test_it_had_nothing_to_do_only_if_no_step_had() -> None:
    nothing = instant_action(lambda _: NOT_APPLIED)
    assert not run(chain(nothing, nothing)).applied
    assert run(chain(nothing, FixedAnswer(Outcome(notes=(Note("x"),))))).applied
    assert run(Chain((ChainStep("a", nothing), ChainStep("b", raising_action(ValueError()), Outcome())))).applied


def test_it_waits_if_one_step_has_to() -> None:
    assert chain(DENY, ALLOW).instant
    assert not chain(DENY, returning_action(Outcome())).instant
