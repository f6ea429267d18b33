from __future__ import annotations

from datetime import UTC, datetime

import pytest

from hookline.errors import BadTemplate
from hookline.runtime.triggers.trigger import Trigger, TriggerKind, build_activation, prompt_template

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


def test_an_activation_has_the_facts_of_its_trigger_and_its_own() -> None:
    trigger = Trigger("deployed", TriggerKind.HTTP, "/deployed", "")
    facts = build_activation(trigger, NOON, body={"version": "1.2"}).facts
    assert {key: facts[key] for key in ("id", "kind", "at", "body")} == {
        "id": "deployed",
        "kind": "http",
        "at": "/deployed",
        "body": {"version": "1.2"},
    }
    assert facts["time"].startswith("2026-03-02T12:00:00")


def test_the_prompt_is_filled_once() -> None:
    trigger = Trigger("d", TriggerKind.HTTP, "/d", "Version {{trigger.body.version}} is out.")
    activation = build_activation(trigger, NOON, body={"version": "{{trigger.id}}"})
    assert activation.prompt == "Version {{trigger.id}} is out."


@pytest.mark.parametrize("text", ["{{prompt}}", "{{session.id}}"])
def test_only_facts_of_the_trigger_can_be_named(text: str) -> None:
    with pytest.raises(BadTemplate):
        prompt_template(text)
