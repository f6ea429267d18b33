"""digitorn through the native format and back: the same decisions."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialect_conversion import load_hooks, round_trip_native, write_hooks
from hookline.cli.yaml_dump import dump_yaml
from hookline.config.reader import read_text
from hookline.dialects.conversion import ADDED_GUESS, with_vocabulary
from hookline.dialects.dialect import get_dialect
from hookline.engine.book import Book, Layer
from hookline.hooks.actions.chain import Chain
from hookline.hooks.event import Event
from hookline.hooks.events import events_by_name
from hookline.hooks.hook import Hook
from hookline.hooks.host import ToolResult
from hookline.hooks.outcome import Failure, FailureKind
from hookline.testing import ScriptedHost

TEXTS = st.sampled_from(
    (
        "plain", "{{tool.name}}", "{{tool.fqn}}: {{tool.error}}", "{{tool.params.path}}", "{{tool.params}}",
        "{{tool.result}}", "{{tool.result.files.0.path}}", "{{tool.result.files.-1}}", "{{tool.result.no}}",
        "{{workspace}}", "{{.State}}", "{{tool.nothing}} {turn}", "{{ tool.params.n }}", "a {{tool.params.n}} b {{x}}",
        "{{{tool.name}}}", "{{", "{{open_braces}}", "{turn}/{max_turns} {tokens} {tools} {messages} {other}",
    )
)  # fmt: skip
VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(-3, 3), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=2), st.dictionaries(st.sampled_from("ab"), inner, max_size=2)),
    max_leaves=4,
)
PARAMS = st.dictionaries(st.sampled_from(["path", "n", "x"]), VALUES, max_size=3)
NAMES = st.sampled_from(
    ["*", "Write|Edit", "filesystem.*", "*.write", "write", "mcp_git.push", "x|", "[wW]rite", "memory.?"]
)


def typed_mapping(name: str, needed: Any = None, optional: Any = None) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"type": st.just(name), **(needed or {})}, optional=optional or {})


LEAVES = st.one_of(
    typed_mapping("always"),
    typed_mapping("never"),
    typed_mapping("context_pressure", optional={"threshold": st.sampled_from([0, 0.5, 0.75, 1])}),
    typed_mapping("turn_count", {"threshold": st.integers(0, 5)}, {"every": st.integers(1, 5)}),
    typed_mapping("turn_count", {"every": st.integers(1, 5)}),
    typed_mapping("tool_calls", optional={"threshold": st.integers(0, 5)}),
    typed_mapping("message_count", optional={"threshold": st.integers(0, 5)}),
    typed_mapping("tool_name", {"match": st.one_of(NAMES, st.lists(NAMES, min_size=1, max_size=2))}),
    typed_mapping("tool_failed"),
    typed_mapping("content_contains", {"keyword": st.sampled_from(["deploy", "{{x}}"])}),
    typed_mapping("error_type", {"match": st.sampled_from(["rate_limit*", "auth|billing", "timeout"])}),
    typed_mapping(
        "expression", {"expr": st.sampled_from(["turn > 2", "tokens / tools > 1", "nonsense(", "not pressure"])}
    ),
    typed_mapping("no_such_condition", {"x": st.just(1)}).map(lambda inner: {"type": "not", "condition": inner}),
)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        typed_mapping("all_of", {"conditions": st.lists(inner, max_size=3)}),
        typed_mapping("any_of", {"conditions": st.lists(inner, max_size=3)}),
        typed_mapping("not", {"condition": inner}),
    ),
    max_leaves=4,
)
MODULE = {"module": st.just("memory"), "action": st.sampled_from(["store", "fails", "page.create"])}
INSTANT = st.one_of(
    typed_mapping(
        "compact_context",
        optional={
            "strategy": st.sampled_from(["summarize", "truncate"]),
            "keep_recent": st.integers(0, 20),
            "summary_max_tokens": st.just(100),
            "summary_prompt": TEXTS,
            "target_pressure": st.just(0.5),
            "cooldown_turns": st.integers(0, 3),
        },
    ),
    typed_mapping(
        "inject_message",
        {"content": TEXTS},
        {
            "strategy": st.sampled_from(["auto", "user", "system", "new_message"]),
            "role": st.sampled_from(["user", "system"]),
            "position": st.sampled_from(["before_last", "start", "end"]),
        },
    ),
    typed_mapping("log", {"message": TEXTS}, {"level": st.sampled_from(["debug", "error"])}),
    typed_mapping("gate", optional={"reason": TEXTS}),
    typed_mapping(
        "transform_params",
        {"transformation": st.fixed_dictionaries({"set": PARAMS}, optional={"remove": st.just(["n", "absent"])})},
    ).filter(lambda action: action["transformation"]["set"] or "remove" in action["transformation"]),
    typed_mapping(
        "transform_result",
        {
            "transformation": st.sampled_from(
                [
                    {"append_to_result": "{{tool.name}} more"},
                    {"inject_note": "{{x}} note"},
                    {"append_to_result": "\nmore", "inject_note": "note"},
                ]
            )
        },
    ),
)
REACHING = st.one_of(
    typed_mapping("notify", {"message": TEXTS}, {"title": TEXTS, "level": st.just("error"), "tag": st.just("t")}),
    typed_mapping("module_action", MODULE, {"action_params": PARAMS}),
    typed_mapping(
        "module_action_inject",
        MODULE,
        {"action_params": PARAMS, "format": st.sampled_from(["auto", "always"]), "prefix": st.just("{{x}} ")},
    ),
    typed_mapping(
        "pipe",
        {"to": st.sampled_from(["memory.store", "memory.fails", "mcp_slack.send", "nobody.there"])},
        {"map": PARAMS, "extra": PARAMS, "on_error": st.sampled_from(["ignore", "log", "raise"])},
    ),
    typed_mapping(
        "lsp_diagnose",
        optional={
            "path_field": st.sampled_from(["path", ["file", "path"]]),
            "content_field": st.sampled_from([["content"], [], "n"]),
            "publish": st.booleans(),
            "inject_result": st.booleans(),
            "read_from_disk": st.booleans(),
        },
    ),
)
ACTIONS = st.recursive(
    st.one_of(INSTANT, REACHING),
    lambda inner: typed_mapping("chain", {"actions": st.lists(inner, max_size=3)}, {"stop_on_failure": st.booleans()}),
    max_leaves=4,
)
SETTINGS = {
    "on": st.sampled_from(sorted(events_by_name("digitorn"))),
    "cooldown": st.sampled_from([0, 1.5, 60]),
    "max_fires": st.integers(0, 2),
    "priority": st.integers(98, 102),
    "enabled": st.just(False),
    "tags": st.just(["a", "b"]),
}


def hooks_of(actions: st.SearchStrategy[Any]) -> st.SearchStrategy[list[dict[str, Any]]]:
    hook = st.fixed_dictionaries({"action": actions}, optional={"condition": CONDITIONS, **SETTINGS})
    return st.lists(hook, max_size=3).map(lambda hooks: [{"id": f"h{n}", **hook} for n, hook in enumerate(hooks)])


def apps(actions: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    agents = hooks_of(actions).map(lambda hooks: [{"id": "reviewer", "hooks": hooks}])
    return st.fixed_dictionaries(
        {"runtime": st.fixed_dictionaries({"hooks": hooks_of(actions)})}, optional={"agents": agents}
    )


TOOL = st.fixed_dictionaries(
    {"name": st.sampled_from(["filesystem.write", "Write", "write_file", "mcp__git__push", "memory.x", "other"])},
    optional={
        "input": st.sampled_from([{}, {"path": "a.py", "n": 5}, {"file_path": "b c'", "content": "{{tool.name}}"}]),
        "result": st.sampled_from(["text", "", {"files": [{"path": "p"}, "q"]}, ["l"], 5]),
        "error": st.just("boom"),
        "ok": st.booleans(),
    },
)
FACTS = st.fixed_dictionaries(
    {"session": st.fixed_dictionaries({"id": st.just("s")}, optional={"tool_calls": st.integers(0, 9)})},
    optional={
        "tool": TOOL,
        "turn": st.fixed_dictionaries({"number": st.integers(0, 6)}, optional={"max": st.just(9)}),
        "context": st.fixed_dictionaries(
            {"pressure": st.sampled_from([0, 0.5, 0.6, 1])}, optional={"tokens": st.just(9)}
        ),
        "messages": st.lists(st.sampled_from([{"content": "Deploy"}, {"content": "{{x}}"}]), max_size=6),
        "error": st.sampled_from([{"code": "auth"}, {"code": "rate_limit"}]),
        "agent": st.just({"id": "reviewer"}),
        "workspace": st.just("/nonexistent"),
    },
)
EVENTS = st.lists(
    st.tuples(st.sampled_from(sorted(set(events_by_name("digitorn").values()))), FACTS), min_size=1, max_size=4
)
TOOLS = {
    "memory.store": ToolResult({"errors": ["e"]}),
    "memory.page.create": ToolResult("fine"),
    "memory.fails": ToolResult(None, False, "no"),
    "mcp_slack.send": ToolResult("sent"),
    "lsp.notify_change": ToolResult({}),
    "lsp.diagnostics": ToolResult({"diagnostics": [{"line": 1, "message": "m"}]}),
}


def _without_event(failure: Failure) -> str:
    """Its text; an answer that the event does not accept names the event in the words of the hook's dialect."""
    return "" if failure.kind is FailureKind.NOT_ACCEPTED else failure.text


