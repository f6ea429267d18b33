"""Several actions as one."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from engine.parts import ALLOW, DENY, Seen, at_once, book, call, changes, decide, hook, raises, says, sets_command
from hookline.hooks.action import May
from hookline.hooks.actions.answer import Answer
from hookline.hooks.actions.chain import Chain, Step
from hookline.hooks.host import NOBODY
from hookline.hooks.outcome import NOT_APPLIED, Failed, Note, Outcome, Verdict


def chain(*actions: Any, **more: Any) -> Chain:
    return Chain(tuple(Step(f"step {n}", action) for n, action in enumerate(actions)), **more)


def run(made: Chain) -> Outcome:
    return asyncio.run(made.run(call("one"), NOBODY))


def test_each_step_sees_what_the_steps_before_it_left() -> None:
    last = Seen()
    outcome = run(chain(sets_command("two"), last))
    assert last.commands == ["two"]
    assert outcome.changes == ((("tool", "input", "command"), "two"),)


def test_a_deny_or_a_halt_ends_it() -> None:
    for stop in (DENY, Answer(Outcome(halt=True))):
        last = Seen()
        run(chain(stop, last))
        assert not last.events


def test_a_failure_is_recorded_where_later_steps_and_hooks_can_read_it() -> None:
    last = Seen()
    decision = decide(book(hook(chain(raises(ValueError("boom")), raises(KeyError("x")), last))), call())
    recorded = [{"action": "step 0", "error": "ValueError: boom"}, {"action": "step 1", "error": "KeyError: 'x'"}]
    assert last.events[0].facts["metadata"]["hook_failures"] == recorded
    assert decision.event.facts["metadata"]["hook_failures"] == recorded
    assert [failure.text for failure in decision.failures] == ["step 0: ValueError: boom"]


def test_a_failure_that_no_step_answers_is_the_hooks() -> None:
    told = Answer(Outcome(notes=(Note("told"),)))
    guard = hook(chain(told, raises(ValueError("boom")), told), on_error=Outcome(Verdict.DENY))
    decision = decide(book(guard), call())
    assert (decision.verdict, decision.reason) == (Verdict.DENY, "step 1: ValueError: boom")
    assert [note.text for note in decision.notes] == ["told", "told"]


def test_a_failure_that_its_step_answers_is_not_the_hooks() -> None:
    answered = Chain((Step("a", raises(ValueError()), Outcome()), Step("b", Answer(Outcome()))))
    decision = decide(book(hook(answered, on_error=Outcome(Verdict.DENY))), call())
    assert decision.verdict is Verdict.SILENT
    assert not decision.failures


def test_a_failure_ends_it_where_it_is_told_to() -> None:
    last = Seen()
    for ending in (
        chain(raises(ValueError()), last, stop_on_failure=True),
        Chain((Step("pipe", raises(ValueError()), ends_chain=True), Step("last", last))),
    ):
        with pytest.raises(Failed):
            run(ending)
    assert not last.events


def test_a_failing_steps_on_error_counts() -> None:
    failing = Chain((Step("a", raises(ValueError("boom")), Outcome(Verdict.DENY)),))
    outcome = run(failing)
    assert (outcome.verdict, outcome.reason) == (Verdict.DENY, "ValueError: boom")
    assert failing.may & May.DENY


def test_what_a_step_ends_for_its_group_the_chain_ends() -> None:
    assert run(chain(Answer(Outcome(final=True)), Seen())).final
    assert run(Chain((Step("a", raises(ValueError()), Outcome(final=True)),))).final
    assert not run(chain(Seen())).final


def test_an_allow_counts_for_what_was_judged_and_not_for_what_a_later_step_made_of_it() -> None:
    assert run(chain(ALLOW, sets_command("two"))).verdict is Verdict.SILENT
    assert run(chain(ALLOW, sets_command("one"))).verdict is Verdict.ALLOW
    assert run(chain(ALLOW, changes(("metadata.x", 1)))).verdict is Verdict.ALLOW
    assert run(chain(sets_command("two"), ALLOW)).verdict is Verdict.ALLOW


def test_it_had_nothing_to_do_only_if_no_step_had() -> None:
    nothing = at_once(lambda _: NOT_APPLIED)
    assert not run(chain(nothing, nothing)).applied
    assert run(chain(nothing, Answer(Outcome(notes=(Note("x"),))))).applied
    assert run(Chain((Step("a", nothing), Step("b", raises(ValueError()), Outcome())))).applied


def test_it_waits_if_one_step_has_to() -> None:
    assert chain(DENY, ALLOW).instant
    assert not chain(DENY, says(Outcome())).instant
