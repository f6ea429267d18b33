"""What an agent cannot be told at once: later events of the same session make up for it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from agent_payloads import event_name, payloads
from bridge_sandbox import BridgeSandbox
from hookline.hooks.events import MAX_DENIED_STOPS
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.agent import Reply
from hookline.hosts.bridge.hook_cache import LoadOnce
from hookline.hosts.bridge.responder import respond

pytestmark = pytest.mark.slow


HALT = "hooks:\n  - {id: stop, on: tool.before, when: {input: {command: halt}}, then: {halt: Enough.}}\n"
TELL = "hooks:\n  - {id: note, on: tool.before, then: {tell: Short notes.}}\n"


def said(desk: BridgeSandbox, agent: str, event: str, **told: object) -> dict:
    base = {"sessionId" if agent == "copilot-cli" else "session_id": "s", "cwd": str(desk.project)}
    reply = asyncio.run(respond(desk.call(json.dumps({**base, **told}).encode(), event, agent=agent), LoadOnce()))
    return json.loads(reply.stdout or "{}")


def codex(desk: BridgeSandbox, command: str, **more: object) -> dict:
    told = {"tool_name": "Bash", "tool_input": {"command": command}, **more}
    return said(desk, "codex", "PreToolUse", **told).get("hookSpecificOutput", {})


def test_an_agent_that_cannot_be_stopped_may_use_no_tool_until_the_next_prompt(desk: BridgeSandbox) -> None:
    desk.write_hooks(HALT, users=True)
    assert codex(desk, "ls") == {}
    assert codex(desk, "halt")["permissionDecision"] == "deny"
    assert (
        codex(desk, "ls")["permissionDecisionReason"]
        == "A hook has stopped the agent: Enough. (hook stop, ~/.config/hookline/hookline.yaml:2)"
    )
    assert codex(desk, "ls", session_id="another") == {}
    said(desk, "codex", "UserPromptSubmit", prompt="go on")
    assert codex(desk, "ls") == {}


def test_an_agent_that_can_be_stopped_is_not_held_back_later(desk: BridgeSandbox) -> None:
    desk.write_hooks(HALT, users=True)
    tool = {"tool_name": "Bash", "tool_input": {"command": "halt"}}
    assert said(desk, "claude-code", "PreToolUse", **tool)["continue"] is False
    tool["tool_input"] = {"command": "ls"}
    assert said(desk, "claude-code", "PreToolUse", **tool) == {}


def test_a_halt_after_a_tool_holds_the_next_one_back(desk: BridgeSandbox) -> None:
    desk.write_hooks("hooks:\n  - {id: stop, on: tool.after, then: {halt: Enough.}}\n", users=True)
    tool = {"toolName": "bash", "toolArgs": {"command": "ls"}}
    result = {"resultType": "success", "textResultForLlm": "done"}
    assert "Enough." in said(desk, "copilot-cli", "postToolUse", **tool, toolResult=result)["additionalContext"]
    assert said(desk, "copilot-cli", "preToolUse", **tool)["permissionDecision"] == "deny"


def test_a_session_that_was_stopped_at_its_start_stays_so(desk: BridgeSandbox) -> None:
    desk.write_hooks("hooks:\n  - {id: closed, on: session.start, then: {halt: Closed today.}}\n", users=True)
    said(desk, "claude-code", "SessionStart", source="startup")
    for _ in range(2):
        assert "Closed today." in said(desk, "claude-code", "UserPromptSubmit", prompt="go on")["reason"]
    tool = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    assert "deny" in str(said(desk, "claude-code", "PreToolUse", **tool))
    assert said(desk, "claude-code", "UserPromptSubmit", prompt="hi", session_id="another") == {}
    desk.write_hooks("hooks: []\n", users=True)
    said(desk, "claude-code", "SessionStart", source="resume")
    assert said(desk, "claude-code", "UserPromptSubmit", prompt="go on") == {}


@pytest.mark.parametrize(
    ("agent", "before", "after"),
    [("gemini-cli", "BeforeTool", "AfterTool"), ("qwen-code", "PreToolUse", "PostToolUse")],
)
def test_what_cannot_be_told_before_a_tool_is_told_after_it(
    desk: BridgeSandbox, agent: str, before: str, after: str
) -> None:
    desk.write_hooks(TELL, users=True)
    tool = {"tool_name": "run_shell_command", "tool_input": {"command": "ls"}}
    assert said(desk, agent, before, **tool) in ({}, {"decision": "allow"})
    told = said(desk, agent, after, **tool, tool_response={"llmContent": "done", "returnDisplay": ""})
    assert told["hookSpecificOutput"]["additionalContext"] == "Short notes."
    again = said(desk, agent, after, **tool, tool_response={"llmContent": "done", "returnDisplay": ""})
    assert "hookSpecificOutput" not in again


def test_where_no_later_event_can_carry_it_the_user_is_told(desk: BridgeSandbox) -> None:
    desk.write_hooks(TELL, users=True)
    payload = {"agent_action_name": "pre_run_command", "tool_info": {"command_line": "ls", "cwd": str(desk.project)}}
    call = desk.call(json.dumps(payload).encode(), "pre_run_command", agent="windsurf")
    assert asyncio.run(respond(call, LoadOnce())).stderr == "Short notes."


SESSION_KEYS = ("session_id", "sessionId", "conversation_id", "trajectory_id", "taskId", "sessionContext", "sessionKey")
RESULTS = [
    pytest.param(agent, file, id=f"{agent}-{file}")
    for agent in AGENT_NAMES
    for file, payload in payloads(agent).items()
    if [event.name for event in get_agent(agent).read(event_name(file), payload).events][:1] == ["tool.after"]
]


def ends_the_run(reply: dict) -> bool:
    return reply.get("continue") is False or reply.get("cancel") is True


@pytest.mark.parametrize(("agent", "file"), RESULTS)
def test_a_result_that_could_not_be_checked_is_withheld_or_stops_the_agent(
    desk: BridgeSandbox, agent: str, file: str
) -> None:
    guard = "{id: redact, on: tool.after, then: {run: [no-such-redactor]}, on_error: closed}"
    desk.write_hooks(f"hooks:\n  - {guard}\n", users=True)
    known, result = get_agent(agent), payloads(agent)[file]

    def reply_to(name: str, payload: dict) -> Reply:
        return asyncio.run(respond(desk.call(json.dumps(payload).encode(), name, agent=agent), LoadOnce()))

    answer = reply_to(event_name(file), result)
    replaced = json.loads(answer.stdout or "{}")
    event = known.find_event(event_name(file))
    assert event is not None
    if ends_the_run(replaced):
        return
    if event.ability.change:
        assert "[withheld: hook redact could not check it]" in answer.stdout
        assert "Read it as" not in answer.stdout
        return
    before = next(
        (event_name(name), payload)
        for name, payload in payloads(agent).items()
        if [each.name for each in known.read(event_name(name), payload).events][:1] == ["tool.before"]
    )
    same_session = {key: result[key] for key in SESSION_KEYS if key in result}
    held = reply_to(before[0], {**before[1], **same_session})
    assert "This result must not be used: [withheld: hook redact" in held.stdout + held.stderr
    assert reply_to(before[0], in_another_session({**before[1], **same_session})) != held


def in_another_session(payload: Any) -> Any:
    """Some agents name the session inside of a part of the payload."""
    if not isinstance(payload, dict):
        return payload
    return {key: "another" if key in SESSION_KEYS else in_another_session(value) for key, value in payload.items()}


def test_every_agent_has_a_result_that_could_not_be_checked() -> None:
    told = {name for name in AGENT_NAMES if any(each.event == "tool.after" for each in get_agent(name).events)}
    assert {case.values[0] for case in RESULTS} == told


ALWAYS = "hooks:\n  - {id: tests, on: stop, then: {deny: Run the tests.}}\n"


def qwen_stops(desk: BridgeSandbox, **told: object) -> dict:
    return said(desk, "qwen-code", "Stop", **told)


def test_an_agent_that_does_not_say_that_it_was_denied_before_may_stop_at_last(desk: BridgeSandbox) -> None:
    desk.write_hooks(ALWAYS, users=True)
    for _ in range(MAX_DENIED_STOPS):
        assert qwen_stops(desk)["decision"] == "block"
    last = qwen_stops(desk)
    assert "decision" not in last
    assert f"kept the agent from stopping {MAX_DENIED_STOPS} times" in last["systemMessage"]
    assert "Run the tests." in last["systemMessage"]
    assert qwen_stops(desk)["decision"] == "block"  # a new row


def test_a_prompt_begins_a_new_row_of_denied_stops(desk: BridgeSandbox) -> None:
    desk.write_hooks(ALWAYS, users=True)
    for _ in range(2 * MAX_DENIED_STOPS):
        assert qwen_stops(desk)["decision"] == "block"
        said(desk, "qwen-code", "UserPromptSubmit", prompt="go on")


@pytest.mark.parametrize("active", [True, False])
def test_no_agent_is_kept_from_stopping_for_ever(desk: BridgeSandbox, active: bool) -> None:
    """Even one that says itself whether hooks have kept it from stopping."""
    desk.write_hooks(ALWAYS, users=True)
    for _ in range(MAX_DENIED_STOPS):
        assert qwen_stops(desk, stop_hook_active=active)["decision"] == "block"
    assert "decision" not in qwen_stops(desk, stop_hook_active=active)


def test_hooks_know_that_a_stop_was_denied_before(desk: BridgeSandbox) -> None:
    once = "when: {fact: {stop.active: {is: false}}}"
    desk.write_hooks(f"hooks:\n  - {{id: once, on: stop, {once}, then: {{deny: Once.}}}}\n", users=True)
    assert [qwen_stops(desk).get("decision") for _ in range(3)] == ["block", None, "block"]
