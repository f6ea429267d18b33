"""Codex rejects a reply that does not match its schemas exactly, and then runs the tool."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import example, given
from hypothesis import strategies as some

from agent_payloads import FIXTURES, decisions, event_name, payloads
from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.outcome import Audience, Note, Verdict
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.agent import Reply

CODEX = get_agent("codex")
SENT = payloads("codex")
_FILES = {
    "PreToolUse": "pre-tool-use",
    "PermissionRequest": "permission-request",
    "PostToolUse": "post-tool-use",
    "PreCompact": "pre-compact",
    "SessionStart": "session-start",
    "SessionEnd": "session-end",
    "UserPromptSubmit": "user-prompt-submit",
    "SubagentStart": "subagent-start",
    "SubagentStop": "subagent-stop",
    "Stop": "stop",
}


def _schema(event: str, direction: str) -> Any:
    return json.loads(
        (FIXTURES / f"captures/codex_schemas/{_FILES[event]}.command.{direction}.schema.json").read_text("utf-8")
    )


def _check_reply(event: str, reply: Reply) -> dict[str, Any]:
    """Holds the reply against the schema and the rules beyond it that Codex's parser knows."""
    assert reply.exit_code == 0
    assert not reply.stderr
    if not reply.stdout:
        return {}
    output: dict[str, Any] = json.loads(reply.stdout)
    jsonschema.validate(output, _schema(event, "output"))
    specific = output.get("hookSpecificOutput", {})
    if event in ("PreToolUse", "PermissionRequest"):
        assert not {"continue", "stopReason", "suppressOutput", "decision", "reason"} & output.keys()
    decision = specific.get("permissionDecision")
    assert decision in (None, "allow", "deny")
    assert (decision == "allow") == ("updatedInput" in specific)
    if decision == "deny":
        assert specific["permissionDecisionReason"].strip()
        assert "additionalContext" not in specific
    else:
        assert "permissionDecisionReason" not in specific
    assert not {"updatedInput", "updatedPermissions", "interrupt"} & specific.get("decision", {}).keys()
    assert "updatedMCPToolOutput" not in specific
    assert ("decision" in output) == ("reason" in output)
    assert output.get("reason", "x").strip()
    return output


@pytest.mark.parametrize("file", SENT)
def test_payloads_match_codex_schemas(file: str) -> None:
    jsonschema.validate(SENT[file], _schema(event_name(file), "input"))


@pytest.mark.parametrize("file", SENT)
def test_codex_accepts_every_reply(file: str) -> None:
    events = CODEX.read(event_name(file), SENT[file]).events
    for _, decide in decisions(events[0]):
        _check_reply(
            event_name(file), CODEX.reply(CODEX.read(event_name(file), SENT[file]), [decide(event) for event in events])
        )


_NOTES = some.lists(some.builds(Note, some.text(), some.sampled_from(Audience)), max_size=3).map(tuple)


@example("PostToolUse", Verdict.SILENT, "", False, (), "\x85")
@given(
    file=some.sampled_from(sorted(SENT)),
    verdict=some.sampled_from(Verdict),
    reason=some.text(),
    halt=some.booleans(),
    notes=_NOTES,
    new=some.none() | some.text() | some.dictionaries(some.text(), some.text() | some.floats()),
)
def test_codex_accepts_the_reply_to_any_decision(
    file: str, verdict: Verdict, reason: str, halt: bool, notes: tuple[Note, ...], new: Any
) -> None:
    events = CODEX.read(event_name(file), SENT[file]).events

    def changed(event: Event) -> Event:
        return (
            event
            if new is None
            else event.with_changes(((("tool", "input"), new), (("prompt",), new), (("tool", "result"), new)))
        )

    results = [Decision(changed(event), verdict, reason, None, halt, notes) for event in events]
    output = _check_reply(event_name(file), CODEX.reply(CODEX.read(event_name(file), SENT[file]), results))
    if event_name(file) == "PreToolUse" and (verdict >= Verdict.ASK or halt):
        assert output["hookSpecificOutput"]["permissionDecision"] == "deny"


def test_an_allow_without_a_change_is_not_sent() -> None:
    payload = SENT["PreToolUse"]
    (event,) = CODEX.read("PreToolUse", payload).events
    assert CODEX.reply(CODEX.read("PreToolUse", payload), [Decision(event, Verdict.ALLOW, "fine")]) == Reply()


def test_a_patch_is_one_call_for_each_file() -> None:
    events = CODEX.read("PreToolUse", SENT["PreToolUse-apply_patch"]).events
    edits = [(event.facts["tool"]["kind"], event.facts["tool"]["input"]["path"]) for event in events]
    assert edits == [("edit", "src/app.py"), ("edit", "src/main.py"), ("write", ".env"), ("edit", "notes.txt")]
    assert {event.facts["tool"]["name"] for event in events} == {"apply_patch"}


def test_a_change_to_one_file_of_a_patch_is_suggested() -> None:
    payload = SENT["PreToolUse-apply_patch"]
    one, *others = CODEX.read("PreToolUse", payload).events
    results = [Decision(one.with_changes(((("tool", "input", "path"), "src/b.py"),))), *map(Decision, others)]
    specific = json.loads(CODEX.reply(CODEX.read("PreToolUse", payload), results).stdout)["hookSpecificOutput"]
    assert specific["permissionDecision"] == "deny"
    assert "src/b.py" in specific["permissionDecisionReason"]


def test_a_patch_in_a_shell_command_is_a_shell_call_and_edits() -> None:
    command = "cd src && apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: .env\n+A=1\n*** End Patch\nEOF\necho done"
    shell, file = CODEX.read("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": command}}).events
    assert (shell.facts["tool"]["kind"], shell.facts["tool"]["input"]) == ("shell", {"command": command})
    assert (file.facts["tool"]["name"], file.facts["tool"]["kind"]) == ("apply_patch", "write")
    assert file.facts["tool"]["input"]["path"] == ".env"


def test_every_patch_of_a_shell_command_is_an_event() -> None:
    one, other = (f"apply_patch '*** Begin Patch\n*** Delete File: {path}\n*** End Patch'" for path in "ab")
    _, *files = CODEX.read("PreToolUse", {"tool_name": "Bash", "tool_input": {"command": f"{one}; {other}"}}).events
    assert [file.facts["tool"]["input"]["path"] for file in files] == ["a", "b"]
