"""microai through the native format and back: the same decisions."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialect_conversion import decision_summaries, load_hooks, round_trip_native, write_hooks
from hookline.dialects.dialect import get_dialect

MATCHERS = (
    "*", "", "Bash", "Read", "Custom", "Bash(git:*)", "Bash(git push:*)", "Bash(ls)", "Bash(rm *)", "Bash(*)",
    "Read(**/*.go)", "Read(src:*)", "Write(secrets/**)", "Edit(app/[id]/{a,b}.ts)", "WebFetch(domain:example.com)",
    "WebFetch(domain:*.example.com)", "WebFetch(https://example.com:*)", "WebFetch(https://*)", "WebSearch(cats:*)",
    "Glob(*.md)", "Grep(TODO)",
)  # fmt: skip
COMMANDS = (
    "true", "exit 3", "printf out", "printf no >&2; exit 1", "printf out; exit 1", 'test "$TOOL_NAME" = Bash',
    "echo '{{.Names}}' >&2; exit 2", 'printf %s "$INPUT$PROMPT${OUTPUT-none}${PLATFORM-none}$TIMESTAMP" >&2; exit 1',
    "cat >&2; exit 1",
)  # fmt: skip
ENTRIES = st.fixed_dictionaries(
    {"command": st.sampled_from(COMMANDS)},
    optional={
        "matcher": st.sampled_from(MATCHERS),
        "timeout": st.sampled_from([0, 4000, 9000.5]),
        "continueOnFailure": st.booleans(),
        "condition": st.sampled_from(["true", "false", 'test -n "$SESSION_ID"']),
    },
)
TYPES = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SessionEnd")
CONFIGS = st.fixed_dictionaries({name: st.lists(ENTRIES, min_size=1, max_size=3) for name in TYPES})
TOOLS: tuple[dict[str, Any], ...] = (
    {"name": "Bash", "input": {"command": "git push"}},
    {"name": "bash", "kind": "shell", "input": {"command": "ls"}},
    {"name": "run_shell_command", "kind": "shell", "input": {"command": "rm -rf a/b"}},
    {"name": "read_file", "kind": "read", "input": {"path": "src/a.go"}},
    {"name": "Write", "input": {"file_path": "./x/../secrets/a"}},
    {"name": "Edit", "input": {"file_path": "app/[id]/a.ts"}},
    {"name": "WebFetch", "input": {"url": "https://a.example.com/x"}},
    {"name": "WebFetch", "input": {"url": "https://example.com/"}},
    {"name": "WebSearch", "input": {"query": "cats and dogs"}},
    {"name": "Glob", "input": {"pattern": "docs/*.md"}},
    {"name": "Custom", "input": {}},
)
TOOL = st.sampled_from(TOOLS)
EVENTS = st.one_of(
    st.tuples(st.just("tool.before"), st.fixed_dictionaries({"tool": TOOL})),
    st.tuples(st.just("tool.after"), st.fixed_dictionaries({"tool": TOOL.map(lambda tool: {**tool, "result": "r"})})),
    st.tuples(st.just("prompt.submit"), st.fixed_dictionaries({"prompt": st.sampled_from(["hi", "$(x) 'y'"])})),
    st.tuples(st.sampled_from(["session.start", "session.end"]), st.just({})),
)


@given(config=CONFIGS, events=st.lists(EVENTS, min_size=1, max_size=3))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_converted_hooks_decide_the_same(config: dict[str, Any], events: list[Any], tmp_path: Any) -> None:
    original = load_hooks("microai", {"hooks": config})
    native = round_trip_native(original)
    back = load_hooks("microai", write_hooks("microai", native))
    expected = decision_summaries(original, events, tmp_path)
    assert decision_summaries(native, events, tmp_path) == expected
    assert decision_summaries(back, events, tmp_path) == expected


@pytest.mark.parametrize("text", [text for text in MATCHERS if text not in ("", "*", "Bash(*)")])
def test_a_matcher_comes_back_as_it_was(text: str) -> None:
    value = {"hooks": {"PreToolUse": [{"matcher": text, "command": "true"}]}}
    assert write_hooks("microai", round_trip_native(load_hooks("microai", value))) == value


def test_an_entry_comes_back_as_it_was() -> None:
    entry = {"matcher": "Bash", "command": "x '{{y}}'", "timeout": 250, "continueOnFailure": False, "condition": "z"}
    value = {"hooks": {event: [entry] for event in ("PreToolUse", "PostToolUse")}}
    assert write_hooks("microai", round_trip_native(load_hooks("microai", value))) == value


NATIVE = """
hooks:
  - id: several-names
    on: tool.before
    when: {tool: [bash, write_file]}
    then: {run: "exit 1", reason: "Hook blocked: {output}", stdin: none}
    on_error: {deny: "Hook blocked: {failure}"}
