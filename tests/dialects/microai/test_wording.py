from __future__ import annotations

from dialect_conversion import load_hooks
from hookline.dialects.microai.wording import WORDING
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.protocols import May


def test_what_a_failure_means() -> None:
    entries = [{"command": "x"}, {"command": "x", "continueOnFailure": False}]
    hooks = load_hooks("microai", {"hooks": {"PreToolUse": entries, "PostToolUse": entries}}, ".microai/settings.json")
    parsers = [hook.then.result_parser for hook in hooks if isinstance(hook.then, RunProgram)]
    texts = [WORDING.failure(hook.on_error, parser.format) for hook, parser in zip(hooks, parsers, strict=True)]
    assert texts == [
        "continues",
        "continueOnFailure: false: a failure blocks",
        "continues",
        "continueOnFailure: false: a failure ends the remaining hooks",
    ]


def test_a_deny_is_a_block() -> None:
    assert WORDING.answer_words(May.DENY) == ["block"]
