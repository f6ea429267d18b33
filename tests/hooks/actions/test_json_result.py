"""JSON objects as answers, and what an unreadable one counts as."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.hooks.actions.json_result import (
    MAX_REASON_CHARS,
    DuplicateKey,
    block_outcome,
    parse_answer_object,
    text_value,
    unreadable_as_deny,
    unreadable_error,
)
from hookline.hooks.event import Event
from hookline.hooks.outcome import Audience, Note, Outcome, Verdict

BEFORE, AFTER, PROMPT = (Event(name, {}) for name in ("tool.before", "tool.after", "prompt.submit"))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('\ufeff \n{"a": 1}\n', {"a": 1}),
        ("[]", None),
        ('"text"', None),
        ('{"a": 1} and more', None),
        ("{", None),
        ("", None),
        ('{"a":' * 100_000, None),
    ],
)
def test_only_one_whole_object_is_an_answer(text: str, value: Any) -> None:
    assert parse_answer_object(text) == value


@pytest.mark.parametrize("text", ['{"a": 1, "a": 1}', '{"b": [{"a": 1, "a": 2}]}'])
def test_a_key_that_is_there_twice_is_refused_at_any_depth(text: str) -> None:
    with pytest.raises(DuplicateKey, match='"a" twice'):
        parse_answer_object(text)


def test_what_is_not_text_counts_as_none() -> None:
    assert (text_value({"a": "x"}, "a"), text_value({"a": 1}, "a"), text_value({}, "a")) == ("x", "", "")


def test_a_block_is_a_deny_or_a_note_where_nothing_can_be_denied() -> None:
    assert block_outcome("no", BEFORE) == Outcome(Verdict.DENY, "no")
    assert block_outcome("no", AFTER) == Outcome(notes=(Note("no"),))
    assert len(block_outcome("x" * (MAX_REASON_CHARS + 1), BEFORE).reason) == MAX_REASON_CHARS


@pytest.mark.parametrize(
    ("event", "error", "or_deny"),
    [
        (BEFORE, Verdict.ASK, Verdict.ASK),
        (PROMPT, Verdict.SILENT, Verdict.DENY),
        (AFTER, Verdict.SILENT, Verdict.SILENT),
    ],
)
def test_an_unreadable_answer_asks_where_it_can(event: Event, error: Verdict, or_deny: Verdict) -> None:
    for make, verdict in ((unreadable_error, error), (unreadable_as_deny, or_deny)):
        answer = make("said nothing", event).failure.answer
        assert answer is not None
        assert answer.verdict is verdict
    answer = unreadable_error("said nothing", event).failure.answer
    assert answer is not None
    assert [note.audience for note in answer.notes] == [Audience.USER]
