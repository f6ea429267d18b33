"""One table of every host: coding agents and Python frameworks, what they can be told, and how that was proved."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import docs_agent_tables
import docs_framework_tables
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.agent import CodingAgent

_COLUMNS = {
    "deny": ("tool.before", "deny"),
    "ask": ("tool.before", "ask"),
    "change the input": ("tool.before", "change"),
    "change the result": ("tool.after", "change"),
    "tell the agent": ("", "context"),
    "halt": ("tool.before", "halt"),
    "deny a stop": ("stop", "deny"),
}
"""Column → the event (any, if empty) and the ability of an agent there."""
_FRAMEWORK_WORDS = {
    "deny": "deny",
    "ask": "ask",
    "change the input": "change",
    "change the result": "result",
    "tell the agent": "tell",
    "halt": "halt",
    "deny a stop": "continue",
}


def _can(agent: CodingAgent, event: str, ability: str) -> bool:
    return any(getattr(each.ability, ability) for each in agent.events if event in ("", each.event))


def _agent_rows() -> Iterator[list[str]]:
    for agent in map(get_agent, AGENT_NAMES):
        cells = ["yes" if _can(agent, *wanted) else "–" for wanted in _COLUMNS.values()]
        known = [docs_agent_tables.PROOFS[agent.proof], ", ".join(agent.versions) or "–"]
        yield [f"[{agent.title}]({agent.name}.md)", *cells, *known]


def _framework_rows() -> Iterator[list[str]]:
    for each in docs_framework_tables.all_support():
        answers = ("yes" if each.answer(_FRAMEWORK_WORDS[column]).startswith("yes") else "–" for column in _COLUMNS)
        anchor = each.title.lower().replace(" ", "-")
        known = ["running it in the tests", f"{each.package} {each.version}"]
        yield [f"[{each.title}](../frameworks/README.md#{anchor})", *answers, *known]


def _hosts(table: Callable[..., str]) -> str:
    return table(("host", *_COLUMNS, "proved by", "version"), [*_agent_rows(), *_framework_rows()])


def tables(table: Callable[..., str]) -> dict[str, Callable[[], str]]:
    return {"hosts": partial(_hosts, table)}
