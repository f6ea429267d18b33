"""Lets an agent stop once hooks have kept it from that too often in a row: one that always denies would never end."""

from __future__ import annotations

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.events import ENDING_EVENTS, MAX_DENIED_STOPS
from hookline.hooks.outcome import Audience, Note, Verdict
from hookline.lazy_dataclasses import replace


def lacks_stop_active(event: Event) -> bool:
    """Whether the host leaves open if hooks have already kept the agent from stopping."""
    return event.name in ENDING_EVENTS and not isinstance(event.read(("stop", "active")), bool)


def add_stop_active(event: Event, denied_before: int) -> Event:
    stop = event.facts.get("stop")
    known = {**(stop if isinstance(stop, dict) else {}), "active": denied_before > 0}
    return Event(event.name, {**event.facts, "stop": known})


def denies_stop(decision: Decision) -> bool:
    return decision.denied and not decision.halt


def limit_denied_stops(decision: Decision, denied_before: int) -> Decision:
    """denied_before: how many stops were denied in a row, without this one."""
    if not denies_stop(decision) or denied_before < MAX_DENIED_STOPS:
        return decision
    text = f"hookline: hooks kept the agent from stopping {MAX_DENIED_STOPS} times in a row, so it may stop now"
    notes = (*decision.notes, Note(f"{text}: {decision.full_reason}", Audience.USER))
    return replace(decision, verdict=Verdict.SILENT, reason="", by=None, notes=notes)
