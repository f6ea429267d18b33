"""A call of a tool: what it gets, and who hears of the answer."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookline.hooks.actions.call import Call, Tell
from hookline.hooks.event import Event
from hookline.hooks.filled import Filled
from hookline.hooks.host import ToolResult
from hookline.hooks.outcome import SILENT, Failed, Note, Outcome, Place
from hookline.testing import ScriptedHost

EVENT = Event("turn.end", {})


def run(call: Call, result: ToolResult) -> tuple[Outcome, ScriptedHost]:
    host = ScriptedHost({"t": result})
    return asyncio.run(call.run(EVENT, host)), host


def test_a_good_answer_is_told_only_where_that_was_asked_for() -> None:
    fine, bad = ToolResult("fine"), ToolResult({"errors": ["e"]})
    told = Note("> fine", place=Place.MESSAGE, role="system")
    always = Call("t", Filled({}), tell=Tell.ALWAYS, prefix="> ", place=Place.MESSAGE, role="system")
    assert run(Call("t", Filled({})), bad)[0] == SILENT
    assert run(always, fine)[0] == Outcome(notes=(told,))
    assert run(Call("t", Filled({}), tell=Tell.ON_ERRORS), fine)[0] == SILENT
    assert run(Call("t", Filled({}), tell=Tell.ON_ERRORS), bad)[0] == Outcome(notes=(Note('{"errors":["e"]}'),))


@pytest.mark.parametrize(("tell", "answer"), [(Tell.NEVER, None), (Tell.ON_ERRORS, Outcome(notes=(Note("no"),)))])
def test_a_failed_call_is_a_failure_even_where_the_agent_is_told(tell: Tell, answer: Outcome | None) -> None:
    with pytest.raises(Failed) as caught:
        run(Call("t", Filled({}), tell=tell), ToolResult(None, False, "no"))
    assert caught.value.failure.text == "t: no"
    assert caught.value.failure.answer == answer


def test_literal_fields_are_copies_and_rendered_ones_win() -> None:
    literal: dict[str, Any] = {"a": [1], "b": 1}
    call = Call("t", Filled({"b": 2}), tuple(literal.items()))
    _, host = run(call, ToolResult("ok"))
    host.called[0].input["a"].append(2)
    assert host.called[0].input == {"a": [1, 2], "b": 2}
    assert literal == {"a": [1], "b": 1}
