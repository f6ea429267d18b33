"""What only the Claude Agent SDK has: hooks of the program beside ours, which Claude Code calls at the same time."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from claude_agent_sdk import HookMatcher, PermissionResultAllow
from driver_claude_agent_sdk import TOOL, _converse, scripted_options
from trial import CONFIG, Trial, record

from hookline.frameworks.claude_agent_sdk import HooklineHooks


def rewriting(command: str, decision: str = "allow") -> HookMatcher:
    async def rewrite(payload: Any, tool_use_id: str | None, context: Any) -> Any:
        if payload["tool_name"] != TOOL:
            return {}
        specific = {"hookEventName": "PreToolUse", "permissionDecision": decision}
        return {"hookSpecificOutput": {**specific, "updatedInput": {"command": command}}}

    return HookMatcher(hooks=[rewrite])


def run_with(trial: Trial, matcher: HookMatcher, place: int) -> None:
    hooks = HooklineHooks(**trial.options)
    hooks["PreToolUse"].insert(place, matcher)
    try:
        with scripted_options(trial, hooks=hooks) as options:
            asyncio.run(_converse(trial, options))
    finally:
        hooks.close()


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("command", ["echo a", "echo plain"])
def test_an_input_that_another_hook_gives_is_decided_about(place: int, command: str) -> None:
    trial = Trial([[command]])
    run_with(trial, rewriting("rm x"), place)
    assert trial.ran == []
    assert "Not rm." in trial.read_last
    assert ("deny", "no-rm") in [(each["verdict"], each["hook"]) for each in record()]


@pytest.mark.parametrize("place", [0, 1])
def test_hooks_change_what_another_hook_gives(place: int) -> None:
    trial = Trial([["echo a"]])
    run_with(trial, rewriting("echo plain"), place)
    assert trial.ran == ["echo altered"]


@pytest.mark.parametrize("is_first", [False, True])
def test_hooks_in_lists_of_the_program_are_the_same(is_first: bool) -> None:
    trial = Trial([["echo a"]])
    ours = HooklineHooks(**trial.options)
    other = rewriting("rm x")
    listed = [other, *ours["PreToolUse"]] if is_first else [*ours["PreToolUse"], other]
    try:
        with scripted_options(trial, hooks={**ours, "PreToolUse": listed}) as options:
            asyncio.run(_converse(trial, options))
    finally:
        ours.close()
    assert trial.ran == []
    assert "Not rm." in trial.read_last


def test_a_deny_of_another_hook_stays() -> None:
    trial = Trial([["echo a"]])
    run_with(trial, rewriting("echo b", "deny"), 1)
    assert trial.ran == []


def test_a_hook_that_changes_nothing_stays_as_it_is() -> None:
    async def look(payload: Any, tool_use_id: str | None, context: Any) -> Any:
        return {}

    trial = Trial([["echo a"]])
    run_with(trial, HookMatcher(hooks=[look]), 1)
    assert trial.ran == ["echo a"]
    assert len([each for each in record() if each["event"] == "tool.before"]) == 1


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("command", ["rm x", "echo plain", "git push", "echo halt-me", "echo b"])
def test_an_input_that_a_permission_gives_is_decided_about(command: str, in_place: bool) -> None:
    async def can_use_tool(name: str, input: Any, context: Any) -> Any:
        if in_place:
            input["command"] = command
            return PermissionResultAllow()
        return PermissionResultAllow(updated_input={"command": command})

    trial = Trial([["git push origin"]])
    hooks = HooklineHooks(**trial.options)
    try:
        with scripted_options(trial, hooks=hooks, can_use_tool=can_use_tool) as options:
            asyncio.run(_converse(trial, options))
    finally:
        hooks.close()
    assert trial.ran == {"echo plain": ["echo altered"], "echo b": ["echo b"]}.get(command, [])
    reasons = {"rm x": "Not rm.", "git push": "This pushes."}
    assert reasons.get(command, "") in trial.read_last
    assert len(trial.requests) == (1 if command == "echo halt-me" else 2)


def test_a_permission_that_changes_nothing_stays_as_it_is() -> None:
    async def can_use_tool(name: str, input: Any, context: Any) -> Any:
        return PermissionResultAllow()

    trial = Trial([["git push"]])
    hooks = HooklineHooks(**trial.options)
    try:
        with scripted_options(trial, hooks=hooks, can_use_tool=can_use_tool) as options:
            asyncio.run(_converse(trial, options))
    finally:
        hooks.close()
    assert trial.ran == ["git push"]
    assert len([each for each in record() if each["event"] == "tool.before"]) == 1


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize("command", ["rm x", "echo plain", "git push", "echo halt-me", "echo a"])
def test_an_input_that_a_permission_hook_gives_is_decided_about(command: str, in_place: bool) -> None:
    async def permit(payload: Any, tool_use_id: str | None, context: Any) -> Any:
        given = payload["tool_input"] if in_place else {}
        given["command"] = command
        decision = {"behavior": "allow", "updatedInput": given}
        return {"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": decision}}

    trial = Trial([["echo a"]])
    hooks = HooklineHooks(**trial.options)
    hooks["PermissionRequest"].append(HookMatcher(hooks=[permit]))
    try:
        with scripted_options(trial, hooks=hooks) as options:
            options.allowed_tools = []
            asyncio.run(_converse(trial, options))
    finally:
        hooks.close()
    assert trial.ran == {"echo plain": ["echo altered"], "echo a": ["echo a"]}.get(command, [])
    assert {"rm x": "Not rm.", "git push": "This pushes."}.get(command, "") in trial.read_last
    assert len(trial.requests) == (1 if command == "echo halt-me" else 2)


def test_calls_after_a_halt_are_recorded_under_the_same_name() -> None:
    hooks = HooklineHooks(config=CONFIG)
    (matcher,) = hooks["PreToolUse"]

    async def call(command: str) -> Any:
        payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/tmp", "tool_name": TOOL}
        return await matcher.hooks[0]({**payload, "tool_input": {"command": command}}, f"toolu_{command}", {})

    for command in ("echo halt-me", "echo a"):
        assert asyncio.run(call(command))["continue_"] is False
    hooks.close()
    calls = [(each["verdict"], each["host"]) for each in record() if each["event"] == "tool.before"]
    assert calls == [("deny", "claude_agent_sdk")] * 2
