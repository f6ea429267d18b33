"""What the result of a hook program means for each coding agent. No agent's answer allows or loosens by mistake."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.event import Event
from hookline.hooks.host import ProgramResult
from hookline.hooks.outcome import ActionError, Outcome, Verdict

CALL = Event("tool.before", {"tool": {"name": "Bash", "input": {"command": "rm a"}}})
AGENTS = [ResultFormat(name) for name in ("cline", "codex", "copilot", "cursor", "droid", "gemini", "kimi", "qwen")]
DENIES: dict[str, Any] = {
    "cline": {"cancel": True, "errorMessage": "no"},
    "copilot": {"permissionDecision": "deny", "permissionDecisionReason": "no"},
    "cursor": {"permission": "deny", "agent_message": "no"},
    "gemini": {"decision": "deny", "reason": "no"},
}
CLAUDE_DENY = {
    "hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "no",
    }
}
ALLOWS = [
    {"permission": "allow"},
    {"decision": "allow"},
    {"permissionDecision": "allow"},
    {"cancel": False},
    {"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow"}},
]


def parse(format: ResultFormat, stdout: Any = "", exit_code: int = 0, stderr: str = "", event: Event = CALL) -> Outcome:
    text = stdout if isinstance(stdout, str) else json.dumps(stdout)
    return ResultParser(format).parse(ProgramResult(exit_code, text, stderr), event)


@pytest.mark.parametrize("format", AGENTS)
def test_each_agents_deny_denies_with_its_reason(format: ResultFormat) -> None:
    outcome = parse(format, DENIES.get(format, CLAUDE_DENY))
    assert (outcome.verdict, outcome.reason) == (Verdict.DENY, "no")


@pytest.mark.parametrize("format", ["cline", "copilot", "cursor"])
@pytest.mark.parametrize("character", ["\u2028", "\u0085"])
def test_only_a_newline_ends_a_line_of_output(format: str, character: str) -> None:
    """A guard quotes the agent's command in its reason, and JSON.stringify leaves these characters as they are."""
    answer = {key: f"a{character}b" if value == "no" else value for key, value in DENIES[format].items()}
    text = json.dumps(answer, ensure_ascii=False)
    control = "HOOK_CONTROL\t" if format == "cline" else ""
    outcome = counts_as(ResultFormat(format), f"checking\n{control}{text}\nchecked\n")
    assert (outcome.verdict, outcome.reason) == (Verdict.DENY, f"a{character}b")


def test_exit_2_of_a_copilot_hook_denies_a_permission() -> None:
    request = Event("approval.request", CALL.facts)
    answer = parse(ResultFormat.COPILOT, {"behavior": "allow", "message": "no", "interrupt": True}, 2, event=request)
    assert (answer.verdict, answer.reason, answer.halt) == (Verdict.DENY, "no", True)
    for stdout in ("", "no JSON", '{"message": 5}', '{"message": "a", "message": "b"}'):
        answer = counts_as(ResultFormat.COPILOT, stdout, 2, "not this", event=request)
        assert (answer.verdict, answer.reason) == (Verdict.DENY, "not this")
    with pytest.raises(ActionError):
        parse(ResultFormat.COPILOT, "", 1, "broken", event=request)


@pytest.mark.parametrize("indent", [None, 2])
def test_progress_of_a_copilot_hook_is_no_answer(indent: int | None) -> None:
    """Copilot takes progress out of the output, wherever it stands."""
    deny, progress = json.dumps(DENIES["copilot"], indent=indent), '{"type": "progress", "message": "checked"}'
    for text in (f"{deny}\n{progress}\n", f"{progress}\n{deny}\n{progress}", f"{progress}\r\n{deny}\r\n"):
        assert parse(ResultFormat.COPILOT, text).verdict is Verdict.DENY
    assert parse(ResultFormat.COPILOT, progress) == Outcome()


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize(
    "around",
    [
        "checking\nANSWER",
        "checking ANSWER",
        "ANSWER\nchecked",
        "ANSWER ANSWER",
        "[ANSWER]",
        'ANSWER\n{"permissionDecision": "allow"}',
        '{"permissionDecision": "allow"}\nANSWER',
        '{"type": "progress"}\nANSWER',  # without a message, it is no progress
        '{"type": "progress", "message": 5}\nANSWER',
        '{"type": "progress", "message": "a"} ANSWER',  # progress has a line of its own
        '{"level": "info"}\nANSWER\n{"level": "info"}',
        '{"level": "info"\nANSWER',
    ],
)
def test_a_deny_is_obeyed_in_output_that_copilot_ignores(around: str, indent: int | None) -> None:
    """Copilot 1.0.102 ignores output that is anything but one object and progress. Nothing else is read there."""
    deny = json.dumps(DENIES["copilot"], indent=indent)
    outcome = parse(ResultFormat.COPILOT, around.replace("ANSWER", deny))
    assert (outcome.verdict, outcome.reason) == (Verdict.DENY, "no")
    change = json.dumps({"modifiedArgs": {"command": "ls"}, "additionalContext": "x"}, indent=indent)
    assert counts_as(ResultFormat.COPILOT, around.replace("ANSWER", change)) == Outcome()


