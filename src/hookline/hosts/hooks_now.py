"""The hooks that would decide today about a recorded event."""

from __future__ import annotations

from collections.abc import Iterable

from hookline.engine.book import Book
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.project import Source, Trust, load_all


def load_hooks_now(host: str, sources: Iterable[Source], trust: Trust) -> Book:
    """Those of the sources, without the files whose hooks the agent runs itself. Nothing is imported or run."""
    own = get_agent(host).native_layers if host in AGENT_NAMES else frozenset()
    return load_all([each for each in sources if (each.dialect, each.layer) not in own], trust, importing=False)
