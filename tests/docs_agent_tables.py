"""The tables in the pages about coding agents, generated from the agents' modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial

from hookline.hooks.events import EVENTS
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.agent import Proof
from hookline.hosts.agents.agent_event import ABILITY_EFFECTS, AgentEvent

PROOFS = {
    Proof.RUN: "running it in the tests",
    Proof.CAPTURES: "captures of a run",
    Proof.SOURCE: "its source",
    Proof.DOCUMENTATION: "its documentation",
}
_HEADS = {
    "deny": "deny",
    "ask": "ask",
    "allow": "allow",
    "change": "change",
    "context": "tell the agent",
    "halt": "halt",
    "user": "tell the user",
}


def _ability_cell(event: AgentEvent, word: str) -> str:
    if not EVENTS[event.event].accepts & ABILITY_EFFECTS[word]:
        return "–"
    can = getattr(event.ability, word)
    return event.ability.instead.get(word, "yes") if can else f"*{event.ability.instead[word]}*"


def _row(first: Iterable[str], event: AgentEvent) -> list[str]:
    return [*first, *(_ability_cell(event, word) for word in _HEADS)]


def _overview(table: Callable[..., str]) -> str:
    rows = []
    for name in AGENT_NAMES:
        agent = get_agent(name)
        before = next(each for each in agent.events if each.event == "tool.before")
        known = (PROOFS[agent.proof], ", ".join(agent.versions) or "–")
        rows.append(_row((f"[{agent.title}]({name}.md)", f"`{name}`", *known), before))
    return table(("agent", "name", "proved by", "version", *_HEADS.values()), rows)


def _events(table: Callable[..., str], name: str) -> str:
    rows = [_row((f"`{each.name}`", f"`{each.event}`"), each) for each in get_agent(name).events]
    return table(("its event", "hookline's event", *_HEADS.values()), rows)


def tables(table: Callable[..., str]) -> dict[str, Callable[[], str]]:
    return {
        "agents": partial(_overview, table),
        **{f"agent-{name}": partial(_events, table, name) for name in AGENT_NAMES},
    }