def run_events(hooks: Iterable[Hook], events: list[tuple[str, dict[str, Any]]]) -> list[Any]:
    """All that a host can see of the decisions, one after the other in one session."""

    async def run() -> list[Any]:
        host = ScriptedHost(TOOLS)
        book = Book([Layer("x", hooks)], host)
        seen: list[Any] = []
        for name, facts in events:
            decision = await book.decide(Event(name, facts))
            failures = [(each.hook, each.kind, _without_event(each)) for each in decision.failures]
            answer = (decision.verdict, decision.reason, decision.by, decision.halt, decision.event.facts)
            seen.append((*answer, decision.notes, decision.requests, failures))
        return [*seen, [(call.tool, call.input) for call in host.called], host.published]

    return asyncio.run(run())


@given(app=apps(ACTIONS), events=EVENTS)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_converted_hooks_decide_the_same(app: dict[str, Any], events: list[Any]) -> None:
    original = load_hooks("digitorn", app)
    native = round_trip_native(original)
    back = load_hooks("digitorn", write_hooks("digitorn", native))
    expected = run_events(original, events)
    assert run_events(native, events) == expected
    assert run_events(back, events) == expected
    assert run_events(load_hooks("digitorn", write_hooks("digitorn", original)), events) == expected


COMMANDS = (
    "true", "exit 3", "printf no >&2; exit 1", "printf %s {{tool.params.path}} >&2; exit 1", "echo '{{.X}}' >&2; exit 2",
    "printf '%s %s' \"{{tool.name}}\" '{{.X}}' >&2; exit 1", "pwd >&2; exit 1", "kill -9 $$",
)  # fmt: skip
SHELL = typed_mapping(
    "shell",
    {"command": st.sampled_from(COMMANDS)},
    {
        "cwd": st.sampled_from(["/", "{{workspace}}"]),
        "timeout": st.sampled_from([5, 9.5]),
        "on_error": st.sampled_from(["ignore", "inject"]),
    },
)
RUNNING = st.one_of(
    SHELL, typed_mapping("chain", {"actions": st.lists(SHELL, max_size=2)}, {"stop_on_failure": st.booleans()})
)


