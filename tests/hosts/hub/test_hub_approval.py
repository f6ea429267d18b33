"""A decision that asks becomes what a person answered at the hub."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict
from hookline.hosts.hub.hub_approval import SettledAsk, settle_ask
from hookline.hosts.hub.hub_file import AskAt, JoinedHub
from hookline.hosts.hub.hub_questions import HubQuestion
from hookline.hosts.hub.running_hubs import find_hub
from hookline.hub.context.running_hub import Hub
from hookline.project import load_text
from hub.hub_process import serve_hub
from hub.hub_sandbox import eventually

QUESTION = HubQuestion("codex", "s1", "Bash", {"command": "git push"}, "Really?", "ask-push", can_edit=True)
MINUTE = timedelta(minutes=1)


def joined(directory: Path) -> JoinedHub:
    found = find_hub(directory)
    assert found is not None
    return found


async def waiting(hub: Hub) -> dict[str, Any]:
    await eventually(lambda: hub.approvals.waiting())
    (found,) = await hub.approvals.waiting()
    return found


GUARD = load_text(
    "hooks: [{id: no-rm, on: tool.before, when: {runs: {program: rm}}, then: {deny: Never.}}]", "hookline.yaml"
)


@pytest.mark.parametrize(
    ("edited", "can_edit", "verdict"),
    [
        (None, True, Verdict.ALLOW),
        ({"command": "git push --dry-run"}, True, Verdict.ALLOW),
        ({"command": "rm -rf /"}, True, Verdict.DENY),
        ({"command": "git push --dry-run"}, False, Verdict.DENY),
    ],
)
def test_a_changed_input_is_decided_again(
    tmp_path: Path, edited: dict[str, Any] | None, can_edit: bool, verdict: Verdict
) -> None:
    event = Event("tool.before", {"tool": {"name": "Bash", "input": {"command": "git push"}}})

    async def work() -> SettledAsk | None:
        async with serve_hub(tmp_path) as (hub, _):
            asked = Decision(event, Verdict.ASK, "Really?", "ask-push")
            settling = asyncio.ensure_future(settle_ask(joined(tmp_path), asked, MINUTE, can_edit, GUARD.decide))
            await hub.approvals.answer((await waiting(hub))["id"], True, "maria", edited=edited)
            return await settling

    settled = asyncio.run(work())
    assert settled is not None
    assert settled.decision.verdict is verdict
    if verdict is Verdict.ALLOW:
        assert settled.decision.event.facts["tool"]["input"] == (edited or {"command": "git push"})


def test_the_hub_is_told_if_hooks_deny_what_a_person_let_run(tmp_path: Path) -> None:
    """Also without a record of this host."""
    event = Event("tool.before", {"tool": {"name": "Bash", "input": {"command": "git push"}}})

    async def work(command: str) -> tuple[Any, ...]:
        async with serve_hub(tmp_path) as (hub, _):
            asked = Decision(event, Verdict.ASK, "Really?", "ask-push")
            settling = asyncio.ensure_future(settle_ask(joined(tmp_path), asked, MINUTE, True, GUARD.decide))
            id = (await waiting(hub))["id"]
            await hub.approvals.answer(id, True, "maria", edited={"command": command}, remember="session")
            assert await settling is not None
            found = await hub.approvals.find(id)
            assert found is not None
            return found["state"], found["by"], found["edited"]

    assert asyncio.run(work("rm -rf /")) == ("denied", "maria", {"command": "rm -rf /"})
    assert asyncio.run(work("git push --dry-run")) == ("approved", "maria", {"command": "git push --dry-run"})


def test_a_hub_that_ends_before_it_is_told_holds_nobody_up(tmp_path: Path) -> None:
    event = Event("tool.before", {"tool": {"name": "Bash", "input": {"command": "git push"}}})

    async def work() -> SettledAsk | None:
        is_deciding, has_ended = asyncio.Event(), asyncio.Event()

        async def decide(edited: Event) -> Decision:
            is_deciding.set()
            await has_ended.wait()
            return await GUARD.decide(edited)

        async with serve_hub(tmp_path) as (hub, _):
            asked = Decision(event, Verdict.ASK, "Really?", "ask-push")
            settling = asyncio.ensure_future(settle_ask(joined(tmp_path), asked, MINUTE, True, decide))
            id = (await waiting(hub))["id"]
            await hub.approvals.answer(id, True, "maria", edited={"command": "rm -rf /"})
            await is_deciding.wait()
        has_ended.set()
        async with asyncio.timeout(10):
            return await settling

    settled = asyncio.run(work())
    assert settled is not None
    assert settled.decision.denied


def test_asking_at_the_hub_is_a_setting(tmp_path: Path) -> None:
    from hookline.hosts.hub.hub_approval import should_ask_hub

    attended = Event("tool.before", {"session": {"mode": "default"}})
    unattended = Event("tool.before", {"session": {"mode": "bypassPermissions"}})
    hub = {each: JoinedHub("http://127.0.0.1:1", "k", ask=each) for each in AskAt}
    assert not should_ask_hub(hub[AskAt.AUTO], attended, can_ask=True)
    assert should_ask_hub(hub[AskAt.AUTO], attended, can_ask=False)
    assert should_ask_hub(hub[AskAt.AUTO], unattended, can_ask=True)
    assert should_ask_hub(hub[AskAt.HUB], attended, can_ask=True)
    assert not should_ask_hub(hub[AskAt.HOST], unattended, can_ask=False)
