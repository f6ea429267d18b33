"""Whatever a program answers, reading it as Claude Code's is an outcome or a failure, never an error of ours."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hooks.host import ProgramResult
from hookline.hooks.outcome import SILENT, ActionError, Outcome, Verdict, is_outcome

READING = ResultParser(ResultFormat.CLAUDE)
WORDS = st.sampled_from(
    ["allow", "deny", "ask", "defer", "block", "approve", "", "PreToolUse", True, False, None, 1, [], {}, {"behavior": "deny"}]
)  # fmt: skip
KEYS = (
    "hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "additionalContext", "decision",
    "updatedToolOutput", "updatedMCPToolOutput", "initialUserMessage",
)  # fmt: skip
SPECIFIC = st.dictionaries(st.sampled_from(KEYS), WORDS, max_size=4) | WORDS
ANSWER = st.dictionaries(
    st.sampled_from(["continue", "stopReason", "decision", "reason", "systemMessage", "async", "suppressOutput"]), WORDS
)
TOOL = st.sampled_from([{}, {"tool": 5}, {"tool": {"name": "mcp__a__b", "input": {"path": "x"}, "ok": False}}])


def read(finished: ProgramResult, event: Event) -> Outcome:
    """What it asks for, or what its failure counts as."""
    try:
        return READING.parse(finished, event)
    except ActionError as failed:
        return failed.failure.answer or SILENT


@example(answer={}, specific={"decision": "allow"}, event="approval.request", facts={}, code=0)
@example(answer={}, specific={"decision": "deny"}, event="approval.request", facts={}, code=0)
@given(
    answer=ANSWER,
    specific=SPECIFIC,
    event=st.sampled_from(list(EVENTS)),
    facts=TOOL,
    code=st.sampled_from([0, 0, 1, 2]),
)
def test_any_answer_can_be_read(answer: dict[str, Any], specific: Any, event: str, facts: Any, code: int) -> None:
    out = json.dumps({**answer, "hookSpecificOutput": specific})
    given = Event(event, {}).with_changes(tuple(((name,), value) for name, value in facts.items()))
    assert is_outcome(read(ProgramResult(code, out, "e"), given))


@pytest.mark.parametrize("top", [None, "approve", "block"])
@pytest.mark.parametrize("said", ["allow", "ask", "deny"])
def test_of_two_decisions_the_stricter_counts(top: str | None, said: str) -> None:
    answer = {"decision": top, "reason": "t", "hookSpecificOutput": {"permissionDecision": said}}
    outcome = READING.parse(ProgramResult(0, json.dumps(answer), ""), Event("tool.before", {"tool": {}}))
    assert outcome.verdict is (Verdict.DENY if top == "block" else Verdict[said.upper()])
