"""What a script returns."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from hookline.hooks.actions.script import RunScript
from hookline.hooks.event import Event
from hookline.hooks.host import NullHost, ScriptCall
from hookline.hooks.outcome import SILENT, ActionError, FailureKind, Outcome, Verdict
from hookline.hooks.templates import DataTemplate

EVENT = Event("tool.before", {"tool": {"name": "odd", "input": {"x": 1}}})


class ScriptHost(NullHost):
    def __init__(self, returned: Any) -> None:
        self.returned = returned
        self.calls: list[ScriptCall] = []

    async def run_script(self, call: ScriptCall) -> Any:
        self.calls.append(call)
        return self.returned


def run(returned: Any) -> Outcome:
    host = ScriptHost(returned)
    outcome = asyncio.run(RunScript("source", DataTemplate({"a": 1}), timedelta(seconds=2)).run(EVENT, host))
    assert host.calls == [ScriptCall("source", {"a": 1}, timedelta(seconds=2))]
    return outcome


@pytest.mark.parametrize(
    ("returned", "outcome"),
    [
        (None, SILENT),
        ({}, SILENT),
        ({"decision": "deny", "reason": "no"}, Outcome(Verdict.DENY, "no")),
        ({"decision": "ask", "reason": 5}, Outcome(Verdict.ASK)),
        ({"decision": "allow"}, Outcome(Verdict.ALLOW)),
        ({"modifiedInput": {"x": 2}}, Outcome(changes=((("tool", "input"), {"x": 2}),))),
        ({"modifiedPrompt": "new"}, Outcome(changes=((("prompt",), "new"),))),
        ({"decision": "deny", "modifiedPrompt": "new"}, Outcome(Verdict.DENY)),
    ],
)
def test_what_it_returns_is_the_outcome(returned: Any, outcome: Outcome) -> None:
    assert run(returned) == outcome


@pytest.mark.parametrize(
    "returned", ["deny", True, [], {"decision": "no"}, {"modifiedInput": 1}, {"modifiedPrompt": 1}]
)
def test_what_cannot_be_read_is_a_failure(returned: Any) -> None:
    with pytest.raises(ActionError) as failed:
        run(returned)
    assert failed.value.failure.kind is FailureKind.UNREADABLE_ANSWER
