"""A model's yes or no."""

from __future__ import annotations

import asyncio

import pytest

from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.event import Event
from hookline.hooks.outcome import SILENT, ActionError, FailureKind, Outcome, Verdict
from hookline.hooks.templates import DataTemplate
from hookline.testing import ScriptedHost

EVENT = Event("tool.before", {})


def ask(answer: str, prompt: str = "Is it safe?") -> tuple[Outcome, str]:
    host = ScriptedHost(answers=[answer])
    outcome = asyncio.run(AskModel(prompt, DataTemplate({"x": 1})).run(EVENT, host))
    return outcome, host.prompts[0]


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        ('{"ok": true}', SILENT),
        ('{"ok": false, "reason": "why"}', Outcome(Verdict.DENY, "why")),
        ('Sure!\n```json\n{"ok": false, "reason": "a } b"}\n```', Outcome(Verdict.DENY, "a } b")),
    ],
)
def test_the_object_is_found_in_the_answer(answer: str, outcome: Outcome) -> None:
    assert ask(answer)[0] == outcome


@pytest.mark.parametrize(
    "answer", ["", "yes", "}{", '{"ok": "true"}', '{"ok": 1}', "{}", '{"ok": false, "ok": true}', '[{"ok": true}]x}']
)
def test_an_answer_that_is_neither_yes_nor_no_asks_the_user(answer: str) -> None:
    with pytest.raises(ActionError) as failed:
        ask(answer)
    assert failed.value.failure.kind is FailureKind.UNREADABLE_ANSWER
    assert failed.value.failure.answer is not None
    assert failed.value.failure.answer.verdict is Verdict.ASK


def test_the_arguments_stand_where_the_prompt_wants_them_or_behind_it() -> None:
    assert ask('{"ok": true}', "Judge $ARGUMENTS now, $ARGUMENTS!")[1].startswith('Judge {"x":1} now, {"x":1}!\n\n')
    assert ask('{"ok": true}')[1].startswith('Is it safe?\n\n{"x":1}\n\n')
