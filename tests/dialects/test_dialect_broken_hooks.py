"""A hook whose action cannot be used, and which could have stopped a call, holds the calls that it would have matched."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from hookline.config.problem import errors_of
from hookline.config.reader import read_text
from hookline.dialects.dialect import get_dialect
from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.host import NO_HOST
from hookline.hooks.outcome import Verdict

RM = {"name": "bash", "kind": "shell", "input": {"command": "rm -rf /"}}
READ = {"name": "read_file", "kind": "read", "input": {"path": "x"}}

UNSAFE = "cat <<X\n{{input.path}}\nX"  # a here-document takes no placeholder


def native(**more: Any) -> dict[str, Any]:
    return {"hooks": [{"id": "g", "on": "tool.before", "when": {"tool": "bash"}, **more}]}


def flo(**more: Any) -> dict[str, Any]:
    return {"hooks": {"PreToolUse": [{"matcher": "bash", **more}]}}


def microai(**more: Any) -> dict[str, Any]:
    return {"hooks": {"PreToolUse": [{"matcher": "Bash", **more}]}}


def group(matcher: str, event: str = "PreToolUse", **hook: Any) -> dict[str, Any]:
    return {"hooks": {event: [{"matcher": matcher, "hooks": [hook]}]}}


def flat(event: str, **hook: Any) -> dict[str, Any]:
    return {"hooks": {event: [hook]}}


def digitorn(**more: Any) -> dict[str, Any]:
    hook = {"id": "g", "on": "tool_start", "condition": {"type": "tool_name", "match": "bash"}, **more}
    return {"runtime": {"hooks": [hook]}}


HOLDS: list[tuple[str, dict[str, Any]]] = [
    ("native", native()),
    ("native", native(then={"dney": "no"})),
    ("native", native(then={"deny": 5})),
    ("native", native(then="dney")),
    ("native", native(then=["dney"])),
    ("native", native(then=[{"log": "x"}, {"dney": "no"}])),
    ("native", native(then={"deny": "no", "colour": "red"})),
    ("native", native(then={"redact": "secrets", "deny": "no"})),
    ("native", native(then={"run": UNSAFE})),
    ("native", native(then={"run": 5})),
    ("native", native(then={"run": "true", "reads": "nonsense"})),
    ("native", native(then={"custom": {"nobody_knows": {}}})),
    ("native", native(then={"deny": "no"}, timeout=5)),
    ("native", native(then={"deny": "no"}, order="first")),
    ("native", native(then={"deny": "no"}, enabled="no")),
    ("native", native(then={"deny": "no"}, on_error="opne")),
    ("native", native(then={"run": "true"}, on_error="opne")),
    ("native", native(then={"deny": "no"}, max_fires=0)),
    ("native", native(then={"dney": "no"}, on_error="closed")),
    ("flo", flo()),
    ("flo", flo(action="dney")),
    ("flo", flo(action=["deny"])),
    ("flo", flo(action="deny", reason=5)),
    ("flo", flo(action="deny", command="x")),
    ("flo", flo(action="deny", priority="high")),
    ("flo", flo(action="deny", continueOnError="no")),
    ("flo", flo(action="script")),
    ("flo", flo(action="script", script=5)),
    ("flo", flo(command=UNSAFE)),
    ("flo", flo(command=UNSAFE, continueOnError=False)),
    ("flo", flo(command="")),
    ("flo", flo(command="exit 1", timeout="5s")),
    ("flo", flo(hooks=[{"type": "action", "action": "dney"}])),
    ("flo", flo(hooks=[{"action": "log"}, {"command": UNSAFE}])),
    ("flo", flo(action="deny", hooks=[{"action": "deny"}])),
    ("microai", microai(continueOnFailure=False)),
    ("microai", microai(continueOnFailure=False, command=5)),
    ("microai", microai(continueOnFailure=False, command="")),
    ("microai", microai(continueOnFailure=False, command="exit 1", timeout="5s")),
    ("microai", microai(continueOnFailure="false", command="exit 1")),
    ("ai_agents", group("BashExecutor", type="command")),
    ("ai_agents", group("BashExecutor", type="comand", command="exit 2")),
    ("ai_agents", group("BashExecutor", command="exit 2")),
    ("ai_agents", group("BashExecutor", type="command", command=["exit", "2"])),
    ("ai_agents", group("BashExecutor", type="command", command="exit 2", timeout="1m")),
    ("claude_code", group("Bash", type="command")),
    ("claude_code", group("Bash", type="comand", command="exit 2")),
    ("claude_code", group("Bash", type="command", command="exit 2", timeout="1m")),
    ("claude_code", group("Bash", type="mcp_tool", server="s", tool="t", input={"x": "${nothing}"})),
    ("codex", group("Bash", type="command")),
    ("codex", group("Bash", type="command", command=["exit", "2"])),
    ("codex", group("Bash", type="comand", command="exit 2")),
    ("gemini_cli", group("run_shell_command", event="BeforeTool", type="command", command="exit 2", timeout="1m")),
    ("gemini_cli", group("run_shell_command", event="BeforeTool", command="exit 2")),
    ("qwen_code", group("run_shell_command", type="http", url="ftp://x")),
    ("qwen_code", group("run_shell_command", type="command", command="exit 2", timeout=-1)),
    ("droid", group("Execute", type="command", command=5)),
    ("kimi_code", {"hooks": [{"event": "PreToolUse", "matcher": "Bash"}]}),
    ("kimi_code", {"hooks": [{"event": "PreToolUse", "matcher": "Bash", "command": "exit 2", "timeout": "5s"}]}),
    ("cursor", flat("preToolUse", matcher="Shell")),
    ("cursor", flat("beforeShellExecution", command="")),
    ("cursor", flat("beforeShellExecution", type="prompt")),
    ("copilot_cli", flat("preToolUse", type="command", matcher="bash")),
    ("copilot_cli", flat("preToolUse", type="comand", matcher="bash", bash="exit 1")),
    ("windsurf", flat("pre_run_command", command=5)),
    ("kiro", flat("preToolUse", matcher="execute_bash", command="exit 2", timeout_ms="5s")),
    ("digitorn", digitorn()),
    ("digitorn", digitorn(action={"type": "gaet"})),
    ("digitorn", digitorn(action={"reason": "no"})),
    ("digitorn", digitorn(action="gate")),
    ("digitorn", digitorn(action={"type": "gate", "reason": 5})),
    ("digitorn", digitorn(action={"type": "gate"}, priority="first")),
    ("digitorn", digitorn(action={"type": "gate"}, cooldown="1m")),
    ("digitorn", digitorn(action={"type": "gate"}, id=5)),
    ("digitorn", digitorn(action={"type": "chain", "actions": [{"type": "gaet"}]})),
]
LETS_THROUGH: list[tuple[str, dict[str, Any]]] = [
    ("native", native(then={"dney": "no"}, on_error="open")),
    ("native", native(then={"run": UNSAFE}, on_error="open")),
    ("native", native(then={"log": 5})),
    ("native", native(then={"dney": "no"}, enabled=False)),
    ("flo", flo(command=UNSAFE, continueOnError=True)),
    ("flo", flo(action="dney", continueOnError=True)),
    ("flo", flo(action="log", timeout="5s")),
    ("flo", flo(action="dney", enabled=False)),
    ("microai", microai(command=5)),
    ("microai", microai(command=5, continueOnFailure=True)),
    ("claude_code", group("Bash", type="command", onFailure="continue")),
    ("digitorn", digitorn(action={"type": "log"})),
    ("digitorn", digitorn(action={"type": "shell"})),
    ("digitorn", digitorn(action={"type": "gaet"}, enabled=False)),
]
OUT_OF_FORCE: list[tuple[str, dict[str, Any]]] = [
    ("native", {"hooks": [{"on": "tool.before", "when": {"tol": "bash"}, "then": {"deny": "no"}}]}),
    ("native", {"hooks": [{"on": "tool.before", "whn": {"tool": "bash"}, "then": {"deny": "no"}}]}),
    ("native", {"hooks": [{"on": "tool.befor", "then": {"deny": "no"}}]}),
    ("flo", flo(matcher="(", action="deny")),
    ("microai", microai(command="exit 1", continueOnFailure=False, condition=5)),
    ("ai_agents", {"hooks": {"PreToolUse": [{"matcher": 5, "hooks": [{"type": "command", "command": "exit 2"}]}]}}),
    ("codex", group("(", type="command", command="exit 2")),
    ("qwen_code", group("(", type="command", command="exit 2")),
    ("kimi_code", {"hooks": [{"event": "PreToolUs", "command": "exit 2"}]}),
    ("copilot_cli", flat("preToolUse", matcher="(", bash="exit 1")),
    ("kiro", flat("preToolUse", matcher=5, command="exit 2")),
    ("digitorn", digitorn(on="tool_strat", action={"type": "gate"})),
    ("digitorn", digitorn(condition={"type": "tool_nam", "match": "bash"}, action={"type": "gate"})),
]


def decide(dialect: str, value: dict[str, Any], tool: dict[str, Any]) -> Decision:
    document, _ = read_text(json.dumps(value), "file.json")
    assert document is not None
    loaded = get_dialect(dialect).load(document)
    assert errors_of(loaded.problems)
    book = Book([Layer("user", loaded.hooks)], NO_HOST, loaded.problems)
    return asyncio.run(book.decide(Event("tool.before", {"tool": tool})))


def named(situations: list[tuple[str, dict[str, Any]]]) -> Any:
    return pytest.mark.parametrize(
        ("dialect", "value"), [pytest.param(*each, id=f"{each[0]}: {json.dumps(each[1])}") for each in situations]
    )


@named(HOLDS)
def test_a_broken_guard_holds_the_calls_that_it_would_have_matched(dialect: str, value: dict[str, Any]) -> None:
    held = decide(dialect, value, RM)
    assert held.verdict >= Verdict.ASK
    assert held.reason
    assert held.failures
    assert decide(dialect, value, READ).verdict is Verdict.SILENT


@named(LETS_THROUGH)
def test_a_hook_that_could_not_stop_or_was_meant_to_fail_open_holds_nothing(
    dialect: str, value: dict[str, Any]
) -> None:
    assert decide(dialect, value, RM).verdict is Verdict.SILENT


@named(OUT_OF_FORCE)
def test_a_hook_whose_event_or_condition_cannot_be_read_is_out_of_force(dialect: str, value: dict[str, Any]) -> None:
    assert decide(dialect, value, RM).verdict is Verdict.SILENT


def test_the_other_events_of_a_hook_stay_in_force() -> None:
    value = {"hooks": [{"on": ["tool.before", "tool.befor"], "then": {"deny": "no"}}]}
    assert decide("native", value, RM).verdict is Verdict.DENY


def result_of(then: Any, event: str, **more: Any) -> Any:
    value = {"hooks": [{"id": "hide", "on": event, "then": then, **more}]}
    document, _ = read_text(json.dumps(value), "file.json")
    assert document is not None
    loaded = get_dialect("native").load(document)
    assert errors_of(loaded.problems)
    facts = {"tool": {"name": "bash", "input": {"command": "env"}, "result": "TOKEN"}}
    return asyncio.run(Book([Layer("user", loaded.hooks)], NO_HOST).decide(Event(event, facts))).event.facts["tool"]


BROKEN_CHANGES: list[Any] = [
    {"redact": {"allow": []}},
    {"redact": None},
    {"redact": "secrets", "allow": "("},
    {"redact": "secrets", "in": "nothing"},
    {"redact": "secrets", "colour": "red"},
    {"replace": {"in": "result", "pattern": "(", "with": ""}},
    {"set": {"result": "{{nope}}"}},
    {"remove": "nothing"},
    {"append": {"result": "x"}, "remove": "nothing"},
    [{"log": "x"}, {"redact": {"allow": []}}],
]


@pytest.mark.parametrize("event", ["tool.after", "tool.succeeded", "tool.store"])
@pytest.mark.parametrize("then", BROKEN_CHANGES, ids=json.dumps)
def test_a_change_of_a_result_that_cannot_be_read_withholds_the_result(then: Any, event: str) -> None:
    assert result_of(then, event)["result"] == "[withheld: hook hide could not check it]"
    assert result_of(then, event, on_error="open")["result"] == "TOKEN"


def test_an_addition_to_a_result_that_cannot_be_read_hides_nothing() -> None:
    assert result_of({"append": {"result": "{{nope}}"}}, "tool.after")["result"] == "TOKEN"
