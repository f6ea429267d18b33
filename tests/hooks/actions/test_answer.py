"""Actions that only answer."""

from __future__ import annotations

import asyncio

import pytest

from hookline.hooks.actions.answer import FixedAnswer, TemplateAnswer
from hookline.hooks.event import Event
from hookline.hooks.host import NO_HOST
from hookline.hooks.outcome import ALLOW, SILENT, Compact, Note, NotePlace, Outcome, Verdict
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import May
from hookline.hooks.templates import parse_template

EVENT = Event("tool.before", {"tool": {"name": "bash"}})


@pytest.mark.parametrize(
    ("outcome", "word", "may"),
    [
        (Outcome(Verdict.DENY, "no"), "deny", May.DENY),
        (Outcome(Verdict.ASK), "ask", May.ASK),
        (ALLOW, "allow", May.ALLOW),
        (Outcome(halt=True), "halt", May.HALT),
        (Outcome(requests=(Compact(),)), "compact", May.COMPACT),
        (Outcome(notes=(Note("hi"),)), "tell", May.NOTES),
        (SILENT, "tell", May.NOTHING),
    ],
)
def test_a_fixed_answer_is_always_the_same(outcome: Outcome, word: str, may: May) -> None:
    answer = FixedAnswer(outcome)
    assert asyncio.run(answer.run(EVENT, NO_HOST)) is outcome
    assert answer.label == f"an answer of its own ({word})"
    assert answer.may == may


def test_a_template_fills_in_the_reason_and_the_notes() -> None:
    reason, text = (
        parse_template(each, PlaceholderResolver()) for each in ("No {{tool.name}}.", "It is {{tool.name}}.")
    )
    answer = TemplateAnswer(
        Outcome(Verdict.DENY, notes=(Note("first"),)), reason, ((Note("", place=NotePlace.RESULT), text),)
    )
    assert asyncio.run(answer.run(EVENT, NO_HOST)) == Outcome(
        Verdict.DENY, "No bash.", notes=(Note("first"), Note("It is bash.", place=NotePlace.RESULT))
    )
    assert set(answer.reads()) == {("tool", "name")}
    assert answer.may == May.DENY | May.NOTES
    assert answer.constant is None
