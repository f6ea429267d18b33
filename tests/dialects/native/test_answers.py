"""`deny`, `ask`, `allow`, `halt`, `tell`, `log` and `notify`."""

from __future__ import annotations

from typing import Any

import pytest

from dialects.native.native_actions import hook_info, parse, parse_valid, rewrite
from hookline.dialects.conversion import NotExpressible
from hookline.dialects.native.actions import write_action
from hookline.hooks.actions.answer import FixedAnswer, TemplateAnswer
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.outcome import Audience, Note, NotePlace, Outcome, Verdict


@pytest.mark.parametrize(
    "then",
    [
        {"deny": True},
        {"ask": "Sure?"},
        {"allow": "fine"},
        {"halt": "{{tool.name}} is enough"},
        {"deny": "{{open_braces}}x}}"},
        {"tell": "Run the tests."},
        {"tell": "{{tool.name}} failed"},
        {"tell": {"text": "a", "to": "user", "place": "context"}},
        {"tell": {"text": "a", "to": "agent", "place": "message", "role": "system", "position": "start"}},
        {"log": {"message": "{{tool.name}}", "level": "debug"}},
        {"notify": {"message": "a", "title": "b", "level": "error", "tag": "c"}},
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
        ({"log": {"message": "a", "level": "loud"}}, ["unknown-word"]),
        ({"notify": {"titel": "x"}}, ["unknown-key", "missing-key"]),
    ],
    ids=str,
)
def test_every_problem_is_found(then: Any, codes: list[str]) -> None:
    action, found = parse(then)
    assert isinstance(action, InvalidAction)
    assert found == codes


def test_two_notes_are_not_expressible() -> None:
    with pytest.raises(NotExpressible, match="several parts"):
        write_action(FixedAnswer(Outcome(notes=(Note("a"), Note("b")))), hook_info())
