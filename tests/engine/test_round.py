"""Who is asked, in which order, and whose word counts."""

from __future__ import annotations

import pytest

from engine.hook_factories import (
    ALLOW,
    ASK,
    DENY,
    RecordingAction,
    decide,
    instant_action,
    make_book,
    make_hook,
    returning_action,
    tool_call_event,
)
from hookline.engine.book import Book, Layer
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.event import Event
from hookline.hooks.outcome import Audience, Note, Outcome, Verdict


def test_lower_order_is_asked_first_and_ties_as_loaded() -> None:
    asked: list[str] = []

    def noted(name: str, order: int) -> object:
        return make_hook(instant_action(lambda _: asked.append(name) or Outcome()), order=order)

    layers = [
        Layer("user", [noted("c", 5), noted("b", 0), noted("z", 5)]),
        Layer("project", [noted("d", 5), noted("a", -1), noted("b2", 0)]),
    ]
    decide(Book(layers), tool_call_event())
    assert asked == ["a", "b", "b2", "c", "z", "d"]


def test_the_book_lists_hooks_in_the_order_in_which_they_are_asked() -> None:
    hooks = [make_hook(DENY, order=n) for n in (3, -2, 0)]
    more = [make_hook(DENY, order=n) for n in (0, -2)]
    held = Book([Layer("one", hooks), Layer("two", more)]).hooks
    assert [(h.order, h in more) for h in held] == [(-2, False), (-2, True), (0, False), (0, True), (3, False)]


@pytest.mark.parametrize("actions", [(ALLOW, DENY), (DENY, ALLOW), (ASK, DENY), (ALLOW, ASK, DENY)])
def test_deny_beats_every_other_voice_wherever_it_stands(actions: tuple[FixedAnswer, ...]) -> None:
    decision = decide(make_book(*(make_hook(action) for action in actions)), tool_call_event())
    assert (decision.verdict, decision.reason, decision.denied) == (Verdict.DENY, "no", True)


def test_ask_beats_allow_from_both_sides() -> None:
    assert decide(make_book(make_hook(ALLOW), make_hook(ASK)), tool_call_event()).verdict is Verdict.ASK
    assert decide(make_book(make_hook(ASK), make_hook(ALLOW)), tool_call_event()).verdict is Verdict.ASK


def test_reason_and_voice_are_those_of_the_first_with_the_verdict() -> None:
    first, second = (FixedAnswer(Outcome(Verdict.ASK, reason)) for reason in ("first", "second"))
    decision = decide(
        make_book(make_hook(ALLOW, id="a"), make_hook(first, id="b"), make_hook(second, id="c")), tool_call_event()
    )
    assert (decision.by, decision.reason) == ("b", "first")


def test_a_deny_without_words_names_its_hook() -> None:
    decision = decide(make_book(make_hook(FixedAnswer(Outcome(Verdict.DENY)), id="guard")), tool_call_event())
    assert (decision.reason, decision.by) == ("Blocked by hook guard", "guard")


def test_nobody_heard_means_silent() -> None:
    decision = decide(make_book(make_hook(RecordingAction())), tool_call_event())
    assert (decision.verdict, decision.by, decision.reason, decision.halt) == (Verdict.SILENT, None, "", False)


def test_a_deny_ends_the_round_at_once() -> None:
    later = RecordingAction()
    decide(make_book(make_hook(returning_action(Outcome(Verdict.DENY))), make_hook(later)), tool_call_event())
    assert not later.events


def test_halt_denies_what_can_be_denied_and_ends_the_round() -> None:
    later = RecordingAction()
    halt = FixedAnswer(Outcome(reason="enough", halt=True))
    decision = decide(
        make_book(make_hook(ASK, id="a"), make_hook(halt, id="stopper"), make_hook(later)), tool_call_event()
    )
    assert (decision.verdict, decision.halt) == (Verdict.DENY, True)
    assert (decision.by, decision.reason) == ("stopper", "enough")
    assert not later.events


def test_halt_where_nothing_can_be_denied_stops_the_agent_and_no_more() -> None:
    halt = FixedAnswer(Outcome(reason="enough", halt=True))
    decision = decide(make_book(make_hook(halt, id="stopper", event="turn.end")), Event("turn.end", {}))
    assert (decision.verdict, decision.halt, decision.by) == (Verdict.SILENT, True, "stopper")
    assert decision.reason == "enough"


def test_halt_without_words_on_a_tool_names_its_hook() -> None:
    decision = decide(make_book(make_hook(FixedAnswer(Outcome(halt=True)), id="stopper")), tool_call_event())
    assert (decision.verdict, decision.reason) == (Verdict.DENY, "Blocked by hook stopper")


def test_final_ends_its_own_group_only() -> None:
    final = FixedAnswer(Outcome(final=True))
    own, other, groupless = RecordingAction(), RecordingAction(), RecordingAction(Outcome(Verdict.DENY, "other guard"))
    decision = decide(
        make_book(
            make_hook(final, group="flo"),
            make_hook(own, group="flo"),
            make_hook(other, group="microai"),
            make_hook(groupless),
        ),
        tool_call_event(),
    )
    assert not own.events
    assert len(other.events) == len(groupless.events) == 1
    assert decision.reason == "other guard"


def test_final_of_a_hook_without_a_group_ends_nothing() -> None:
    later = RecordingAction()
    decide(make_book(make_hook(FixedAnswer(Outcome(final=True))), make_hook(later)), tool_call_event())
    assert len(later.events) == 1


def test_notes_and_requests_of_all_are_kept_in_order() -> None:
    notes = [
        FixedAnswer(Outcome(notes=(Note(text, audience),)))
        for text, audience in (("a", Audience.AGENT), ("b", Audience.USER))
    ]
    decision = decide(make_book(*(make_hook(note) for note in notes)), tool_call_event())
    assert [(note.text, str(note.audience)) for note in decision.notes] == [("a", "agent"), ("b", "user")]
    assert decision.as_json()["notes"] == [{"for": "agent", "text": "a"}, {"for": "user", "text": "b"}]


def test_switched_off_and_out_of_scope_hooks_say_nothing() -> None:
    from hookline.hooks.hook import Scope

    hooks = [
        make_hook(DENY, enabled=False),
        make_hook(DENY, scope=Scope(agent="other")),
        make_hook(DENY, scope=Scope(session="s2")),
    ]
    event = tool_call_event(agent={"id": "a1", "name": "coder", "prompt": "main"}, session={"id": "s1"})
    assert decide(make_book(*hooks), event).verdict is Verdict.SILENT
    assert decide(make_book(make_hook(DENY, scope=Scope(agent="coder", prompt="main", session="s1"))), event).denied