def run_tool_after(hooks: Iterable[Hook], facts: dict[str, Any]) -> Any:
    async def run() -> Any:
        host = ScriptedHost()
        decision = await Book([Layer("x", hooks)], host).decide(Event("tool.after", facts))
        return decision.notes, decision.event.facts, [(each.hook, each.kind, each.text) for each in decision.failures]

    return asyncio.run(run())


@given(actions=st.lists(RUNNING, min_size=1, max_size=2), tool=TOOL)
@settings(max_examples=25, deadline=None)
def test_converted_programs_end_the_same(actions: list[Any], tool: dict[str, Any]) -> None:
    hooks = [{"id": f"h{n}", "on": "tool_end", "action": action} for n, action in enumerate(actions)]
    original = load_hooks("digitorn", {"runtime": {"hooks": hooks}})
    native = round_trip_native(original)
    facts = {"tool": tool, "workspace": "/tmp", "cwd": "/"}
    expected = run_tool_after(original, facts)
    assert run_tool_after(native, facts) == expected
    assert run_tool_after(load_hooks("digitorn", write_hooks("digitorn", native)), facts) == expected


def test_a_whole_app_comes_back_as_it_was() -> None:
    app = {
        "runtime": {
            "hooks": [
                {
                    "id": "chain",
                    "on": "tool_end",
                    "condition": {
                        "type": "all_of",
                        "conditions": [{"type": "tool_failed"}, {"type": "turn_count", "every": 5}],
                    },
                    "action": {
                        "type": "chain",
                        "stop_on_failure": True,
                        "actions": [
                            {"type": "log", "message": "{turn} {{tool.name}}", "level": "debug"},
                            {"type": "shell", "command": "x {{tool.params.path}}", "timeout": 5, "on_error": "inject"},
                            {
                                "type": "pipe",
                                "to": "a.b.c",
                                "map": {"x": "{{tool.result}}"},
                                "extra": {"y": 1},
                                "on_error": "raise",
                            },
                            {"type": "module_action", "module": "m", "action": "n", "action_params": {}},
                        ],
                    },
                    "cooldown": 1.5,
                    "max_fires": 2,
                    "priority": 7,
                    "enabled": False,
                    "tags": ["a"],
                }
            ]
        },
        "agents": [{"id": "r", "hooks": [{"id": "chain", "on": "tool_start", "action": {"type": "gate"}}]}],
    }
    hooks = load_hooks("digitorn", app)
    assert write_hooks("digitorn", hooks) == app
    assert write_hooks("digitorn", round_trip_native(hooks)) == app


