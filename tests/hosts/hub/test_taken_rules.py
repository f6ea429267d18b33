"""Rules of a hub that a machine takes."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest

from hookline.engine.decision import Decision
from hookline.errors import HooklineError
from hookline.hooks.event import Event
from hookline.hooks.host import NullHost
from hookline.hosts.hub.hub_file import JoinedHub, write_hub_file
from hookline.hosts.hub.record_push import push_records
from hookline.hosts.hub.taken_rules import _keep, drop_rules, take_rules
from hookline.hub.context.running_hub import Hub
from hookline.project import Trust, load_all, trust_file_path
from hookline.project.sources import hub_rules_path
from hub.hub_process import serve_hub
from hub.hub_sandbox import async_test

DENY = {"id": "no-push", "matcher": "^bash$", "inputMatchers": {"command": "git push"}, "action": "deny"}
ALLOW = {"id": "all", "matcher": ".*", "priority": 99, "action": "allow"}
COMMAND = {"id": "tell", "matcher": "^bash$", "command": "touch ran"}


def rules(*hooks: dict[str, Any]) -> str:
    return json.dumps({"hooks": {"PreToolUse": list(hooks)}}, indent=1)


def decision(home: Path, command: str) -> Decision:
    """For a session somewhere below this home."""
    trust = Trust(trust_file_path(home))
    book = load_all(trust.sources(home, home), trust)
    facts = {"tool": {"name": "bash", "input": {"command": command}}, "cwd": str(home)}
    return asyncio.run(book.decide(Event("tool.before", facts), NullHost()))


def decide(home: Path, command: str) -> str:
    return decision(home, command).verdict.name.lower()


def state_of(home: Path) -> Path:
    return trust_file_path(home).parent


def test_a_deny_of_the_hub_counts_and_an_allow_loosens_nothing(tmp_path: Path) -> None:
    own = tmp_path / ".config" / "hookline" / "hookline.yaml"
    own.parent.mkdir(parents=True)
    own.write_text("hooks:\n  - {id: mine, on: tool.before, when: {tool: bash}, then: {ask: 'Sure?'}}\n")
    _keep(state_of(tmp_path), rules(ALLOW, DENY))
    assert decide(tmp_path, "git push") == "deny"
    assert decide(tmp_path, "ls") == "ask"


def test_the_agent_is_told_that_a_rule_of_the_hub_stopped_it(tmp_path: Path) -> None:
    _keep(state_of(tmp_path), rules(DENY))
    told = "A rule of the hub that nobody has trusted yet blocked this (hub rules:4). "
    assert decision(tmp_path, "git push").reason == f"{told}A person can review it with `hookline trust`."


def test_the_agent_is_told_that_the_rules_of_the_hub_cannot_be_read(tmp_path: Path) -> None:
    _keep(state_of(tmp_path), '{"hooks": [')
    held = "The file of the hub's rules, which nobody has trusted yet, cannot be read. `hookline check` says why."
    assert decision(tmp_path, "ls").reason == held


def test_what_it_runs_waits_for_trust(tmp_path: Path) -> None:
    _keep(state_of(tmp_path), rules(COMMAND))
    trust = Trust(trust_file_path(tmp_path))
    waiting = trust.untrusted_sources(trust.sources(tmp_path, tmp_path))
    assert [each.display_path for each in waiting] == ["hub rules"]
    decide(tmp_path, "ls")
    assert not (tmp_path / "ran").exists()
    trust.accept(waiting)
    assert trust.untrusted_sources(trust.sources(tmp_path, tmp_path)) == ()


def test_a_changed_command_waits_again_and_leaving_forgets_all(tmp_path: Path) -> None:
    state, trust = state_of(tmp_path), Trust(trust_file_path(tmp_path))
    _keep(state, rules(COMMAND))
    trust.accept(trust.untrusted_sources(trust.sources(tmp_path, tmp_path)))
    assert _keep(state, rules({**COMMAND, "command": "touch other"}))
    assert len(trust.untrusted_sources(trust.sources(tmp_path, tmp_path))) == 1
    assert drop_rules(state, trust)
    assert trust.sources(tmp_path, tmp_path) == ()
    assert not drop_rules(state, trust)
    _keep(state, rules(COMMAND))
    assert len(trust.untrusted_sources(trust.sources(tmp_path, tmp_path))) == 1


async def joined(hub: Hub) -> JoinedHub:
    key, _ = await hub.access.add_key("a machine")
    return JoinedHub(hub.config.url, key, reports=True, takes_rules=True)


@pytest.mark.slow
@async_test
async def test_rules_are_taken_followed_and_kept_while_the_hub_is_away(tmp_path: Path) -> None:
    state = state_of(tmp_path)
    (tmp_path / "hub").mkdir()
    async with serve_hub(tmp_path / "hub") as (hub, _):
        known = await joined(hub)
        await hub.rules.save("everyone", rules(DENY), 0, "me", "")
        assert await take_rules(state, known)
        assert not await take_rules(state, known)
        assert await asyncio.to_thread(decide, tmp_path, "git push") == "deny"
        await hub.rules.save("everyone", rules(), 1, "me", "")
        write_hub_file(state, known)
        await push_records(state, once=True)
        assert await asyncio.to_thread(decide, tmp_path, "git push") == "silent"
        await hub.rules.save("everyone", rules(DENY), 2, "me", "")
        await take_rules(state, known)
    with pytest.raises(HooklineError, match="cannot be taken"):
        await take_rules(state, known)
    assert await asyncio.to_thread(decide, tmp_path, "git push") == "deny"
    assert os.stat(hub_rules_path(state)).st_mode & 0o077 == 0


@pytest.mark.parametrize(
    "answer", [{}, {"text": 1}, {"text": "[]"}, {"text": '"x"'}, [], {"text": '{"a":"' + "x" * 1_000_001 + '"}'}]
)
def test_what_is_no_rules_is_not_taken(answer: Any) -> None:
    from hookline.hosts.hub.taken_rules import _read_text

    assert _read_text(answer) is None
