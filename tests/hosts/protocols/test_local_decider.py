"""Events of programs that speak an open protocol are decided like those of any other host."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest

from bridge_sandbox import GUARD, BridgeSandbox
from hookline.engine.decision import Decision
from hookline.errors import InvalidEvent
from hookline.hooks.events import MAX_DENIED_STOPS
from hookline.hooks.outcome import Verdict
from hookline.hosts.bridge.hook_cache import HookCache, LoadOnce
from hookline.hosts.protocols.local_decider import DecideRequest, LocalDecider

RM = {"tool": {"name": "bash", "input": {"command": "rm x"}}}


def decider(desk: BridgeSandbox, engine: HookCache | LoadOnce | None = None) -> LocalDecider:
    environment = {os.fsencode(name): os.fsencode(value) for name, value in desk.environment.items()}
    return LocalDecider(engine or LoadOnce(), environment)


def decide(desk: BridgeSandbox, facts: Mapping[str, Any], event: str = "tool.before", **more: Any) -> Decision:
    request = DecideRequest(event, facts, "my-agent", desk.project, **more)
    return asyncio.run(decider(desk).decide(request))


def test_the_hooks_of_the_directory_decide(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    denied = decide(desk, RM, session="s")
    assert (denied.verdict, denied.full_reason) == (Verdict.DENY, "Never. (hook no-rm, hookline.yaml:2)")
    assert denied.event.facts["host"] == {"name": "my-agent"}
    assert denied.event.facts["session"] == {"id": "s"}
    assert decide(desk, {"tool": {"name": "bash", "input": {"command": "ls"}}}).verdict is Verdict.SILENT


def test_the_calls_in_a_call_are_decided(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    calls = [{"name": "bash", "input": {"command": command}} for command in ("ls", "rm x")]
    assert decide(desk, {"tool": {"name": "batch", "input": {"calls": calls}}}).reason == "Never."
    assert not decide(desk, {"tool": {"name": "batch", "input": {"calls": calls[:1]}}}).denied


def test_malformed_facts_are_refused_and_never_pass_a_guard(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    with pytest.raises(InvalidEvent):
        decide(desk, {"tool": "bash"})


def test_programs_get_the_environment_of_the_caller(desk: BridgeSandbox) -> None:
    desk.variables["MARK"] = "here"
    desk.write_hooks('hooks: [{on: tool.before, then: {run: "test \\"$MARK\\" = here && exit 1", reads: nonzero}}]')
    assert decide(desk, RM).denied


def test_a_hook_that_takes_too_long_counts_as_its_on_error(desk: BridgeSandbox) -> None:
    desk.write_hooks("hooks: [{id: slow, on: tool.before, on_error: closed, then: {run: sleep 30, reads: nonzero}}]")
    decision = decide(desk, RM, timeout=timedelta(seconds=0.2))
    assert decision.denied
    assert [str(failure.kind) for failure in decision.failures] == ["timeout"]


def test_stops_are_not_denied_for_ever(desk: BridgeSandbox) -> None:
    desk.write_hooks("hooks: [{id: go-on, on: stop, then: {deny: Go on.}}]")
    verdicts = [decide(desk, {}, "stop", session="s").denied for _ in range(MAX_DENIED_STOPS + 1)]
    assert verdicts == [True] * MAX_DENIED_STOPS + [False]


def test_a_hook_learns_that_the_agent_was_kept_from_stopping(desk: BridgeSandbox) -> None:
    desk.write_hooks("hooks: [{id: once, on: stop, when: {not: {fact: {stop.active: true}}}, then: {deny: Go on.}}]")
    assert [decide(desk, {}, "stop", session="s").denied for _ in range(2)] == [True, False]


def test_the_user_is_told_once_about_a_file_with_errors(desk: BridgeSandbox) -> None:
    desk.write_hooks("hooks: [{id: a, on: tool.before, when: {tol: bash}, then: {deny: x}}]")
    notes = [[note.text for note in decide(desk, RM, session="s").notes] for _ in range(2)]
    assert "tol" in notes[0][0]
    assert notes[1] == []


def test_limits_count_per_session(desk: BridgeSandbox) -> None:
    desk.write_hooks("hooks: [{id: a, on: tool.before, max_fires: 1, then: {deny: Once.}}]")
    assert [decide(desk, RM, session=each).denied for each in ("s", "s", "t")] == [True, False, True]


def test_decisions_are_recorded(desk: BridgeSandbox) -> None:
    desk.write_hooks(GUARD)
    decide(desk, RM, session="s")
    kept = [path for path in (desk.home / ".local" / "state" / "hookline").rglob("*") if path.is_file()]
    assert any(b'"my-agent"' in path.read_bytes() for path in kept)
