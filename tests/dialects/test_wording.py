from datetime import timedelta

import pytest

from hookline.dialects.dialect import DIALECT_NAMES
from hookline.dialects.wording import failure_text, wording_of
from hookline.hooks.actions.run_program import RunProgram
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


def failures(dialect: str, file: str, text: str) -> list[str]:
    hooks = load_text(text, file, dialect).hooks
    formats = [hook.then.result_parser.format if isinstance(hook.then, RunProgram) else None for hook in hooks]
    return [failure_text(hook, format) for hook, format in zip(hooks, formats, strict=True)]


def test_the_three_readings_of_continue_on_error() -> None:
    rules = '{"command": "x"}, {"command": "x", "continueOnError": true}, {"command": "x", "continueOnError": false}'
    assert failures("flo", "hub.json", f'{{"hooks": {{"PreToolUse": [{rules}]}}}}') == [
        "continueOnError not set: a non-zero exit denies, an error does not",
        "continueOnError: true: nothing denies",
        "continueOnError: false: a non-zero exit and an error deny",
    ]


def test_what_a_failure_means_in_microai() -> None:
    entries = '[{"command": "x"}, {"command": "x", "continueOnFailure": false}]'
    text = f'{{"hooks": {{"PreToolUse": {entries}, "PostToolUse": {entries}}}}}'
    assert failures("microai", ".microai/settings.json", text) == [
        "continues",
        "continueOnFailure: false: a failure blocks",
        "continues",
        "continueOnFailure: false: a failure ends the remaining hooks",
    ]


def test_priorities_and_placeholders_are_shown_as_they_are_written() -> None:
    assert wording_of("flo").order(-50) == "50"
    assert wording_of("digitorn").order(-95) == "5"
    assert wording_of("digitorn").order(0) == ""
    assert wording_of("flo").as_written("echo {{tool.input.path}} {{tool.name}}") == "echo {{input.path}} {{toolName}}"
    assert wording_of("native").as_written("{{tool.input.path | json}}") == "{{tool.input.path | json}}"


def test_conditions_are_explained_with_the_dialect_s_facts() -> None:
    words = wording_of("digitorn")
    assert words.condition("tool.ok is false and turn.number is 3") == "tool_failed and turn_count is 3"
    assert words.condition("input.path matches src/tool.ok/x") == "input.path matches src/tool.ok/x"
    assert wording_of("native").condition("tool.ok is false") == "tool.ok is false"
