"""Kilo, a fork of opencode: the same plugins, called with the same arguments, in directories of its own."""

from __future__ import annotations

from datetime import timedelta

from hookline.hosts.agents.agent import Proof
from hookline.hosts.agents.opencode import PLUGIN_EVENTS, Opencode

AGENT = Opencode(
    name="kilo",
    title="Kilo",
    proof=Proof.RUN,
    versions=("7.7.7",),
    events=PLUGIN_EVENTS,
    timeout=timedelta(minutes=10),  # Kilo itself has no limit
    programs=("kilo", "kilocode"),
    homes=(),
)