"""


def test_a_native_hook_on_two_tools_becomes_two_entries() -> None:
    value = write_hooks("microai", load_hooks("native", NATIVE, "hookline.yaml"))
    assert [entry["matcher"] for entry in value["hooks"]["PreToolUse"]] == ["Bash", "Write"]


@pytest.mark.parametrize(
    ("hook", "what"),
    [
        ("{on: tool.before, then: deny}", "an answer of its own (deny)"),
        ("{on: turn.end, then: {run: x}}", "the event turn.end"),
        ("{on: session.end, then: {run: 'x {{cwd}}', reads: error}}", "{{cwd}} in its command"),
        ("{on: session.end, then: {run: [x], reads: error}}", "a program without a shell"),
        ("{on: session.end, then: {run: x, reads: error}}", "stdin"),
        ("{on: session.end, then: {run: x, reads: error, stdin: none, cwd: /}}", "a working directory"),
        ("{on: session.end, then: {run: x, reads: error, stdin: none, env: {A: b}}}", "the variable A"),
        ("{on: session.end, then: {run: x, reads: error, stdin: none, inherit_env: false}}", "a restricted environment"),
        ("{on: session.end, order: 3, then: {run: x, reads: error, stdin: none}}", "order 3"),
        ("{on: session.end, max_fires: 3, then: {run: x, reads: error, stdin: none}}", "max_fires"),
        ("{on: session.end, tags: [a], then: {run: x, reads: error, stdin: none}}", "its tags"),
        ("{on: session.end, enabled: false, then: {run: x, reads: error, stdin: none}}", "disabled"),
        ("{on: session.end, scope: {agent: a}, then: {run: x, reads: error, stdin: none}}", "its scope"),
        ("{on: session.end, background: true, then: {run: x, reads: error, stdin: none}}", "does not wait"),
        ("{on: tool.after, then: {run: x, reads: error, stdin: none}}", "that the agent waits"),
        ("{on: session.start, then: {run: x, reads: error, stdin: none}}", "who reads its output"),
        ("{on: session.end, when: {fact: {cwd: x}}, then: {run: x, reads: error, stdin: none}}", "its condition"),
        ("{on: tool.before, when: {tool: /x/}, then: {run: x, reads: error, stdin: none}}", "a pattern for the tool"),
        ("{on: tool.before, when: {tool: bash, input: {command: x}}, then: {run: x, reads: error, stdin: none}}", "input"),
        ("{on: tool.before, then: {run: x, reads: nonzero, stdin: none}, on_error: open}", "reads: "),
        ("{on: tool.before, then: {run: x, reads: json, stdin: none}, on_error: closed}", "reads: "),
        ("{on: tool.before, then: {run: x, stdin: none}, on_error: closed}", "its own reason for a deny"),
        ("{on: session.end, then: {run: x, stdin: none}}", "a non-zero exit code is not a failure"),
    ],
)  # fmt: skip
def test_what_cannot_be_expressed_is_listed(hook: str, what: str) -> None:
    hooks = load_hooks("native", f"hooks:\n  - {hook}\n", "hookline.yaml")
    (line,) = get_dialect("microai").write(hooks).not_expressible
    assert what in line
    assert line.startswith(f"{hooks[0].id} (hookline.yaml:2): ")
