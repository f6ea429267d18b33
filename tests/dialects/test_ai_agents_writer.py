"""ai_agents through the native format and back: the same decisions."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialect_conversion import decision_summaries, load_hooks, round_trip_native, write_hooks
from hookline.dialects.dialect import get_dialect

MATCHERS = ("*", "", "Write", "FileWriter", "CodeEditor", "Edit|Write", "File.*", "(?i)bash.*", "x\\.y", "db.query")
ANSWERS = (
    {"decision": "deny", "reason": "r"}, {"decision": "block"}, {"decision": "allow"}, {"decision": "ask"},
    {"decision": "other"}, {"continue": False, "stopReason": "s"}, {"additionalContext": "c"}, {"suppressOutput": True},
    {"decision": "block", "reason": "r", "additionalContext": "c"}, {}, [],
)  # fmt: skip
COMMANDS = (
    "true", "exit 2", "echo e >&2; exit 2", "echo e >&2; exit 1", "echo plain", "cat >&2; exit 2", "echo '{{x}}'",
    'printf %s "${EDITED_FILE-none}" >&2; exit 2', *(f"printf %s '{json.dumps(answer)}'" for answer in ANSWERS),
)  # fmt: skip
HOOKS = st.fixed_dictionaries(
    {"type": st.just("command"), "command": st.sampled_from(COMMANDS)}, optional={"timeout": st.sampled_from([5, 7.25])}
)
GROUPS = st.fixed_dictionaries(
    {"hooks": st.lists(HOOKS, min_size=1, max_size=3)}, optional={"matcher": st.sampled_from(MATCHERS)}
)
TYPES = ("PreToolUse", "PostToolUse", "UserPromptSubmit")
CONFIGS = st.fixed_dictionaries({name: st.lists(GROUPS, min_size=1, max_size=2) for name in TYPES})
TOOL = st.sampled_from(
    [
        {"name": "write_file", "kind": "write", "input": {"path": "ä", "content": "x"}},
        {"name": "Edit", "input": {"file_path": "a b"}},
        {"name": "BashExecutor", "input": {"command": "ls"}},
        {"name": "x.y", "input": {"file_path": 5}},
        {"name": "Write\n", "input": {}},
    ]
)
RESULTS = st.sampled_from([{"result": "done"}, {"result": {"n": 1}}, {"ok": False, "error": "x"}])
AFTER = st.builds(lambda tool, more: {"tool": {**tool, **more}}, TOOL, RESULTS)
EVENTS = st.one_of(
    st.tuples(st.just("tool.before"), st.fixed_dictionaries({"tool": TOOL})),
    st.tuples(st.just("tool.after"), AFTER),
    st.tuples(st.just("prompt.submit"), st.fixed_dictionaries({"prompt": st.just("hi 'x'")})),
)


@given(config=CONFIGS, events=st.lists(EVENTS, min_size=1, max_size=3))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_converted_hooks_decide_the_same(config: dict[str, Any], events: list[Any], tmp_path: Any) -> None:
    original = load_hooks("ai_agents", {"hooks": config})
    native = round_trip_native(original)
    back = load_hooks("ai_agents", write_hooks("ai_agents", native))
    expected = decision_summaries(original, events, tmp_path)
    assert decision_summaries(native, events, tmp_path) == expected
    assert decision_summaries(back, events, tmp_path) == expected


@pytest.mark.parametrize("text", [text for text in MATCHERS if text not in ("", "*")])
@pytest.mark.parametrize("event", ["PreToolUse", "PostToolUse"])
def test_a_group_comes_back_as_it_was(event: str, text: str) -> None:
    hooks = [{"type": "command", "command": "a '{{b}}'", "timeout": 1.5}, {"type": "command", "command": "c"}]
    value = {"hooks": {event: [{"matcher": text, "hooks": hooks}, {"hooks": hooks[:1]}]}}
    assert write_hooks("ai_agents", round_trip_native(load_hooks("ai_agents", value))) == value


RUN = "run: x, reads: json, tell: user, stdin: none"


@pytest.mark.parametrize(
    ("hook", "what"),
    [
        ("{on: session.end, then: {run: x}}", "the event session.end"),
        ("{on: tool.before, then: deny}", "an answer of its own (deny)"),
        ("{on: tool.before, then: {run: x, reads: exit2, tell: user, stdin: none}, on_error: tell_user}", "exit2"),
        (f"{{on: tool.before, then: {{{RUN}}}, on_error: closed}}", "reads: "),
        (f"{{on: tool.before, then: {{{RUN}, only_if: y}}, on_error: tell_user}}", "only_if"),
        (f"{{on: tool.before, background: true, then: {{{RUN}}}, on_error: tell_user}}", "does not wait"),
        (f"{{on: tool.after, then: {{{RUN}}}, on_error: tell_user}}", "after a failed tool"),
        (f"{{on: tool.before, when: {{tool: 'w*'}}, then: {{{RUN}}}, on_error: tell_user}}", "a pattern"),
        (f"{{on: tool.before, when: {{prompt: x}}, then: {{{RUN}}}, on_error: tell_user}}", "its condition"),
        ("{on: tool.before, then: {run: x, reads: json, tell: user}, on_error: tell_user}", "stdin"),
    ],
)
def test_what_cannot_be_expressed_is_listed(hook: str, what: str) -> None:
    hooks = load_hooks("native", f"hooks:\n  - {hook}\n", "hookline.yaml")
    (line,) = get_dialect("ai_agents").write(hooks).not_expressible
    assert what in line
    assert line.startswith(f"{hooks[0].id} (hookline.yaml:2): ")


def test_names_of_another_vocabulary_are_ours() -> None:
    hook = f"{{on: tool.before, when: {{tool: [write_file, edit_file, mine]}}, then: {{{RUN}}}, on_error: tell_user}}"
    value = write_hooks("ai_agents", load_hooks("native", f"hooks:\n  - {hook}\n", "hookline.yaml"))
    assert value["hooks"]["PreToolUse"][0]["matcher"] == "FileWriter|CodeEditor|mine"