@pytest.mark.parametrize(
    ("hook", "what"),
    [
        ("{on: stop, then: deny}", "the event stop"),
        ("{on: tool.before, then: allow}", "the answer allow"),
        ("{on: tool.before, then: ask}", "the answer ask"),
        ("{on: tool.before, then: halt}", "halt"),
        ("{on: tool.before, then: {log: 'no {{tool.name}}'}}", "the tool's name in its text"),
        ("{on: tool.before, then: {deny: 'no {{input.path}}'}}", "placeholders in an answer"),
        ("{on: tool.before, when: {input: {path: x}}, then: deny}", "the condition that input.path matches x"),
        ("{on: tool.before, when: {tool: 'write_*'}, then: deny}", "the tool names write_* of native"),
        ("{on: tool.before, when: {tool: /x/}, then: deny}", "the condition that tool matches x"),
        ("{on: tool.before, when: {turn: {below: 5}}, then: deny}", "this comparison"),
        ("{on: tool.before, scope: {prompt: p}, then: deny}", "a scope of one prompt"),
        ("{on: tool.before, cooldown_turns: 3, then: deny}", "a cooldown in turns"),
        ("{on: turn.end, background: true, then: {log: x}}", "does not wait for it"),
        ("{on: turn.end, then: {run: x}}", "the stdin or environment"),
        ("{on: turn.end, then: {run: [x], stdin: none, reads: error}}", "a program without a shell"),
        (
            "{on: turn.end, then: {run: x, stdin: none, reads: never}}",
            "how the exit code and the output of its command count",
        ),
        ("{on: turn.end, then: {run: x, stdin: none, reads: error}, on_error: stop}", "what its failure counts as"),
        ("{on: turn.end, then: {script: 'return 1'}}", "the action script"),
        ("{on: turn.end, then: {tell: {text: x, to: user}}}", "a message to the user"),
        ("{on: turn.end, then: {log: '{{cwd}}'}}", "the placeholder {{cwd}}"),
        ("{on: turn.end, then: {log: '{{open_braces}}tool.error}}'}}", "braces that would be taken"),
        ("{on: tool.before, then: {replace: {in: input.x, pattern: a, with: b}}}", "this change of tool.input.x"),
        ("{on: tool.before, then: {set: {input.x: '{{prompt}}'}}}", "placeholders in a value"),
        ("{on: turn.end, then: {tell: x}}", "the place of its message"),
        ("{on: turn.end, timeout: 5s, then: {call: a.b}}", "its timeout of 5 s"),
    ],
)
def test_what_cannot_be_expressed_is_listed(hook: str, what: str) -> None:
    hooks = load_hooks("native", f"hooks:\n  - {hook}\n", "hookline.yaml")
    lines = get_dialect("digitorn").write(hooks).not_expressible
    assert any(what in each for each in lines), lines
    assert all(each.startswith(f"{hooks[0].id} (hookline.yaml:2): ") for each in lines)


