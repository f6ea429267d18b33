"""A hook in which a key occurs twice holds what it would have seen, if that can still be read."""

from __future__ import annotations

import asyncio
import json

import pytest

from hookline.config.problem import Severity
from hookline.engine.book import Book, Layer
from hookline.hooks.event import Event
from hookline.project import load_text

FILES = {
    "native": "hookline.yaml",
    "flo": "hub.json",
    "microai": ".microai/settings.json",
    "ai_agents": ".ai_agents/settings.json",
    "claude_code": ".claude/settings.json",
    "digitorn": "digitorn.yaml",
}
NATIVE = "hooks: [{{id: a, on: tool.before, when: {{tool: bash}}, {}}}]"
FLO = '{{"hooks": {{"PreToolUse": [{{"matcher": "bash", {}}}]}}}}'
MICROAI = '{{"hooks": {{"PreToolUse": [{{"matcher": "Bash", {}}}]}}}}'
AI_AGENTS = '{{"hooks": {{"PreToolUse": [{{"matcher": "BashExecutor", "hooks": [{{"type": "command", {}}}]}}]}}}}'
CLAUDE = '{{"hooks": {{"PreToolUse": [{{"matcher": "Bash", "hooks": [{{"type": "command", {}}}]}}]}}}}'
DIGITORN = "runtime: {{hooks: [{{on: tool_start, condition: {{type: tool_name, match: bash}}, {}}}]}}"


def verdict(dialect: str, text: str, tool: str = "bash") -> str:
    """The verdict about a call of the tool. Every duplicate key is reported once."""
    loaded = load_text(text, FILES[dialect], dialect)
    assert [problem.code for problem in loaded.problems if problem.severity is Severity.ERROR] == ["duplicate-key"]
    event = Event("tool.before", {"tool": {"name": tool, "input": {"command": "rm a"}}})
    return asyncio.run(Book([Layer("one", loaded.hooks)]).decide(event)).verdict.word


@pytest.mark.parametrize(
    ("dialect", "form", "keys", "expected"),
    [
        ("native", NATIVE, "then: {deny: x}, then: {log: y}", "deny"),
        ("native", NATIVE, "then: {deny: x, deny: y}", "deny"),
        ("native", NATIVE, "then: {run: ./x, run: ./y}", "deny"),
        ("native", NATIVE, "then: {deny: x}, order: 1, order: 2", "deny"),
        ("native", NATIVE, "then: {deny: x}, enabled: true, enabled: false", "deny"),
        ("native", NATIVE, "then: {deny: x}, max_fires: 1, max_fires: 2", "deny"),
        ("native", NATIVE, "then: {run: ./x}, on_error: closed, on_error: open", "deny"),
        ("flo", FLO, '"action": "deny", "action": "log"', "ask"),
        ("flo", FLO, '"action": "deny", "priority": 1, "priority": 2', "ask"),
        ("flo", FLO, '"action": "deny", "enabled": true, "enabled": false', "ask"),
        ("flo", FLO, '"command": "exit 1", "command": "true"', "ask"),
        ("flo", FLO, '"command": "exit 1", "command": "true", "continueOnError": false', "deny"),
        ("flo", FLO, '"command": "exit 1", "continueOnError": false, "continueOnError": true', "ask"),
        ("flo", FLO, '"hooks": [{"type": "command", "command": "exit 1", "command": "true"}]', "ask"),
        ("flo", FLO, '"hooks": [{"type": "command", "command": "exit 1"}], "hooks": []', "ask"),
        ("flo", FLO, '"action": "log", "command": "exit 1", "command": "true"', "ask"),
        ("microai", MICROAI, '"command": "exit 1", "command": "true", "continueOnFailure": false', "deny"),
        ("microai", MICROAI, '"command": "exit 1", "continueOnFailure": false, "continueOnFailure": true', "deny"),
        ("ai_agents", AI_AGENTS, '"command": "exit 2", "command": "true"', "ask"),
        ("ai_agents", AI_AGENTS, '"command": "exit 2", "timeout": 1, "timeout": 2', "ask"),
        ("claude_code", CLAUDE, '"command": "exit 2", "command": "true"', "ask"),
        ("claude_code", CLAUDE, '"command": "exit 2", "onFailure": "block", "onFailure": "continue"', "ask"),
        ("digitorn", DIGITORN, "id: a, action: {type: gate, type: log}", "ask"),
        ("digitorn", DIGITORN, "id: a, id: b, action: {type: gate}", "ask"),
        ("digitorn", DIGITORN, "id: a, action: {type: gate}, cooldown: 1, cooldown: 2", "ask"),
    ],
)  # fmt: skip
def test_a_hook_that_could_stop_the_call_holds_it(dialect: str, form: str, keys: str, expected: str) -> None:
    assert verdict(dialect, form.format(keys)) == expected
    assert verdict(dialect, form.format(keys), "read_file") == "silent"


@pytest.mark.parametrize(
    ("dialect", "form", "keys"),
    [
        ("native", NATIVE, "then: {run: ./x, run: ./y}, on_error: open"),
        ("flo", FLO, '"command": "exit 1", "command": "true", "continueOnError": true'),
        ("flo", FLO, '"action": "log", "priority": 1, "priority": 2'),
        ("microai", MICROAI, '"command": "exit 1", "command": "true"'),
        ("claude_code", CLAUDE, '"command": "exit 2", "command": "true", "onFailure": "continue"'),
        ("digitorn", DIGITORN, "id: a, action: {type: log, message: x}, cooldown: 1, cooldown: 2"),
    ],
)
def test_a_hook_that_lets_errors_pass_or_stops_nothing_holds_nothing(dialect: str, form: str, keys: str) -> None:
    assert verdict(dialect, form.format(keys)) == "silent"


@pytest.mark.parametrize(
    ("dialect", "text"),
    [
        ("native", "hooks: [{id: a, on: tool.before, when: {tool: bash, tool: x}, then: {deny: x}}]"),
        ("native", "hooks: [{id: a, on: tool.before, on: stop, then: {deny: x}}]"),
        ("flo", FLO.format('"matcher": "x", "action": "deny"')),
        ("digitorn", DIGITORN.format("on: turn_end, id: a, action: {type: gate}")),
    ],
)
def test_a_hook_is_off_if_nobody_can_say_what_it_guards(dialect: str, text: str) -> None:
    assert verdict(dialect, text) == "silent"


def test_the_other_hooks_of_the_file_are_not_touched() -> None:
    rule = json.dumps({"matcher": "bash", "action": "deny"})
    text = f'{{"hooks": {{"PreToolUse": [{{"matcher": "read_file", "action": "deny", "action": "log"}}, {rule}]}}}}'
    assert verdict("flo", text) == "deny"
    assert verdict("flo", text, "read_file") == "ask"
