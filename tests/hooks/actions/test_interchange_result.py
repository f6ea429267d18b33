from __future__ import annotations

import pytest

from hookline.hooks.actions.interchange_result import parse_interchange_result
from hookline.hooks.event import Event
from hookline.hooks.outcome import ActionError, Verdict

CALL = Event("tool.before", {"tool": {"name": "bash", "input": {"command": "ls"}}})


def test_after_a_tool_a_deny_is_a_note_for_the_agent() -> None:
    outcome = parse_interchange_result({"decision": "deny", "reason": "look again"}, Event("tool.after", {}))
    assert (outcome.verdict, [note.text for note in outcome.notes]) == (Verdict.SILENT, ["look again"])


@pytest.mark.parametrize("answer", [{"decision": 5}, {"decision": "DENY"}, {"updated_input": "ls"}])
def test_what_may_have_been_a_deny_asks(answer: dict[str, object]) -> None:
    with pytest.raises(ActionError) as raised:
        parse_interchange_result(answer, CALL)
    assert raised.value.failure.answer is not None
    assert raised.value.failure.answer.verdict is Verdict.ASK
