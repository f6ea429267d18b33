"""claude_code through the native format and back: the same decisions."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialect_conversion import decision_summaries, load_hooks, round_trip_native, write_hooks
from hookline.dialects.dialect import get_dialect

MATCHERS = ("*", "", "Write", "Edit|Write", "Bash", "mcp__.*", "^(?!Bash)", "x\\.y", "N.+Edit")
RULES = ("Bash", "Bash(rm *)", "Bash(ls)", "Edit(src/**)", "Write(*.py)", "Write(/a)", "Read(//etc/)", "Read(~/x)", "WebFetch(domain:a.b)", "mcp__a__*", "Task(x)")  # fmt: skip
SPECIFIC = (
    {"permissionDecision": "deny", "permissionDecisionReason": "r"}, {"permissionDecision": "allow"},
    {"permissionDecision": "ask", "updatedInput": {"file_path": "n"}}, {"permissionDecision": "no"},
    {"additionalContext": "c"}, {"updatedToolOutput": {"a": 1}}, {"decision": {"behavior": "deny"}},
)  # fmt: skip
ANSWERS = (
    *({"hookSpecificOutput": output} for output in SPECIFIC), {"decision": "block", "reason": "r"}, {"decision": "approve"},
    {"continue": False, "stopReason": "s"}, {"systemMessage": "m"}, {}, [], {"async": True},
)  # fmt: skip
COMMANDS = (
    "true", "exit 2", "echo e >&2; exit 2", "echo e >&2; exit 1", "echo plain", "cat >&2; exit 2", "echo '{{x}}'",
    'printf %s "$CLAUDE_PROJECT_DIR" >&2; exit 2', *(f"printf %s '{json.dumps(answer)}'" for answer in ANSWERS),
)  # fmt: skip
OPTIONS = {
    "timeout": st.sampled_from([5, 7.25]),
    "once": st.booleans(),
    "async": st.just(False),
    "onFailure": st.sampled_from(["block", "continue"]),
}
HANDLERS = st.fixed_dictionaries(
    {"type": st.just("command"), "command": st.sampled_from(COMMANDS)}, optional=OPTIONS
) | st.builds(
    lambda args: {"type": "command", "command": "printf", "args": args},
    st.lists(st.sampled_from(["%s", "${CLAUDE_PROJECT_DIR}", "x{{x}}", "a b"]), max_size=2),
)
TOOL_HANDLERS = HANDLERS | st.builds(lambda handler, rule: {**handler, "if": rule}, HANDLERS, st.sampled_from(RULES))
OTHER = st.fixed_dictionaries({"hooks": st.lists(HANDLERS, min_size=1, max_size=2)})
GROUPS = st.fixed_dictionaries(
    {"hooks": st.lists(TOOL_HANDLERS, min_size=1, max_size=3)}, optional={"matcher": st.sampled_from(MATCHERS)}
)
STARTS = st.fixed_dictionaries(
    {"hooks": st.lists(HANDLERS, min_size=1, max_size=2)},
    optional={"matcher": st.sampled_from(["startup", "re.*", "x"])},
)
TOOL_EVENTS = ("PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest")
CONFIGS = st.fixed_dictionaries(
    {
        **{name: st.lists(GROUPS, min_size=1, max_size=2) for name in TOOL_EVENTS},
        **{name: st.lists(OTHER, min_size=1, max_size=2) for name in ("UserPromptSubmit", "Stop")},
        "SessionStart": st.lists(STARTS, min_size=1, max_size=2),
    }
)
TOOL = st.sampled_from(
    [
        {"name": "write_file", "kind": "write", "input": {"path": "a/ä.py", "content": "x"}},
        {"name": "Edit", "input": {"file_path": "src/a b"}},
        {"name": "run_shell_command", "input": {"command": "ls; rm x"}},
        {"name": "x.y", "input": {"file_path": 5}},
        {"name": "mcp__a__b", "input": {}},
    ]
)
RESULTS = st.sampled_from([{"result": "done"}, {"result": {"n": 1}}, {"ok": False, "error": "x"}])
AFTER = st.builds(lambda tool, more: {"tool": {**tool, **more}}, TOOL, RESULTS)
EVENTS = st.one_of(
    st.tuples(st.sampled_from(["tool.before", "approval.request"]), st.fixed_dictionaries({"tool": TOOL})),
    st.tuples(st.just("tool.after"), AFTER),
    st.tuples(st.just("prompt.submit"), st.fixed_dictionaries({"prompt": st.just("hi 'x'")})),
    st.tuples(st.just("session.start"), st.sampled_from([{}, {"session": {"source": "resume"}}])),
    st.tuples(st.just("stop"), st.sampled_from([{}, {"stop": {"active": True}}])),
)


@given(config=CONFIGS, events=st.lists(EVENTS, min_size=1, max_size=3))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_converted_hooks_decide_the_same(config: dict[str, Any], events: list[Any], tmp_path: Any) -> None:
    original = load_hooks("claude_code", {"hooks": config})
    native = round_trip_native(original)
    back = load_hooks("claude_code", write_hooks("claude_code", native))
    expected = decision_summaries(original, events, tmp_path)
    assert decision_summaries(native, events, tmp_path) == expected
    assert _remove_locations(decision_summaries(back, events, tmp_path)) == _remove_locations(expected)


def _remove_locations(summaries: list[Any]) -> str:
    """A handler that was written twice comes back once, so those behind it have other places in their names."""
    return re.sub(r"(settings\.json:\w+)\[\d+\]", r"\1", repr(summaries))


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("matcher", [text for text in MATCHERS if text not in ("", "*")])
def test_a_group_comes_back_as_it_was(matcher: str, rule: str) -> None:
    hooks = [
        {"type": "command", "command": "a '{{b}}'", "timeout": 1.5, "if": rule},
        {"type": "command", "command": "c"},
    ]
    value = {"hooks": {"PostToolUse": [{"matcher": matcher, "hooks": hooks}, {"hooks": [{**hooks[0], "once": True}]}]}}
    again = load_hooks("claude_code", write_hooks("claude_code", round_trip_native(load_hooks("claude_code", value))))
    assert [(hook.when, hook.then, hook.limit) for hook in again] == [
        (hook.when, hook.then, hook.limit) for hook in load_hooks("claude_code", value)
    ]


def test_every_type_of_handler_comes_back_as_it_was() -> None:
    hooks = [
        {"type": "prompt", "prompt": "ok? $ARGUMENTS"},
        {"type": "agent", "prompt": "ok? $ARGUMENTS"},
        {"type": "http", "url": "http://a/b", "headers": {"A": "$B"}, "allowedEnvVars": ["B"], "timeout": 3},
        {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": ["x ${stop_hook_active}", "{{b}}"], "n": 1}},
        {"type": "command", "command": "x", "shell": "powershell"},
        {"type": "command", "command": "x", "args": ["${CLAUDE_PROJECT_DIR}/y", "{{z}}"], "async": True},
    ]
    value = {"hooks": {"Stop": [{"hooks": hooks}]}}
    assert write_hooks("claude_code", round_trip_native(load_hooks("claude_code", value))) == value


def test_a_file_that_is_switched_off_stays_so() -> None:
    value = {"disableAllHooks": True, "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "x"}]}]}}
    assert write_hooks("claude_code", round_trip_native(load_hooks("claude_code", value))) == value


RUN = "run: x, reads: claude, stdin: none"


@pytest.mark.parametrize(
    ("hook", "what"),
    [
        ("{on: turn.end, then: {run: x}}", "the event turn.end"),
        ("{on: tool.before, then: deny}", "an answer of its own (deny)"),
        ("{on: tool.before, then: {run: x, reads: exit2, stdin: none}, on_error: tell_user}", "exit2"),
        (f"{{on: tool.before, then: {{{RUN}}}, on_error: ask}}", "a failure counts"),
        (f"{{on: tool.before, then: {{{RUN}, only_if: y}}, on_error: tell_user}}", "only_if"),
        (f"{{on: tool.after, then: {{{RUN}}}, on_error: tell_user}}", "succeeded or failed"),
        (f"{{on: tool.before, when: never, then: {{{RUN}}}, on_error: tell_user}}", "never runs"),
        (f"{{on: tool.before, when: {{prompt: x}}, then: {{{RUN}}}, on_error: tell_user}}", "its condition"),
        (f"{{on: stop, when: {{prompt: x}}, then: {{{RUN}}}, on_error: tell_user}}", "its condition"),
        (f"{{on: stop, order: 3, then: {{{RUN}}}, on_error: tell_user}}", "order 3"),
        ("{on: tool.before, then: {run: x, reads: claude}, on_error: tell_user}", "stdin"),
        ("{on: tool.before, then: {call: x, reads: claude}, on_error: tell_user}", "no MCP server"),
        (
            "{on: stop, then: {post: 'http://a', reads: claude, tell: agent}, on_error: tell_user}",
            "the body that it posts",
        ),
    ],
)
def test_what_cannot_be_expressed_is_listed(hook: str, what: str) -> None:
    hooks = load_hooks("native", f"hooks:\n  - {hook}\n", "hookline.yaml")
    (line,) = get_dialect("claude_code").write(hooks).not_expressible
    assert what in line
