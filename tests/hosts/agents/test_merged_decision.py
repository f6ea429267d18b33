"""Decisions become one answer, which never permits more than they do."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from hookline.engine.decision import Decision
from hookline.hooks.event import MISSING, Event
from hookline.hooks.outcome import Audience, Note, Verdict
from hookline.hosts.agents.agent_event import Ability
from hookline.hosts.agents.merged_decision import (
    TRUNCATION_MARK,
    MergedDecision,
    json_line,
    limit_to,
    merge_decisions,
    truncate_utf8,
)

CALL = Event("tool.before", {"tool": {"name": "bash", "input": {"command": "ls"}}})
NOTHING = Ability()
ALL = Ability(deny=True, ask=True, allow=True, change=True, context=True, halt=True, user=True)


def _merge(*decisions: Decision, events: tuple[Event, ...] = (CALL,), ability: Ability = ALL) -> MergedDecision:
    return limit_to(merge_decisions(events, decisions), ability)


def test_the_first_strongest_decision_gives_the_reason() -> None:
    decisions = [
        Decision(CALL, Verdict.ASK, "one"),
        Decision(CALL, Verdict.DENY, "two"),
        Decision(CALL, Verdict.DENY, "three"),
    ]
    answer = _merge(*decisions, events=(CALL, CALL, CALL))
    assert (answer.verdict, answer.reason) == (Verdict.DENY, "two")


def test_a_silent_decision_has_no_reason() -> None:
    assert _merge(Decision(CALL, reason="just so")).reason == ""


def test_ask_becomes_deny_where_the_agent_cannot_ask() -> None:
    answer = _merge(Decision(CALL, Verdict.ASK, "look"), ability=Ability(deny=True))
    assert answer.is_denied
    assert answer.reason.startswith("look")


def test_ask_with_a_change_is_denied_without_it() -> None:
    changed = CALL.with_changes(((("tool", "input", "command"), "pwd"),))
    answer = _merge(Decision(changed, Verdict.ASK, "look"), ability=Ability(deny=True, change=True))
    assert answer.is_denied
    assert answer.new is MISSING


def test_a_changed_input_is_complete() -> None:
    call = Event("tool.before", {"tool": {"input": {"command": "ls", "cwd": "/"}}})
    decision = Decision(call.with_changes(((("tool", "input", "command"), "pwd"),)))
    assert _merge(decision, events=(call,)).new == {"command": "pwd", "cwd": "/"}


def test_a_change_that_cannot_be_made_is_denied_with_the_suggestion() -> None:
    decision = Decision(CALL.with_changes(((("tool", "input", "command"), "pwd"),)), Verdict.ALLOW)
    answer = _merge(decision, ability=Ability(deny=True, allow=True))
    assert answer.is_denied
    assert '{"command":"pwd"}' in answer.reason


def test_a_change_of_another_fact_is_ignored() -> None:
    decision = Decision(CALL.with_changes(((("metadata", "seen"), True),)))
    assert not _merge(decision).is_changed


def test_true_is_not_one() -> None:
    call = Event("tool.before", {"tool": {"input": {"force": True}}})
    decision = Decision(call.with_changes(((("tool", "input", "force"), 1),)))
    assert _merge(decision, events=(call,)).new == {"force": 1}


def test_text_appended_to_a_prompt_is_context() -> None:
    prompt = Event("prompt.submit", {"prompt": "go"})
    decision = Decision(prompt.with_changes(((("prompt",), "go\n\nbe brief"),)))
    answer = _merge(decision, events=(prompt,), ability=Ability(deny=True, context=True))
    assert (answer.verdict, answer.context) == (Verdict.SILENT, "be brief")


def test_a_denied_prompt_has_no_context() -> None:
    prompt = Event("prompt.submit", {"prompt": "go"})
    assert not _merge(Decision(prompt, Verdict.DENY, "no", notes=(Note("x"),)), events=(prompt,)).context


def test_context_goes_into_the_reason_of_a_deny() -> None:
    answer = _merge(Decision(CALL, Verdict.DENY, "no", notes=(Note("use make"),)))
    assert (answer.reason, answer.context) == ("no\n\nuse make", "")


def test_context_is_shown_to_the_user_where_the_agent_takes_none() -> None:
    answer = _merge(Decision(CALL, notes=(Note("use make"),)), ability=NOTHING)
    assert (answer.message, answer.context) == ("use make", "")


def test_a_note_for_the_user_is_not_context() -> None:
    answer = _merge(Decision(CALL, notes=(Note("seen", Audience.USER),)))
    assert (answer.message, answer.context) == ("seen", "")


def test_halt_denies_what_can_be_denied() -> None:
    answer = _merge(Decision(CALL, halt=True), ability=Ability(deny=True))
    assert answer.is_denied
    assert answer.reason == "Stopped by a hook"


@pytest.mark.parametrize("ability", [ALL, Ability(deny=True)])
def test_halt_at_a_stop_does_not_make_the_agent_continue(ability: Ability) -> None:
    stop = Event("stop", {"stop": {"reason": "end_turn"}})
    answer = _merge(Decision(stop, Verdict.DENY, "enough", halt=True), events=(stop,), ability=ability)
    assert answer.verdict is Verdict.SILENT
    assert answer.halt is ability.halt


def test_an_unsupported_deny_is_reported() -> None:
    start = Event("subagent.start", {})
    answer = _merge(Decision(start, Verdict.DENY, "no"), events=(start,), ability=Ability(context=True))
    assert answer.verdict is Verdict.SILENT
    assert "no" in answer.context


_ABILITIES = some.builds(Ability, *[some.booleans() for _ in range(7)], instead=some.just({}))
_DECISIONS = some.builds(
    Decision,
    some.sampled_from([CALL, CALL.with_changes(((("tool", "input", "command"), "pwd"),))]),
    some.sampled_from(Verdict),
    some.text(max_size=5),
    some.none(),
    some.booleans(),
)


@given(decision=_DECISIONS, ability=_ABILITIES)
def test_nothing_runs_that_hooks_denied_asked_about_or_changed(decision: Decision, ability: Ability) -> None:
    answer = _merge(decision, ability=ability)
    if ability.deny and (decision.verdict is Verdict.DENY or decision.halt):
        assert answer.is_denied
    if ability.deny and decision.verdict is Verdict.ASK:
        assert answer.verdict is Verdict.ASK or answer.is_denied
    if ability.deny and decision.event is not CALL:
        assert answer.is_denied or answer.new == {"command": "pwd"}
    if answer.verdict is Verdict.ALLOW:
        assert decision.verdict is Verdict.ALLOW
    if answer.verdict >= Verdict.ASK or answer.halt:
        assert answer.reason.strip()


@given(text=some.text(), size=some.integers(len(TRUNCATION_MARK.encode()), 60))
def test_truncated_text_fits(text: str, size: int) -> None:
    truncated = truncate_utf8(text, size)
    assert len(truncated.encode("utf-8", "replace")) <= size
    assert truncated == text or truncated.endswith(TRUNCATION_MARK)


@pytest.mark.parametrize("output", [{"a": "\ud83d"}, {"\udfff": ["\ud800x"]}])
def test_a_lone_surrogate_is_replaced(output: dict[str, Any]) -> None:
    text = json_line(output)
    assert json.loads(text.encode("utf-8").decode("utf-8"))
    assert "\\ud" not in text


def test_an_empty_object_is_an_empty_line() -> None:
    assert json_line({}) == ""
