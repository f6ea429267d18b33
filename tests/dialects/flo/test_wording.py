from __future__ import annotations

from dialect_conversion import load_hooks
from hookline.dialects.flo.wording import WORDING
from hookline.hooks.actions.run_program import RunProgram


def test_the_three_readings_of_continue_on_error() -> None:
    rules = [{"command": "x"}, {"command": "x", "continueOnError": True}, {"command": "x", "continueOnError": False}]
    hooks = load_hooks("flo", {"hooks": {"PreToolUse": rules}}, "hub.json")
    parsers = [hook.then.result_parser for hook in hooks if isinstance(hook.then, RunProgram)]
    texts = [WORDING.failure(hook.on_error, parser.format) for hook, parser in zip(hooks, parsers, strict=True)]
    assert texts == [
        "continueOnError not set: a non-zero exit denies, an error does not",
        "continueOnError: true: nothing denies",
        "continueOnError: false: a non-zero exit and an error deny",
    ]


def test_priorities_and_placeholders_are_shown_as_they_are_written() -> None:
    assert WORDING.order(-50) == "50"
    assert WORDING.as_written("echo {{tool.input.path}} {{tool.name}}") == "echo {{input.path}} {{toolName}}"


def test_actions_have_flo_s_words() -> None:
    rules = [{"command": "ls"}, {"action": "deny"}, {"action": "log"}, {"action": "script", "script": "1"}]
    hooks = load_hooks("flo", {"hooks": {"PreToolUse": rules}}, "hub.json")
    words = [hook.origin.wording.action(hook.then) for hook in hooks]
    assert words == ["the action command", "the action deny", "the action log", "the action script"]
