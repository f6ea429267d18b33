"""An answer that the event does not take neither counts nor ends the round."""

from __future__ import annotations

import pytest

from engine.parts import Seen, at_once, book, changes, decide, hook, says
from hookline.engine.accept import accepted
from hookline.hooks.actions.answer import Answer
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hooks.outcome import Audience, Compact, FailureKind, Note, Outcome, Verdict

AFTER = Event("tool.after", {"tool": {"name": "bash", "input": {"command": "ls"}, "result": "old", "ok": True}})


@pytest.mark.parametrize("constant", [True, False])
def test_a_deny_that_the_event_does_not_take_neither_counts_nor_ends_the_round(constant: bool) -> None:
    deny = Outcome(Verdict.DENY, "too late")
    later = Seen()
    refused = hook(Answer(deny) if constant else says(deny), id="late", event="tool.after")
    decision = decide(book(refused, hook(later, event="tool.after")), AFTER)
    assert (decision.verdict, decision.by, decision.reason) == (Verdict.SILENT, None, "")
    assert len(later.events) == 1
    assert [(failure.hook, failure.kind) for failure in decision.failures] == [("late", FailureKind.NOT_ACCEPTED)]
    assert decision.failures[0].text == "tool.after does not take: deny"


def test_what_the_event_takes_of_an_answer_counts() -> None:
    mixed = Outcome(Verdict.DENY, "no", ((("tool", "result"), "new"), (("tool", "name"), "x")), (Note("hello"),))
    decision = decide(book(hook(says(mixed), event="tool.after")), AFTER)
    assert decision.verdict is Verdict.SILENT
    assert decision.event.facts["tool"]["result"] == "new"
    assert decision.event.facts["tool"]["name"] == "bash"
    assert [note.text for note in decision.notes] == ["hello"]
    assert "change tool.name" in decision.failures[0].text


@pytest.mark.parametrize("path", ["tool.name", "tool", "session.id", "prompt", "tool.inputs"])
def test_a_change_of_another_fact_is_not_made(path: str) -> None:
    from engine.parts import call

    event = call("ls", session={"id": "s"})
    decision = decide(book(hook(changes((path, "evil")))), event)
    assert decision.event.facts == event.facts
    assert decision.failures[0].kind is FailureKind.NOT_ACCEPTED


def test_notes_for_the_agent_need_an_event_that_takes_them_and_notes_for_the_user_do_not() -> None:
    both = Outcome(notes=(Note("agent"), Note("user", Audience.USER)))
    decision = decide(book(hook(Answer(both), event="session.end")), Event("session.end", {}))
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
        kept, failure = accepted(outcome, name)
        taken = word in {flag.name.lower() for flag in takes if flag.name}
        assert (failure is None) == taken
        assert kept == (outcome if taken else Outcome())


def test_hooks_may_keep_notes_for_each_other_at_every_event() -> None:
    for name in EVENTS:
        keep = at_once(lambda _: Outcome(changes=((("metadata", "x"), 1),)))
        decision = decide(book(hook(keep, event=name)), Event(name, {}))
        assert decision.event.facts == {"metadata": {"x": 1}}
        assert not decision.failures


def test_an_on_error_that_the_event_does_not_take_is_told_beside_the_failure() -> None:
    from engine.parts import raises

    failing = hook(raises(ValueError("boom")), event="tool.after", on_error=Outcome(Verdict.DENY))
    decision = decide(book(failing), AFTER)
    assert decision.verdict is Verdict.SILENT
    assert [failure.kind for failure in decision.failures] == [FailureKind.RAISED, FailureKind.NOT_ACCEPTED]
