"""A key that is null counts as absent, in every dialect, for every key that has a default."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from hookline.config.problem import errors_of
from hookline.config.reader import read_text
from hookline.dialects import ai_agents
from hookline.dialects.agent_files.format import FORMATS, Layout
from hookline.dialects.claude_code.names import HANDLER_KEYS
from hookline.dialects.dialect import get_dialect
from hookline.dialects.digitorn import dialect as digitorn
from hookline.dialects.flo import rules as flo
from hookline.dialects.microai import dialect as microai
from hookline.dialects.native.actions import ACTIONS
from hookline.dialects.native.dialect import FILE_KEYS, HOOK_KEYS
from hookline.hooks.hook import Hook
from hookline.lazy_dataclasses import replace

AGENT_EVENTS = {
    "codex": "PreToolUse",
    "copilot_cli": "preToolUse",
    "cursor": "preToolUse",
    "droid": "PreToolUse",
    "gemini_cli": "BeforeTool",
    "kiro": "preToolUse",
    "qwen_code": "PreToolUse",
    "windsurf": "pre_run_command",
}
for _name in AGENT_EVENTS:
    get_dialect(_name)
NATIVE: dict[str, Any] = {"on": "tool.before", "then": {"deny": "no"}}
RUN: dict[str, Any] = {"on": "tool.before", "then": {"run": "true"}}
FLO: dict[str, Any] = {"action": "deny", "reason": "no"}
FLO_COMMAND: dict[str, Any] = {"command": "exit 1"}
MICROAI: dict[str, Any] = {"command": "exit 1", "continueOnFailure": False}
COMMAND: dict[str, Any] = {"type": "command", "command": "exit 2"}
DIGITORN: dict[str, Any] = {"id": "no", "action": {"type": "gate"}}
SHELL: dict[str, Any] = {"id": "no", "on": "tool_start", "action": {"type": "shell", "command": "true"}}


def by_event(entry: dict[str, Any]) -> dict[str, Any]:
    return {"hooks": {"PreToolUse": [entry]}}


def situations() -> Iterator[tuple[str, dict[str, Any], dict[str, Any]]]:
    """The dialect, a file with nothing but what is needed, and the same with one null."""
    for key in sorted(HOOK_KEYS.keys() - {"on", "then"}):
        yield "native", {"hooks": [NATIVE]}, {"hooks": [NATIVE | {key: None}]}
        yield "native", {"hooks": [RUN]}, {"hooks": [RUN | {key: None}]}
    for key in sorted(FILE_KEYS.keys() - {"hooks"}):
        yield "native", {"hooks": [NATIVE]}, {"hooks": [NATIVE], key: None}
    for option in ACTIONS["run"].options:
        yield "native", {"hooks": [RUN]}, {"hooks": [RUN | {"then": {"run": "true", option: None}}]}
    yield "native", {}, {"hooks": None}
    for key in sorted({*flo.RULE_KEYS} - {"action"}):
        yield "flo", by_event(FLO), by_event({**FLO, key: FLO.get(key)})
    for key in sorted({*flo.RULE_KEYS} - {"command"}):
        yield "flo", by_event(FLO_COMMAND), by_event({**FLO_COMMAND, key: None})
    for key in sorted({*flo.ENTRY_KEYS} - {"command"}):
        yield "flo", by_event({"hooks": [FLO_COMMAND]}), by_event({"hooks": [{**FLO_COMMAND, key: None}]})
    for key in sorted({*microai.ENTRY_KEYS} - {"command", "continueOnFailure"}):
        yield "microai", by_event(MICROAI), by_event({**MICROAI, key: None})
    yield "microai", by_event({"command": "x"}), by_event({"command": "x", "continueOnFailure": None})
    for dialect in ("ai_agents", "claude_code"):
        yield dialect, by_event({"hooks": [COMMAND]}), by_event({"hooks": [COMMAND], "matcher": None})
    for key in sorted({*ai_agents.HOOK_KEYS} - COMMAND.keys()):
        yield "ai_agents", by_event({"hooks": [COMMAND]}), by_event({"hooks": [{**COMMAND, key: None}]})
    for key in sorted({*HANDLER_KEYS["command"]} - COMMAND.keys()):
        yield "claude_code", by_event({"hooks": [COMMAND]}), by_event({"hooks": [{**COMMAND, key: None}]})
    for name, event in AGENT_EVENTS.items():
        format = FORMATS[name]
        plain = {"type": "command", format.command_keys[0]: "exit 2"}
        in_groups = format.layout is Layout.GROUPS
        for key in sorted({*format.handlers["command"].keys} - set(format.command_keys)):
            entries = [{**plain, key: None}, plain]
            null, without = ({"hooks": [each]} if in_groups else each for each in entries)
            yield name, {"hooks": {event: [without]}}, {"hooks": {event: [null]}}
        yield name, {"hooks": {}}, {"hooks": {event: None}}
    for dialect in ("flo", "microai", "ai_agents", "claude_code"):
        yield dialect, {"hooks": {}}, {"hooks": {"PreToolUse": None}}
    for hook in (DIGITORN, SHELL):
        for key in sorted({*digitorn.HOOK_KEYS} - {"id", "action"} - hook.keys()):
            yield "digitorn", {"runtime": {"hooks": [hook]}}, {"runtime": {"hooks": [{**hook, key: None}]}}
    for key in ("cwd", "timeout", "on_error"):
        null = {**SHELL, "action": {**SHELL["action"], key: None}}
        yield "digitorn", {"runtime": {"hooks": [SHELL]}}, {"runtime": {"hooks": [null]}}
    reason = {**DIGITORN, "action": {"type": "gate", "reason": None}}
    yield "digitorn", {"runtime": {"hooks": [DIGITORN]}}, {"runtime": {"hooks": [reason]}}
    yield "digitorn", {"runtime": {"hooks": [DIGITORN]}}, {"runtime": {"hooks": [DIGITORN]}, "agents": None}


def load(dialect: str, value: dict[str, Any]) -> tuple[tuple[Hook, ...], list[str]]:
    document, _ = read_text(json.dumps(value), "file.json")
    assert document is not None
    loaded = get_dialect(dialect).load(document)
    hooks = tuple(replace(hook, ignored_by=()) for hook in loaded.hooks)  # Copilot rejects some nulls
    return hooks, [str(error) for error in errors_of(loaded.problems)]


@pytest.mark.parametrize(
    ("dialect", "plain", "null"), [pytest.param(*each, id=f"{each[0]}: {json.dumps(each[2])}") for each in situations()]
)
def test_null_is_the_default(dialect: str, plain: dict[str, Any], null: dict[str, Any]) -> None:
    assert load(dialect, null) == load(dialect, plain)
    assert load(dialect, plain)[1] == []


@pytest.mark.parametrize(
    ("dialect", "value"),
    [
        ("native", {"hooks": [{"on": None, "then": {"deny": "no"}}]}),
        ("native", {"hooks": [{"on": "stop", "then": None}]}),
        ("native", {"hooks": [{"on": "stop", "when": {"tool": None}, "then": {"allow": "yes"}}]}),
        ("native", {"hooks": [None]}),
        ("flo", by_event({"action": None})),
        ("flo", by_event({"action": "deny", "inputMatchers": {"command": None}})),
        ("microai", by_event({"command": None})),
        ("ai_agents", by_event({"hooks": [{"type": "command", "command": None}]})),
        ("ai_agents", by_event({"hooks": None})),
        ("claude_code", by_event({"hooks": [{"type": None, "command": "x"}]})),
        ("digitorn", {"runtime": {"hooks": [{"id": None, "action": {"type": "gate"}}]}}),
        ("digitorn", {"runtime": {"hooks": [{"id": "x", "action": None}]}}),
    ],
)
def test_what_is_required_cannot_be_null(dialect: str, value: dict[str, Any]) -> None:
    assert load(dialect, value)[1]
