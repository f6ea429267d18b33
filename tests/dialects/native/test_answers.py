"""`deny`, `ask`, `allow`, `halt` and `tell`."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.native.native_actions import hook_info, parse, parse_valid, rewrite
from hookline.dialects.conversion import NotExpressible
from hookline.dialects.native.actions import write_action
from hookline.hooks.actions.answer import FixedAnswer, TemplateAnswer
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.outcome import Audience, Compact, Note, NotePlace, Outcome, Verdict


@pytest.mark.parametrize(
    "then",
    [
        {"deny": True},
        {"ask": "Sure?"},
        {"ask": {"question": "Sure?", "default": "allow", "within": "2m"}},
        {"ask": {"question": "{{tool.name}}?", "default": "deny"}},
        {"allow": "fine"},
        {"halt": "{{tool.name}} is enough"},
        {"deny": "{{open_braces}}x}}"},
        {"tell": "Run the tests."},
        {"tell": "{{tool.name}} failed"},
        {"tell": {"text": "a", "to": "user", "place": "context"}},
        {"tell": {"text": "a", "to": "agent", "place": "message", "role": "system", "position": "start"}},
    ],
    ids=str,
)
def test_it_is_written_as_it_was_read(then: Any) -> None:
    assert rewrite(then) == then


def test_a_reason_without_placeholders_is_fixed() -> None:
    assert parse_valid({"deny": "{{open_braces}}x}}"}) == FixedAnswer(Outcome(Verdict.DENY, "{{x}}"))
    assert isinstance(parse_valid({"deny": "{{tool.name}}"}), TemplateAnswer)


def test_a_note_has_defaults() -> None:
    note = Note("a", Audience.AGENT, NotePlace.CONTEXT, "user", "end")
    assert parse_valid({"tell": {"text": "a"}}) == parse_valid({"tell": "a"}) == FixedAnswer(Outcome(notes=(note,)))


@pytest.mark.parametrize(
    ("then", "codes"),
    [
        ({"deny": ""}, ["empty"]),
        ({"deny": 1}, ["wrong-type"]),
        ({"tell": {"to": "all", "place": "here"}}, ["missing-key", "unknown-word", "unknown-word"]),
    ],
    ids=str,
)
def test_every_problem_is_found(then: Any, codes: list[str]) -> None:
    action, found = parse(then)
    assert isinstance(action, InvalidAction)
    assert found == codes


def test_an_answer_of_several_parts_is_written_as_a_chain() -> None:
    notes = (Note("a"), Note("b", Audience.USER))
    answer = Outcome(Verdict.DENY, "no", notes=notes, requests=(Compact(keep_recent=2),))
    assert write_action(FixedAnswer(answer), hook_info())["chain"] == [
        {"tell": "a"},
        {"tell": {"text": "b", "to": "user", "place": "context"}},
        {"compact": {"strategy": "summarize", "keep_recent": 2, "summary_max_tokens": 1024}},
        {"deny": "no"},
    ]
    halted = Outcome(reason="spent", notes=notes[:1], halt=True)
    assert write_action(FixedAnswer(halted), hook_info())["chain"] == [{"tell": "a"}, {"halt": "spent"}]


@pytest.mark.parametrize(
    "answer", [Outcome(final=True), Outcome(Verdict.DENY, halt=True), Outcome(changes=((("a",), 1),))]
)
def test_what_no_key_says_is_not_expressible(answer: Outcome) -> None:
    with pytest.raises(NotExpressible, match="an answer that"):
        write_action(FixedAnswer(answer), hook_info())