def test_progress_of_a_copilot_hook_has_a_message() -> None:
    """Seen in Copilot CLI 1.0.102: without one, it is the answer."""
    deny = DENIES["copilot"]
    assert parse(ResultFormat.COPILOT, {"type": "progress", **deny}).verdict is Verdict.DENY
    assert parse(ResultFormat.COPILOT, {"type": "progress", "message": "", **deny}) == Outcome()
    assert parse(ResultFormat.COPILOT, json.dumps({"type": "progress", "message": "a"}, indent=2)) == Outcome()


@pytest.mark.parametrize(
    ("format", "lines"),
    [
        *((each, "{}") for each in AGENTS if each not in (ResultFormat.CURSOR, ResultFormat.GEMINI)),
        (ResultFormat.CLINE, "checking\nHOOK_CONTROL\t{}"),
    ],
)
def test_an_answer_that_is_not_json_is_a_failure(format: ResultFormat, lines: str) -> None:
    """It may have been a deny: shell text that quotes a command often is no JSON."""
    with pytest.raises(ActionError, match="invalid JSON"):
        parse(format, lines.replace("{}", '{"cancel": true, "decision": "deny", "reason": "no "rm" here"}'))


def counts_as(
    format: ResultFormat, stdout: Any = "", exit_code: int = 0, stderr: str = "", event: Event = CALL
) -> Outcome:
    """The outcome, or what its failure counts as."""
    try:
        return parse(format, stdout, exit_code, stderr, event)
    except ActionError as failed:
        return failed.failure.answer or Outcome()


@pytest.mark.parametrize("format", [each for each in AGENTS if each is not ResultFormat.DROID])
@pytest.mark.parametrize("answer", ALLOWS, ids=json.dumps)
def test_no_answer_allows(format: ResultFormat, answer: dict[str, Any]) -> None:
    assert counts_as(format, answer).verdict is not Verdict.ALLOW


def test_factory_droid_allows_with_claude_codes_answer() -> None:
    assert parse(ResultFormat.DROID, ALLOWS[-1]).verdict is Verdict.ALLOW


@pytest.mark.parametrize("format", [each for each in AGENTS if each is not ResultFormat.CLINE])
def test_exit_code_2_denies(format: ResultFormat) -> None:
    assert parse(format, "", 2, "no").verdict is Verdict.DENY
    assert parse(format, "", 2).verdict is Verdict.DENY


@pytest.mark.parametrize("format", AGENTS)
def test_silence_decides_nothing(format: ResultFormat) -> None:
    assert parse(format) == Outcome()


@pytest.mark.parametrize("format", AGENTS)
@pytest.mark.parametrize(
    "event", ["session.start", "prompt.submit", "tool.after", "stop", "subagent.end", "history.compact"]
)
@pytest.mark.parametrize("answer", [*DENIES.values(), CLAUDE_DENY, {"continue": False}, {"x": [1]}], ids=json.dumps)
def test_no_answer_at_any_event_is_a_bug(format: ResultFormat, event: str, answer: dict[str, Any]) -> None:
    facts = {"tool": {"name": "Bash", "input": {}, "result": "x", "ok": True}} if event == "tool.after" else {}
    for code in (0, 1, 2, 3):
        assert counts_as(format, answer, code, "text", Event(event, facts)).verdict in (Verdict.SILENT, Verdict.DENY)


def test_a_key_that_occurs_twice_is_not_guessed() -> None:
    for format in AGENTS:
        with pytest.raises(ActionError):
            parse(format, '{"permission": "allow", "permission": "deny", "cancel": false, "cancel": true}')
