"""What a decision can do at an agent's event, and what happens instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.hooks.events import EVENTS
from hookline.hosts.agents.agent_event import ABILITY_EFFECTS, BLOCKING_PREFIXES, FAIL_CLOSED_EVENTS, agent_event
from hookline.hosts.bridge import client


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("able", ["", "deny", "deny context", "deny ask allow change context halt user"])
def test_every_answer_that_the_agent_cannot_use_has_a_substitute(event: str, able: str) -> None:
    ability = agent_event("Its name", event, able).ability
    accepted = {word for word, effect in ABILITY_EFFECTS.items() if EVENTS[event].accepts & effect}
    assert set(ability.instead) == accepted - set(able.split())
    assert {word for word in ABILITY_EFFECTS if getattr(ability, word)} == set(able.split())
    assert all(ability.instead.values())


def test_a_change_that_the_agent_cannot_use_denies_the_tool() -> None:
    assert agent_event("Pre", "tool.before", "deny").ability.instead["change"] == "deny, with the suggested input"
    assert agent_event("Pre", "tool.before", "deny").ability.instead["ask"] == "deny"


def test_an_agents_own_substitute_wins() -> None:
    assert agent_event("Pre", "tool.before", "deny", ask="deny: it never asks").ability.instead["ask"] == (
        "deny: it never asks"
    )


@pytest.mark.parametrize(
    ("event", "instead"),
    [
        ("stop", "it ends anyway; shown to the user"),
        ("session.start", "deny, and no tool runs in that session"),
        ("tool.before", "deny, and no tool runs until the next prompt"),
    ],
)
def test_a_halt_that_the_agent_cannot_use_stops_its_tools(event: str, instead: str) -> None:
    assert agent_event("Its name", event, "deny").ability.instead["halt"] == instead


def test_events_that_fail_closed_can_be_denied_and_stop_is_not_among_them() -> None:
    assert all(EVENTS[name].accepts & ABILITY_EFFECTS["deny"] for name in FAIL_CLOSED_EVENTS)
    assert "stop" not in FAIL_CLOSED_EVENTS


def test_the_bridges_clients_know_the_same_blocking_events() -> None:
    assert client.BLOCKING_PREFIXES == BLOCKING_PREFIXES
    compiled = Path(client.__file__).with_name("client.c").read_text("utf-8")
    assert all(f'"{prefix}"' in compiled for prefix in BLOCKING_PREFIXES)
