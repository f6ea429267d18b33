"""A call of a tool: what it gets, and who hears of the answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookline.hooks.actions.call_tool import CallTool, TellWhen
from hookline.hooks.event import Event
from hookline.hooks.host import ToolResult
from hookline.hooks.outcome import SILENT, ActionError, Note, NotePlace, Outcome
from hookline.hooks.templates import DataTemplate
from hookline.testing import ScriptedHost

EVENT = Event("turn.end", {})


def run(call: CallTool, result: ToolResult) -> tuple[Outcome, ScriptedHost]:
    host = ScriptedHost({"t": result})
    return asyncio.run(call.run(EVENT, host)), host


def test_a_good_answer_is_told_only_where_that_was_asked_for() -> None:
    fine, bad = ToolResult("fine"), ToolResult({"errors": ["e"]})
    told = Note("> fine", place=NotePlace.MESSAGE, role="system")
    always = CallTool("t", DataTemplate({}), tell=TellWhen.ALWAYS, prefix="> ", place=NotePlace.MESSAGE, role="system")
    assert run(CallTool("t", DataTemplate({})), bad)[0] == SILENT
    assert run(always, fine)[0] == Outcome(notes=(told,))
    assert run(CallTool("t", DataTemplate({}), tell=TellWhen.ON_ERRORS), fine)[0] == SILENT
    assert run(CallTool("t", DataTemplate({}), tell=TellWhen.ON_ERRORS), bad)[0] == Outcome(
        notes=(Note('{"errors":["e"]}'),)
    )


@pytest.mark.parametrize(
    ("tell", "answer"), [(TellWhen.NEVER, None), (TellWhen.ON_ERRORS, Outcome(notes=(Note("no"),)))]
)
def test_a_failed_call_is_a_failure_even_where_the_agent_is_told(tell: TellWhen, answer: Outcome | None) -> None:
    with pytest.raises(ActionError) as caught:
        run(CallTool("t", DataTemplate({}), tell=tell), ToolResult(None, False, "no"))
    assert caught.value.failure.text == "t: no"
    assert caught.value.failure.answer == answer


def test_literal_fields_are_copies_and_rendered_ones_win() -> None:
    literal: dict[str, Any] = {"a": [1], "b": 1}
    call = CallTool("t", DataTemplate({"b": 2}), tuple(literal.items()))
    _, host = run(call, ToolResult("ok"))
    host.called[0].input["a"].append(2)
    assert host.called[0].input == {"a": [1, 2], "b": 2}
    assert literal == {"a": [1], "b": 1}
