"""The hooks that would decide today about a recorded event."""

from __future__ import annotations

from collections.abc import Iterable

from hookline.engine.book import Book
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.project import Source, Trust, load_all


def load_hooks_now(host: str, sources: Iterable[Source], trust: Trust) -> Book:
    """Those of the sources, without the files whose hooks the agent runs itself. Nothing is imported or run."""
    agent = get_agent(host) if host in AGENT_NAMES else None
    ours = [each for each in sources if agent is None or not agent.runs_hooks_of(each)]
    return load_all(ours, trust, importing=False)
