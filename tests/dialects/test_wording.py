from datetime import timedelta

import pytest

from hookline.dialects.dialect import DIALECT_NAMES
from hookline.dialects.wording import wording_of
from hookline.hooks.events import EVENTS
from hookline.hooks.protocols import May
from hookline.project import load_text
from hookline.project.lint import lint_hooks


def test_durations_are_in_the_unit_of_the_dialect() -> None:
    assert wording_of("microai").duration(timedelta(milliseconds=200)) == "200 ms"
    assert wording_of("ai_agents").duration(timedelta(seconds=1.5)) == "1.5 s"


@pytest.mark.parametrize("dialect", DIALECT_NAMES)
def test_only_events_of_the_dialect_are_named(dialect: str) -> None:
    named = wording_of(dialect).events(EVENTS)
    assert named
    assert dialect == "native" or not any("." in name for name in named)


def test_digitorn_s_words() -> None:
    words = wording_of("digitorn")
    assert words.event("turn.end") == "turn_end"
    assert words.answer_words(May.DENY) == ["gate"]
    assert words.fact(("tool", "ok")) == "tool_failed"
    assert words.fact(("tool", "input", "path")) == "tool.params.path"


def test_a_gate_that_never_acts_is_told_in_digitorn_s_words() -> None:
    hook = "{id: x, on: turn_end, action: {type: gate}}"
    (found,) = lint_hooks(load_text(f"runtime: {{hooks: [{hook}]}}", "app.yaml", "digitorn").hooks)
    assert found.what == "x can never act: turn_end does not accept gate."
    assert found.hint.startswith("These events do: activation, ")
    assert "tool.before" not in found.hint


def test_a_condition_on_a_failed_tool_before_it_ran() -> None:
    hook = "{id: x, on: tool_start, condition: {type: tool_failed}, action: {type: gate}}"
    (found,) = lint_hooks(load_text(f"runtime: {{hooks: [{hook}]}}", "app.yaml", "digitorn").hooks)
    assert found.what == "x reads tool_failed, which tool_start never has."
    assert found.hint == "These events have it: tool_end."
