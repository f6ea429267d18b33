"""Scripts answer about recorded events, and nothing is called for them."""

from __future__ import annotations

import json

import pytest

from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import ActionError, Verdict
from hookline.hub.explain import script_trial
from hookline.hub.explain.script_trial import ScriptTrial
from hookline.hub.rules.rule_sets import check_rules
from hub.hub_sandbox import async_test

PUSH = Event("tool.before", {"tool": {"name": "bash", "input": {"command": "git push"}}})


def script_hook(source: str, id: str = "s") -> Hook:
    rules = {"PreToolUse": [{"id": id, "action": "script", "script": source}]}
    [hook] = check_rules(json.dumps({"hooks": rules}), "everyone").hooks
    return hook


@async_test
async def test_a_script_answers_about_a_recorded_event() -> None:
    hook = script_hook("if (toolInput.command === 'git push') return {decision: 'deny', reason: 'no'}")
    outcome = await ScriptTrial().answer(hook, PUSH)
    assert outcome is not None
    assert (outcome.verdict, outcome.reason) == (Verdict.DENY, "no")


@pytest.mark.parametrize(
    "source",
    [
        pytest.param("await callTool('bash', {command: 'ls'}); return {decision: 'deny'}", id="calls a tool"),
        pytest.param("try { await callTool('bash', {}) } finally { throw new Error() }", id="calls a tool and throws"),
        pytest.param("return {decision: document.title ? 'deny' : 'allow'}", id="reads the page"),
        pytest.param("while (true) {}", id="does not end"),
    ],
)
@async_test
async def test_a_script_that_needs_more_than_the_event_has_no_answer(source: str) -> None:
    assert await ScriptTrial().answer(script_hook(source), PUSH) is None


@async_test
async def test_a_script_that_throws_fails() -> None:
    with pytest.raises(ActionError, match="broken"):
        await ScriptTrial().answer(script_hook("throw new Error('broken')"), PUSH)


@async_test
async def test_one_trial_runs_only_so_many_scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_trial, "_MAX_RUNS", 2)
    trial, hook = ScriptTrial(), script_hook("return {decision: 'deny'}")
    answers = [await trial.answer(hook, PUSH) for _ in range(3)]
    assert [answer is None for answer in answers] == [False, False, True]


@async_test
async def test_a_script_that_does_not_end_is_not_begun_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(script_trial, "_MAX_RUNS", 2)
    trial, endless, other = ScriptTrial(), script_hook("while (true) {}"), script_hook("return {decision: 'deny'}", "o")
    assert [await trial.answer(endless, PUSH) for _ in range(3)] == [None] * 3
    assert await trial.answer(other, PUSH) is not None
