"""Claude Code's settings: whose file it is, how long hooks take, what the schema knows, hostile files."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dialect_conversion import load_hooks
from hookline.config.problem import Problem
from hookline.config.reader import read_text
from hookline.dialects.claude_code.names import EVENTS, HANDLER_KEYS, UNSUPPORTED_EVENTS
from hookline.dialects.dialect import get_dialect, recognise_dialect
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.event import Event

COMMAND = {"type": "command", "command": "true"}


def recognised_dialect(file: str, hooks: Any) -> str:
    document, _ = read_text(json.dumps({"hooks": hooks}), file)
    assert document is not None
    found = recognise_dialect(document)
    return found.code if isinstance(found, Problem) else found.name


@pytest.mark.parametrize(
    ("file", "hooks", "name"),
    [
        (".claude/settings.json", {}, "claude_code"),
        ("/home/me/.claude/settings.local.json", {"PreToolUse": []}, "claude_code"),
        ("plugin/hooks/hooks.json", {"PreToolUse": [{"hooks": [COMMAND]}]}, "claude_code"),
        ("x.json", {"Stop": [{"hooks": [COMMAND]}]}, "ambiguous-dialect"),
        ("x.json", {"Stop": [{"hooks": [COMMAND]}], "SubagentStop": []}, "claude_code"),
        ("x.json", {"PreToolUse": [{"hooks": [{**COMMAND, "if": "Bash"}]}]}, "claude_code"),
        ("x.json", {"PreToolUse": [{"hooks": [{"type": "http", "url": "http://a"}]}]}, "claude_code"),
        ("settings.json", {"PreToolUse": [{"matcher": "Bash", "hooks": [COMMAND]}]}, "ambiguous-dialect"),
        ("settings.json", {"PreToolUse": [{"matcher": "FileWriter", "hooks": [COMMAND]}]}, "ai_agents"),
        (".ai_agents/settings.json", {"PreToolUse": [{"hooks": [COMMAND]}]}, "ai_agents"),
        (".qwen/settings.json", {"Stop": [{"hooks": [COMMAND]}]}, "ambiguous-dialect"),
        (".microai/settings.json", {"SessionStart": [{"command": "x"}]}, "microai"),
    ],
)
def test_a_file_is_recognised_or_never_guessed(file: str, hooks: Any, name: str) -> None:
    assert recognised_dialect(file, hooks) == name


@pytest.mark.parametrize(
    ("event", "handler", "seconds"),
    [
        ("PreToolUse", COMMAND, 600),
        ("UserPromptSubmit", COMMAND, 30),
        ("SessionEnd", COMMAND, 1.5),
        ("SessionEnd", {**COMMAND, "timeout": 5}, 5),
        ("Stop", {"type": "prompt", "prompt": "p"}, 30),
        ("Stop", {"type": "agent", "prompt": "p"}, 60),
        ("Stop", {"type": "http", "url": "http://a"}, 600),
    ],
)
def test_how_long_a_hook_may_take(event: str, handler: Any, seconds: float) -> None:
    (hook,) = load_hooks("claude_code", {"hooks": {event: [{"hooks": [handler]}]}})
    assert hook.timeout == timedelta(seconds=seconds)


def test_powershell_is_a_program() -> None:
    (hook,) = load_hooks("claude_code", {"hooks": {"Stop": [{"hooks": [{**COMMAND, "shell": "powershell"}]}]}})
    assert isinstance(hook.then, RunProgram)
    command = hook.then.program.render(Event("stop", {}), timedelta(seconds=1))
    assert command.argv == ("pwsh", "-NoProfile", "-NonInteractive", "-Command", "true")


def test_a_plugin_knows_its_directory() -> None:
    exec_form = {"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/run", "args": []}
    value = {"hooks": {"Stop": [{"hooks": [COMMAND, exec_form]}]}}
    shell, program = load_hooks("claude_code", value, "my{{x}}/hooks/hooks.json")
    root = str(Path("my{{x}}").absolute())
    for hook in (shell, program):
        assert isinstance(hook.then, RunProgram)
        command = hook.then.program.render(Event("stop", {}), timedelta(seconds=1))
        assert command.env["CLAUDE_PLUGIN_ROOT"] == root
    assert command.argv == (f"{root}/run",)


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-5, 10**9), st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "Bash", "Bash(rm *)", "Bash(", "(x)", "*", "command", "http", "http://a/b", "http://", "bash", "\0"]),
)  # fmt: skip
ANYTHING = st.recursive(
    SCALARS,
    lambda part: st.lists(part, max_size=2) | st.dictionaries(st.text(max_size=3), part, max_size=2),
    max_leaves=4,
)
KEYS = sorted({key for keys in HANDLER_KEYS.values() for key in keys})
HANDLER = st.builds(
    lambda type_, usual, odd: {"type": type_, **{k: usual[k] for k in usual if k in HANDLER_KEYS[type_]}, **odd},
    st.sampled_from(list(HANDLER_KEYS)),
    st.fixed_dictionaries({"command": st.just("true"), "url": st.just("http://a"), "prompt": st.just("p"), "server": st.just("s"), "tool": st.just("t")}),
    st.dictionaries(st.sampled_from((*KEYS, "other")), ANYTHING, max_size=1),
)  # fmt: skip
GROUP = st.fixed_dictionaries({"hooks": st.lists(HANDLER, max_size=2)}, optional={"matcher": SCALARS}) | ANYTHING
BEYOND_SHAPE = {"bad-pattern", "bad-template"}


@given(data=st.data())
@settings(max_examples=300, deadline=None)
def test_a_file_loads_if_and_only_if_the_schema_accepts_it(data: st.DataObject) -> None:
    names = st.sampled_from([*EVENTS, *UNSUPPORTED_EVENTS[:2], "Other"])
    hooks = data.draw(st.dictionaries(names, st.lists(GROUP, max_size=2) | ANYTHING, max_size=2) | ANYTHING)
    value = data.draw(st.just({"hooks": hooks, "else": 1}) | st.just({"hooks": {}, "disableAllHooks": 1}) | ANYTHING)
    document, _ = read_text(json.dumps(value), "settings.json")
    if document is None or value is None:
        return
    problems = get_dialect("claude_code").load(document).problems
    errors = [problem for problem in problems if problem.severity == "error"]
    if not any(problem.code in BEYOND_SHAPE for problem in errors):
        accepted = jsonschema.Draft202012Validator(get_dialect("claude_code").schema()).is_valid(value)
        assert accepted is not bool(errors), errors
