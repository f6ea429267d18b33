"""An answer that the event does not take neither counts nor ends the round."""

from __future__ import annotations

import pytest

from engine.hook_factories import (
    RecordingAction,
    changing_action,
    decide,
    instant_action,
    make_book,
    make_hook,
    returning_action,
)
from hookline.engine.book import Book
from hookline.engine.decision import Decision
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.attempt import accept_outcome
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hooks.outcome import Audience, Compact, FailureKind, Note, Outcome, Verdict
from hookline.project import load_text

AFTER = Event("tool.after", {"tool": {"name": "bash", "input": {"command": "ls"}, "result": "old", "ok": True}})


@pytest.mark.parametrize("constant", [True, False])
def test_a_deny_that_the_event_does_not_take_neither_counts_nor_ends_the_round(constant: bool) -> None:
    deny = Outcome(Verdict.DENY, "too late")
    later = RecordingAction()
    refused = make_hook(FixedAnswer(deny) if constant else returning_action(deny), id="late", event="tool.after")
    decision = decide(make_book(refused, make_hook(later, event="tool.after")), AFTER)
    assert (decision.verdict, decision.by, decision.reason) == (Verdict.SILENT, None, "")
    assert len(later.events) == 1
    assert [(failure.hook, failure.kind) for failure in decision.failures] == [("late", FailureKind.NOT_ACCEPTED)]
    assert decision.failures[0].text == "tool.after does not accept deny"


def test_what_the_event_takes_of_an_answer_counts() -> None:
    mixed = Outcome(Verdict.DENY, "no", ((("tool", "result"), "new"), (("tool", "name"), "x")), (Note("hello"),))
    decision = decide(make_book(make_hook(returning_action(mixed), event="tool.after")), AFTER)
    assert decision.verdict is Verdict.SILENT
    assert decision.event.facts["tool"]["result"] == "new"
    assert decision.event.facts["tool"]["name"] == "bash"
    assert [note.text for note in decision.notes] == ["hello"]
    assert "a change of tool.name" in decision.failures[0].text


@pytest.mark.parametrize("path", ["tool.name", "tool", "session.id", "prompt", "tool.inputs"])
def test_a_change_of_another_fact_is_not_made(path: str) -> None:
    from engine.hook_factories import tool_call_event

    event = tool_call_event("ls", session={"id": "s"})
    decision = decide(make_book(make_hook(changing_action((path, "evil")))), event)
    assert decision.event.facts == event.facts
    assert decision.failures[0].kind is FailureKind.NOT_ACCEPTED


def test_notes_for_the_agent_need_an_event_that_takes_them_and_notes_for_the_user_do_not() -> None:
    both = Outcome(notes=(Note("agent"), Note("user", Audience.USER)))
    decision = decide(make_book(make_hook(FixedAnswer(both), event="session.end")), Event("session.end", {}))
    assert [note.text for note in decision.notes] == ["user"]
    assert len(decision.failures) == 1


@pytest.mark.parametrize("name", EVENTS)
def test_every_event_takes_what_it_says_and_no_more(name: str) -> None:
    takes = EVENTS[name].accepts
    everything = {
        "deny": Outcome(Verdict.DENY),
        "ask": Outcome(Verdict.ASK),
        "allow": Outcome(Verdict.ALLOW),
        "halt": Outcome(halt=True),
        "notes": Outcome(notes=(Note("n"),)),
        "compact": Outcome(requests=(Compact(),)),
    }
    for word, outcome in everything.items():
        kept, failure = accept_outcome(outcome, name)
        taken = word in {flag.name.lower() for flag in takes if flag.name}
        assert (failure is None) == taken
        assert kept == (outcome if taken else Outcome())


def test_hooks_may_keep_notes_for_each_other_at_every_event() -> None:
    for name in EVENTS:
        keep = instant_action(lambda _: Outcome(changes=((("metadata", "x"), 1),)))
        decision = decide(make_book(make_hook(keep, event=name)), Event(name, {}))
        assert decision.event.facts == {"metadata": {"x": 1}}
        assert not decision.failures


def test_an_on_error_that_the_event_does_not_take_is_told_beside_the_failure() -> None:
    from engine.hook_factories import raising_action

    failing = make_hook(raising_action(ValueError("boom")), event="tool.after", on_error=Outcome(Verdict.DENY))
    decision = decide(make_book(failing), AFTER)
    assert decision.verdict is Verdict.SILENT
    assert [failure.kind for failure in decision.failures] == [FailureKind.RAISED, FailureKind.NOT_ACCEPTED]


def test_the_full_reason_ends_with_the_hook_and_its_place() -> None:
    deny = FixedAnswer(Outcome(Verdict.DENY, "no"))
    decision = decide(
        make_book(make_hook(deny, id="no-rm")), Event("tool.before", {"tool": {"name": "bash", "input": {}}})
    )
    assert (decision.reason, decision.full_reason) == ("no", "no (hook no-rm, hooks.yaml:1)")
    assert Decision(decision.event).full_reason == ""


def test_an_answer_that_is_not_accepted_names_the_event_as_the_hook_s_file_does() -> None:
    app = "runtime: {hooks: [{id: x, on: turn_end, action: {type: gate}}]}"
    (hook,) = load_text(app, "app.yaml", "digitorn").hooks
    _, failure = accept_outcome(Outcome(Verdict.DENY), hook.event, hook.origin.wording, hook.event_name)
    assert failure is not None
    assert failure.text == "turn_end does not accept gate"


def test_of_two_hooks_with_one_id_the_one_that_decided_is_named() -> None:
    one = load_text("hooks: [{id: h, on: tool.before, then: {log: A}}]", "a.yaml")
    two = load_text("hooks: [{id: h, on: tool.before, then: {deny: B}}]", "b.yaml")
    decision = Book([*one.layers, *two.layers]).decide_now(Event("tool.before", {"tool": {"name": "x", "input": {}}}))
    assert decision.full_reason == "B (hook h, b.yaml:1)"