def test_a_name_with_a_slash_survives() -> None:
    condition = {"type": "tool_name", "match": "a/b|c/*"}
    hooks = load_hooks(
        "digitorn",
        {"runtime": {"hooks": [{"id": "g", "on": "tool_start", "condition": condition, "action": {"type": "gate"}}]}},
    )
    back = load_hooks("digitorn", write_hooks("digitorn", round_trip_native(hooks)))
    for name in ("a/b", "c/d", "a/c"):
        event = ("tool.before", {"tool": {"name": name, "input": {}}})
        assert run_events(back, [event]) == run_events(hooks, [event])


def test_a_native_guard_hears_the_same_tools() -> None:
    hooks = load_hooks(
        "native", "hooks: [{id: g, on: tool.before, when: {tool: [bash, write_file]}, then: deny}]", "hookline.yaml"
    )
    value = write_hooks("digitorn", hooks)
    assert value["runtime"]["hooks"][0]["condition"] == {
        "type": "tool_name",
        "match": "bash|shell.run|write_file|filesystem.write",
    }
    back = load_hooks("digitorn", value)
    for tool in (
        {"name": "Bash", "input": {}},
        {"name": "create", "kind": "write", "input": {}},
        {"name": "x", "input": {}},
    ):
        event = ("tool.before", {"tool": tool})
        assert run_events(back, [event]) == run_events(hooks, [event])


@pytest.mark.parametrize(
    "hook",
    [
        {"cooldown": 1_000_000_000, "action": {"type": "gate"}},
        {"cooldown": 86400.5, "action": {"type": "gate"}},
        {
            "action": {
                "type": "transform_params",
                "transformation": {"set": {"a.b": 1, "": 2, "0": 3}, "remove": ["c.d"]},
            }
        },
        {"action": {"type": "pipe", "to": "a.b", "on_error": "ignore"}},
        {"action": {"type": "chain", "actions": [{"type": "pipe", "to": "a.b"}, {"type": "gate"}]}},
        {"action": {"type": "shell", "command": "cat <<E\n{{tool.params.a}}\nE", "on_error": "inject"}},
    ],
)
def test_native_says_it_exactly(hook: dict[str, Any]) -> None:
    document, _ = read_text(json.dumps({"runtime": {"hooks": [{"id": "h", **hook}]}}), "digitorn.json")
    (before,) = get_dialect("digitorn").load(document).hooks
    again, _ = read_text(dump_yaml(write_hooks("native", [before])), "hookline.yaml")
    (after,) = get_dialect("native").load(again).hooks
    assert repr(after.then) == repr(before.then)
    assert (after.limit.cooldown, after.on_error, after.timeout) == (
        before.limit.cooldown,
        before.on_error,
        before.timeout,
    )


@pytest.mark.parametrize("on_error", ["ignore", "log"])
def test_a_pipe_keeps_whether_its_failure_is_logged(on_error: str) -> None:
    pipe = {"type": "pipe", "to": "a.b", "on_error": on_error}
    for action in (pipe, {"type": "chain", "actions": [pipe, {**pipe, "on_error": "raise"}]}):
        app = {"runtime": {"hooks": [{"id": "x", "on": "tool_end", "action": action}]}}
        (hook,) = load_hooks("digitorn", write_hooks("digitorn", load_hooks("digitorn", app)))
        first = hook.then.steps[0] if isinstance(hook.then, Chain) else hook.then
        assert first.is_quiet == (on_error == "ignore")


@pytest.mark.parametrize(
    ("matcher", "match"),
    [("bash", "shell.run|*bash*"), ("fetch|web_fetch", "web.fetch|*fetch*|*web_fetch*"), (".*", "*")],
)
def test_a_pattern_of_flo_s_tool_names_becomes_a_glob_of_digitorn_s(matcher: str, match: str) -> None:
    hooks = load_hooks("flo", {"hooks": {"PreToolUse": [{"matcher": matcher, "action": "deny"}]}}, "hub.json")
    written = get_dialect("digitorn").write(with_vocabulary("digitorn", hooks))
    assert written.value["runtime"]["hooks"][0]["condition"] == {"type": "tool_name", "match": match}
    assert [ADDED_GUESS in loss for loss in written.not_expressible] == [True] * (match != "*")


def test_a_pattern_that_would_match_other_tools_is_refused() -> None:
    rules = [{"matcher": matcher, "action": "deny"} for matcher in ("write_", "^Bash$", "^(?!bash$)")]
    hooks = load_hooks("flo", {"hooks": {"PreToolUse": rules}}, "hub.json")
    assert len(get_dialect("digitorn").write(with_vocabulary("digitorn", hooks)).not_expressible) == 3
