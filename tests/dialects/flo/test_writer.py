"""flo through the native format and back: the same decisions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dialect_conversion import decision_summaries, load_hooks, round_trip_native, write_hooks
from hookline.dialects.conversion import with_vocabulary
from hookline.dialects.dialect import get_dialect
from hookline.testing.case_runner import capture_log

MATCHERS = (
    "",
    "^bash$",
    "^(bash|write_file)$",
    "fetch|web_fetch",
    "write_",
    ".*",
    r"^[\w.]+$",
    "(?<!my_)bash",
    r"\bfiles\b",
)
FIELDS = {
    "path": (r"\.env$", r"\.(env|key|pem)$", "^/etc/", "", "é", r"^\S+$"),
    "command": (r"rm\s+-rf", "^git (?!status)", "a{2,}", r"[^\n]x$"),
    "0": ("x",),
}
REASONS = ("", "no", "a {{toolName}} is not a name here", "it's {{ open")
SCRIPTS = (
    "return",
    "return {decision: 'allow', reason: toolName}",
    "return {decision: 'deny', reason: JSON.stringify([type, agentId, typeof toolResult, typeof prompt, typeof stopReason])}",
    "if (typeof toolInput !== 'undefined') return {modifiedInput: {...toolInput, command: 'rm -rf changed'}}",
    "if (typeof prompt !== 'undefined') return {modifiedPrompt: prompt + '!'}",
    "throw new Error('broken')",
    "return {decision: '{{toolName}}'}",
)
COMMANDS = (
    "true",
    "exit 3",
    "printf '%s' {{toolName}} {{input.command}} 'in {{input.path}}' >&2; exit 1",
    "printf '%s' {{prompt}}{{stopReason}}{{agentId}}{{result}} >&2; exit 1",
    'test -n {{sandbox}} && test "$PWD" = {{sandbox}}',
    'printf "%s" "$API_TOKEN$LANG" >&2; exit 1',
    "kill -9 $$",
)
FAILING = st.fixed_dictionaries(
    {}, optional={"continueOnError": st.booleans(), "timeout": st.sampled_from([4000, 2500.5])}
)
ANSWER = st.fixed_dictionaries(
    {"action": st.sampled_from(["deny", "allow"])}, optional={"reason": st.sampled_from(REASONS)}
)
LOG = st.just({"action": "log"})
SCRIPT = st.builds(
    lambda source, more: {"action": "script", "script": source, **more}, st.sampled_from(SCRIPTS), FAILING
)
COMMAND = st.builds(lambda command, more: {"command": command, **more}, st.sampled_from(COMMANDS), FAILING)
WHEN = st.fixed_dictionaries(
    {},
    optional={
        "matcher": st.sampled_from(MATCHERS),
        "inputMatchers": st.fixed_dictionaries(
            {}, optional={name: st.sampled_from(each) for name, each in FIELDS.items()}
        ),
        "priority": st.integers(-3, 3),
        "enabled": st.booleans(),
    },
)
TYPES = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "AgentStart", "AgentEnd")
TOOLS: tuple[dict[str, Any], ...] = (
    {"name": "bash", "kind": "shell", "input": {"command": "rm  -rf 'it''s'"}},
    {"name": "my_bash", "input": {"command": "git push", "path": "a\nb"}},
    {"name": "Bash", "kind": "shell", "input": {"command": "aaa"}},
    {"name": "write_file", "kind": "write", "input": {"path": "a/.env", "content": "é"}},
    {"name": "Write", "kind": "write", "input": {"file_path": "x.pem", "content": "é"}},
    {"name": "web_fetch", "input": {"url": "http://x", "path": 5, "0": "x"}},
    {"name": "files", "input": {}},
)
TOOL = st.sampled_from(TOOLS)
AGENT = st.sampled_from([{}, {"agent": {"id": "a1"}}])
DONE = st.sampled_from([{"result": "r", "ok": True}, {"result": {"a": 1}}, {"error": "e", "ok": False}])
EVENTS = st.one_of(
    st.tuples(st.just("tool.before"), st.builds(lambda tool, agent: {"tool": tool, **agent}, TOOL, AGENT)),
    st.tuples(st.just("tool.after"), st.builds(lambda tool, done: {"tool": {**tool, **done}}, TOOL, DONE)),
    st.tuples(st.just("prompt.submit"), st.fixed_dictionaries({"prompt": st.sampled_from(["hi", "$(x) 'y'"])})),
    st.tuples(st.just("stop"), st.sampled_from([{}, {"stop": {"reason": "end_turn"}}])),
    st.tuples(st.sampled_from(["agent.start", "agent.end"]), AGENT),
)
QUIET = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


def configs(action: st.SearchStrategy[dict[str, Any]], most: int) -> st.SearchStrategy[dict[str, Any]]:
    one = st.builds(lambda when, then: {**when, **then}, WHEN, action)
    several = st.builds(lambda when, then: {**when, "hooks": then}, WHEN, st.lists(action, min_size=1, max_size=2))
    return st.fixed_dictionaries({name: st.lists(one | several, max_size=most) for name in TYPES})


@given(config=configs(ANSWER | LOG, 4), events=st.lists(EVENTS, min_size=1, max_size=4))
@settings(max_examples=40, deadline=None, suppress_health_check=QUIET)
def test_converted_rules_decide_the_same(config: dict[str, Any], events: list[Any], tmp_path: Any) -> None:
    compare(config, events, tmp_path)


@given(config=configs(ANSWER | SCRIPT | COMMAND, 2), events=st.lists(EVENTS, min_size=1, max_size=3))
@settings(max_examples=12, deadline=None, suppress_health_check=QUIET)
def test_converted_scripts_and_commands_decide_the_same(
    config: dict[str, Any], events: list[Any], tmp_path: Any
) -> None:
    compare(config, events, tmp_path)


def compare(config: dict[str, Any], events: list[Any], directory: Any) -> None:
    original = load_hooks("flo", {"hooks": config}, "hub.json")
    native = round_trip_native(original)
    back = load_hooks("flo", write_hooks("flo", native), "hub.json")
    expected = decision_summaries(original, events, directory)
    assert decision_summaries(native, events, directory) == expected
    assert decision_summaries(back, events, directory) == expected


def test_a_rule_comes_back_as_it_was() -> None:
    rules = [
        {
            "id": "a",
            "matcher": "^bash$",
            "inputMatchers": {"path": "x"},
            "priority": 5,
            "action": "deny",
            "reason": "{{no}}",
        },
        {"id": "b", "action": "log", "enabled": False},
        {"id": "c", "action": "script", "script": "return {{}}", "timeout": 250, "continueOnError": False},
        {"id": "d", "command": "echo {{ toolName }} '{{input.a.b}}' {{sandbox}} {{result}}"},
        {"id": "e", "command": "true", "continueOnError": True},
        {"id": "f", "command": "true", "continueOnError": False},
    ]
    back = write_hooks("flo", round_trip_native(load_hooks("flo", {"hooks": {"PreToolUse": rules}}, "hub.json")))
    rules[3]["command"] = "echo {{toolName}} '{{input.a.b}}' {{sandbox}} {{result}}"
    assert back == {"hooks": {"PreToolUse": rules}}


def digitorn_rule(**keys: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A digitorn hook as a flo rule, and what is lost of it."""
    hooks = load_hooks("digitorn", {"runtime": {"hooks": [{"id": "x", **keys}]}}, "app.yaml")
    written = get_dialect("flo").write(with_vocabulary("flo", hooks))
    (rules,) = written.value["hooks"].values()
    return rules[0], written.not_expressible


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("got it", "got it"),
        ("got {{tool.params.text}}!", "got a 'b' \"c\"!"),
        ("{{tool.params.n}} and {{tool.params.none}}", "[1,2] and "),
    ],
)
def test_a_log_message_becomes_a_script(message: str, line: str, tmp_path: Path) -> None:
    rule, losses = digitorn_rule(on="tool_start", action={"type": "log", "message": message})
    assert losses == ()
    tool = {"name": "bash", "input": {"text": "a 'b' \"c\"", "n": [1, 2]}}
    hooks = load_hooks("flo", {"hooks": {"PreToolUse": [rule]}}, "hub.json")
    with capture_log() as log:
        ((_, _, _, _, _, failures),) = decision_summaries(hooks, [("tool.before", {"tool": tool})], tmp_path)
    assert failures == []
    assert any(each.endswith(line) for each in log), log


def test_a_shell_action_becomes_a_command_that_denies_nothing() -> None:
    rule, losses = digitorn_rule(on="tool_start", action={"type": "shell", "command": "wc {{tool.params.path}}"})
    assert rule == {"id": "x", "command": "wc {{input.path}}", "timeout": 30000, "continueOnError": True}
    assert [line.partition(": ")[2].partition(";")[0] for line in losses] == [
        "the environment of its program",
        "the session's directory as that of its program",
    ]


def test_a_glob_of_digitorn_s_tool_names_becomes_a_matcher() -> None:
    rule, _ = digitorn_rule(on="tool_start", condition={"type": "tool_name", "match": "*"}, action={"type": "gate"})
    assert rule["matcher"] == "^(?:[\\s\\S]*)$"
