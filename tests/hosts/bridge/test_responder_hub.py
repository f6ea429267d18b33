"""An `ask` in a coding agent that cannot ask waits at the hub, within the agent's own time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from bridge_sandbox import BridgeSandbox
from hookline.hosts.agents.agent import Reply
from hookline.hosts.bridge.hook_cache import HookCache
from hookline.hosts.bridge.responder import respond, respond_now
from hookline.hosts.hub.hub_file import AskAt
from hookline.hub.context.running_hub import Hub
from hookline.record.record_log import LogFilter, RecordLog
from hookline.record.segment import record_directory
from hub.hub_process import serve_hub
from hub.hub_sandbox import eventually

pytestmark = pytest.mark.slow

HOOKS = """
hooks:
  - {id: ask-push, on: tool.before, when: {runs: {program: git, subcommand: push}}, then: {ask: Really?}}
  - {id: no-rm, on: tool.before, when: {runs: {program: rm}}, then: {deny: Never.}}
"""


def state(desk: BridgeSandbox) -> Path:
    return desk.home / ".local" / "state" / "hookline"


def ask(
    desk: BridgeSandbox, answer: Callable[[Hub, str], Awaitable[Any]] | None, agent: str = "codex", **more: Any
) -> Reply:
    desk.write_hooks(HOOKS)
    state(desk).mkdir(parents=True, exist_ok=True)

    async def work() -> Reply:
        async with serve_hub(state(desk)) as (hub, _):
            cache = HookCache()
            call = desk.call(desk.payload("git push"), agent=agent, **more)
            assert respond_now(call, cache) is None
            replying = asyncio.ensure_future(respond(call, cache))
            if answer is not None:
                await eventually(lambda: hub.approvals.waiting())
                ((waiting),) = await hub.approvals.waiting()
                await answer(hub, waiting["id"])
            reply = await replying
            cache.close()
            return reply

    return asyncio.run(work())


def permission(reply: Reply) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(reply.stdout)["hookSpecificOutput"] if reply.stdout else {}
    return found


def test_a_yes_lets_the_agent_go_on(desk: BridgeSandbox) -> None:
    reply = ask(desk, lambda hub, id: hub.approvals.answer(id, True, "maria"))
    assert permission(reply).get("permissionDecision") != "deny"
    assert reply.exit_code == 0


def test_a_no_denies_with_who_said_it(desk: BridgeSandbox) -> None:
    reply = ask(desk, lambda hub, id: hub.approvals.answer(id, False, "maria", why="not today"))
    said = permission(reply)
    assert said["permissionDecision"] == "deny"
    assert "maria denied it: not today" in said["permissionDecisionReason"]


def test_a_changed_input_is_what_runs_if_the_hooks_agree(desk: BridgeSandbox) -> None:
    reply = ask(desk, lambda hub, id: hub.approvals.answer(id, True, "maria", edited={"command": "git push --dry-run"}))
    assert permission(reply)["updatedInput"] == {"command": "git push --dry-run"}


def test_a_changed_input_that_the_hooks_deny_does_not_run(desk: BridgeSandbox) -> None:
    reply = ask(desk, lambda hub, id: hub.approvals.answer(id, True, "maria", edited={"command": "rm -rf /"}))
    assert permission(reply)["permissionDecision"] == "deny"
    assert "Never." in permission(reply)["permissionDecisionReason"]


@pytest.mark.parametrize(("edited", "outcome"), [("rm -rf /", "refused"), ("git push --dry-run", "approved")])
def test_the_record_tells_whether_hooks_let_the_changed_input_run(
    desk: BridgeSandbox, edited: str, outcome: str
) -> None:
    ask(desk, lambda hub, id: hub.approvals.answer(id, True, "maria", edited={"command": edited}))
    rows = RecordLog(record_directory(state(desk)), LogFilter(event="tool.before")).latest(10)
    assert [row["outcome"] for row in rows if row["verdict"] == "ask"][:1] == [outcome]


def test_nobody_answers_and_the_agent_is_denied_in_time(desk: BridgeSandbox) -> None:
    reply = ask(desk, None, spent=timedelta(seconds=588))
    assert permission(reply)["permissionDecision"] == "deny"
    assert "(no answer from the hub)" in permission(reply)["permissionDecisionReason"]


def test_a_hub_that_has_ended_is_said_to_have_ended(desk: BridgeSandbox) -> None:
    desk.write_hooks(HOOKS)
    state(desk).mkdir(parents=True, exist_ok=True)

    async def work() -> Reply:
        async with serve_hub(state(desk)):
            pass
        cache = HookCache()
        reply = await respond(desk.call(desk.payload("git push"), agent="codex"), cache)
        cache.close()
        return reply

    said = permission(asyncio.run(work()))
    assert said["permissionDecision"] == "deny"
    assert "Really? (the hub has ended: `hookline hub` starts it)" in said["permissionDecisionReason"]


def test_an_agent_that_can_ask_asks_by_itself(desk: BridgeSandbox) -> None:
    desk.write_hooks(HOOKS)
    state(desk).mkdir(parents=True, exist_ok=True)

    async def work(at: AskAt) -> Reply | None:
        async with serve_hub(state(desk), approvals_ask=str(at)) as (hub, _):
            cache = HookCache()
            call = desk.call(desk.payload("git push"), agent="claude-code")
            replying = asyncio.ensure_future(respond(call, cache))
            if at is AskAt.HUB:
                await eventually(lambda: hub.approvals.waiting())
                ((waiting),) = await hub.approvals.waiting()
                await hub.approvals.answer(waiting["id"], True, "maria")
            reply = await replying
            cache.close()
            return reply

    asked = asyncio.run(work(AskAt.AUTO))
    assert asked is not None
    assert permission(asked)["permissionDecision"] == "ask"
    allowed = asyncio.run(work(AskAt.HUB))
    assert allowed is not None
    assert permission(allowed)["permissionDecision"] == "allow"
