"""`on_error`: its words, its reasons, and what it withholds after a tool has run."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from hookline.config.node import Node
from hookline.config.reader import read_text
from hookline.dialects.conversion import NotExpressible
from hookline.dialects.native.on_error import (
    ON_ERROR,
    fails_closed,
    parse_on_error,
    undo_withhold_result,
    withhold_result,
    write_on_error,
)
from hookline.hooks.outcome import Outcome, Verdict
from hookline.project import load_text


def parse(value: Any) -> tuple[Outcome | None, list[str]]:
    document, _ = read_text(json.dumps(value), "on_error.json")
    assert document is not None
    at = Node.of(document)
    return parse_on_error(at), [problem.code for problem in at.problems]


@pytest.mark.parametrize("value", [*ON_ERROR, {"deny": "No: {failure}"}, {"ask": "Sure?"}], ids=str)
def test_it_is_written_as_it_was_read(value: Any) -> None:
    outcome, problems = parse(value)
    assert (outcome is None, problems) == (False, [])
    assert outcome is not None
    assert write_on_error(outcome) == value


@pytest.mark.parametrize(
    ("value", "code"),
    [("shut", "unknown-word"), ({"allow": "x"}, "unknown-key"), ({}, "wrong-type"), ({"deny": 1}, "wrong-type")],
    ids=str,
)
def test_anything_else_is_a_problem(value: Any, code: str) -> None:
    outcome, problems = parse(value)
    assert outcome is None
    assert code in problems


@pytest.mark.parametrize("event", ["tool.before", "prompt.submit", "turn.end"])
def test_closed_stays_a_deny_if_there_is_no_result_to_withhold(event: str) -> None:
    assert withhold_result(ON_ERROR["closed"], event, "scan") == ON_ERROR["closed"]


@pytest.mark.parametrize("event", ["tool.after", "tool.store"])
def test_closed_withholds_the_result_after_a_tool(event: str) -> None:
    withheld = withhold_result(ON_ERROR["closed"], event, "scan")
    assert withheld.verdict is Verdict.SILENT
    assert (("tool", "result"), "[withheld: hook scan could not check it]") in withheld.changes
    assert undo_withhold_result(withheld) == ON_ERROR["closed"]
    assert write_on_error(withheld) == "closed"


def test_only_a_deny_or_an_ask_withholds() -> None:
    for word in ON_ERROR.keys() - {"closed", "ask"}:
        assert withhold_result(ON_ERROR[word], "tool.after", "scan") == ON_ERROR[word]


def test_ask_counts_as_closed_if_nobody_can_be_asked_about_the_event() -> None:
    ask, closed = ON_ERROR["ask"], ON_ERROR["closed"]
    assert withhold_result(ask, "tool.before", "scan") == ask
    assert withhold_result(ask, "prompt.submit", "scan") == closed
    assert withhold_result(ask, "tool.after", "scan") == withhold_result(closed, "tool.after", "scan")
    assert withhold_result(ask, "turn.end", "scan") == ask
    loaded = load_text("hooks: [{id: x, on: tool.after, then: {run: lint}, on_error: ask}]", "hookline.yaml", "native")
    assert "hooks[0].on_error: ask counts as closed" in str(loaded.problems[0])


@pytest.mark.parametrize(("written", "closed"), [(None, True), ("closed", True), ("ask", True), ("open", False)])
def test_a_failure_is_let_through_only_if_that_is_written(written: str | None, closed: bool) -> None:
    assert fails_closed(None if written is None else ON_ERROR[written]) is closed


def test_another_outcome_is_not_expressible() -> None:
    with pytest.raises(NotExpressible):
        write_on_error(replace(ON_ERROR["closed"], halt=True))
