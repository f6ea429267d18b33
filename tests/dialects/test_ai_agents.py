"""ai_agents: files, recognition, what a program gets, and the schema."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from hookline.config.document import Document
from hookline.config.reader import read_text
from hookline.dialects.dialect import get_dialect, recognise_dialect
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.event import Event
from hookline.hooks.outcome import FailureKind, Verdict
from hookline.testing import fire

AI_AGENTS = get_dialect("ai_agents")
CASES = sorted((Path(__file__).parents[1] / "cases" / "ai_agents").glob("*.yaml"))
HOOK = {"type": "command", "command": "true"}
GROUP = {"matcher": "Write", "hooks": [HOOK]}


def read_document(value: object, file: str = "settings.json") -> Document:
    read, problems = read_text(value if isinstance(value, str) else json.dumps(value), file)
    assert read is not None, problems
    return read


def is_valid(value: object) -> bool:
    return bool(jsonschema.Draft202012Validator(AI_AGENTS.schema()).is_valid(value))


def case_configs() -> list[tuple[str, str]]:
    """Every config of the cases, as text."""
    found = []
    for path in CASES:
        written = yaml.safe_load(path.read_text())
        for case in written.get("cases", [written]):
            given = case.get("config")
            texts = [given] if given is not None else [t for n, t in case["files"].items() if ".ai_agents/" in n]
            found += [(path.stem, text if isinstance(text, str) else json.dumps(text)) for text in texts]
    return found


@pytest.mark.parametrize(("name", "text"), case_configs(), ids=[name for name, _ in case_configs()])
def test_the_schema_accepts_what_loads_and_refuses_what_does_not(name: str, text: str) -> None:
    read, _ = read_text(text, "settings.json")
    if read is None:
        return
    found = [each for each in AI_AGENTS.load(read).problems if each.code != "bad-pattern"]
    refused = any(each.severity == "error" or each.code == "unknown-key" for each in found)
    assert is_valid(read.value) is not refused


@pytest.mark.parametrize(
    "group",
    [
        {},
        {"matcher": "Write"},
        {"hooks": {}},
        {"hooks": ["true"]},
        {"hooks": [None]},
        {"matcher": 5, "hooks": [HOOK]},
        {"hooks": [{"command": "a"}]},
        {"hooks": [{"type": "command"}]},
        {"hooks": [{"type": "prompt", "command": "a"}]},
        {"hooks": [{"type": "command", "command": ""}]},
        {"hooks": [{"type": "command", "command": ["a"]}]},
        {"hooks": [{"type": "command", "command": "a", "timeout": 0}]},
        {"hooks": [{"type": "command", "command": "a", "timeout": True}]},
        {"hooks": [{"type": "command", "command": "a", "timeout": 1e9}]},
        {"matcher": "Write", "command": "a"},
        "Write",
    ],
)
def test_a_bad_group_is_refused_by_both(group: object) -> None:
    value = {"hooks": {"PreToolUse": [group, GROUP]}}
    found = AI_AGENTS.load(read_document(value))
    assert sum(isinstance(hook.then, RunProgram) for hook in found.hooks) == 1
    assert found.problems
    assert not is_valid(value)


@pytest.mark.parametrize("value", [[], 5, {"hooks": []}, {"hooks": {"PreToolUse": GROUP}}, {"hooks": {"Stop": []}}])
def test_a_bad_file_is_a_problem_and_no_traceback(value: object) -> None:
    found = AI_AGENTS.load(read_document(json.dumps(value)))
    assert found.hooks == ()
    assert found.problems
    assert not is_valid(value)


def test_a_file_is_told_by_its_directory_first() -> None:
    assert recognise_dialect(read_document({"hooks": {}}, "/p/.ai_agents/settings.json")) is AI_AGENTS
    flat = {"hooks": {"PreToolUse": [{"matcher": "Bash", "command": "true"}]}}
    assert recognise_dialect(read_document(flat, ".ai_agents/settings.local.json")) is AI_AGENTS


def test_a_file_is_told_by_its_shape() -> None:
    assert AI_AGENTS.recognises(read_document({"hooks": {"PreToolUse": [GROUP], "UserPromptSubmit": [GROUP]}}))


def test_a_file_of_claude_code_is_none_of_ours() -> None:
    assert not AI_AGENTS.recognises(read_document({"hooks": {"PreToolUse": [GROUP]}}, ".claude/settings.json"))


@pytest.mark.parametrize(
    "value",
    [
        {"hooks": {"PreToolUse": [{"matcher": "x", "command": "a"}]}},
        {"hooks": {"PreToolUse": [{"matcher": "x", "hooks": [{"type": "action", "action": "deny"}]}]}},
        {"hooks": {"Stop": [GROUP]}},
        {"hooks": {"PreToolUse": [GROUP]}},
        {"hooks": {"PreToolUse": [{**GROUP, "matcher": "FileWriter|x"}]}},
        {"hooks": []},
        {},
    ],
)
def test_a_file_of_another_shape_is_none_of_ours(value: object) -> None:
    assert not AI_AGENTS.recognises(read_document(value, "x.json"))


def test_a_hook_knows_its_line_and_its_time() -> None:
    text = '{"hooks": {"PreToolUse": [\n {"hooks": [\n  {"type": "command", "command": "a"},\n  {"type": "command", "command": "b", "timeout": 1.5}\n]}]}}'
    first, second = AI_AGENTS.load(read_document(text)).hooks
    assert (first.id, second.id) == ("settings.json:PreToolUse[0]", "settings.json:PreToolUse[0].hooks[1]")
    assert (first.origin.line, second.origin.line) == (3, 4)
    assert (first.timeout, second.timeout) == (timedelta(seconds=60), timedelta(seconds=1.5))


def config_with_command(command: str, event: str = "PreToolUse") -> dict[str, Any]:
    return {"hooks": {event: [{"hooks": [{"type": "command", "command": command, "timeout": 10}]}]}}


def test_half_a_character_cannot_make_stdin_unreadable() -> None:
    read = config_with_command("python3 -c 'import json, sys; json.load(sys.stdin); sys.exit(2)'")
    tool = {"name": "Write", "input": {"content": "\ud800 \udc00", "file_path": "\udfff"}}
    decision = fire(read, {"name": "PreToolUse", "tool": tool}, dialect="ai_agents")
    assert (decision.verdict, decision.failures) == (Verdict.DENY, ())


@pytest.mark.parametrize("depth", [50, 600, 5_000])
def test_no_nesting_keeps_a_hook_from_being_asked(depth: int) -> None:
    nested: Any = float("nan")
    for _ in range(depth):
        nested = [nested]
    tool = {"name": "Write", "input": {"file_path": "a", "content": nested}}
    decision = fire(config_with_command("exit 2"), {"name": "PreToolUse", "tool": tool}, dialect="ai_agents")
    assert (decision.verdict, decision.failures) == (Verdict.DENY, ())


def test_an_answer_too_long_to_be_kept_is_never_taken_for_text() -> None:
    """A deny whose reason repeats two megabytes must not let the tool run unseen."""
    long = config_with_command(
        """printf '{"decision": "deny", "reason": "'; head -c 2000000 /dev/zero | tr '\\0' x; printf '"}'"""
    )
    decision = fire(long, {"name": "PreToolUse", "tool": {"name": "Write", "input": {}}}, dialect="ai_agents")
    assert decision.verdict is Verdict.ASK
    assert [failure.kind for failure in decision.failures] == [FailureKind.UNREADABLE_ANSWER]


def test_an_answer_nested_without_end_is_text() -> None:
    nested = config_with_command("""python3 -c 'print("{\\"a\\":" + "[" * 100000)'""")
    decision = fire(nested, {"name": "PreToolUse", "tool": {"name": "Write", "input": {}}}, dialect="ai_agents")
    assert decision.verdict is Verdict.SILENT


@pytest.mark.parametrize("matcher", ["(a+)+$", "(a|aa)+b", "(.*)*x", "a{1,1000}{1,1000}"])
def test_no_matcher_hangs(matcher: str) -> None:
    config = {"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [HOOK]}]}}
    read = read_document(config)
    hooks = AI_AGENTS.load(read).hooks
    name = "a" * 5000 + "!"
    assert not hooks or not hooks[0].when.holds(Event("tool.before", {"tool": {"name": name, "input": {}}}))


def test_a_tool_with_any_odd_input_is_judged_without_a_traceback() -> None:
    config = {"hooks": {"PreToolUse": [{"matcher": "File.*", "hooks": [HOOK]}, {"hooks": [HOOK]}]}}
    odd: list[dict[str, Any]] = [{}, {"input": {"file_path": 5}}, {"name": "FileReader", "input": {"x": [{}]}}]
    for tool in odd:
        decision = fire(config, Event("tool.before", {"tool": tool}), dialect="ai_agents")
        expected = Verdict.SILENT if "name" in tool else Verdict.DENY  # which tool it is, nobody can say
        assert (decision.verdict, decision.failures) == (expected, ())
