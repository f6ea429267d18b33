"""An event of a coding agent, what a decision can do there, and what happens instead where it cannot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

from hookline.hooks.events import ENDING_EVENTS, EVENTS
from hookline.hooks.protocols import May
from hookline.lazy_dataclasses import dataclass, field

FAIL_CLOSED_EVENTS: Final = frozenset({"tool.before", "approval.request", "prompt.submit", "subagent.start"})
"""Denied when no decision can be made. `stop` is not among them: denying it makes the agent continue."""

BLOCKING_PREFIXES: Final = (
    "pretool",
    "beforetool",
    "beforeshell",
    "beforemcp",
    "beforeread",
    "pre_",
    "tool.execute",
    "permission",
)
"""How the agents' names of blocking events begin. The bridge's clients, which import nothing, have the same list."""

ABILITY_EFFECTS: Final = {
    "deny": May.DENY,
    "ask": May.ASK,
    "allow": May.ALLOW,
    "change": May.CHANGE,
    "context": May.NOTES,
    "halt": May.HALT,
    "user": May.NOTES,
}


@dataclass(frozen=True, slots=True)
class Ability:
    """What a decision can do at one event of an agent. What it cannot do becomes the nearest safe answer."""

    deny: bool = False
    ask: bool = False
    allow: bool = False
    change: bool = False  # the facts that hooks may change at this event
    context: bool = False  # text for the agent
    halt: bool = False
    user: bool = False  # text for the user, besides the reason of a deny
    instead: Mapping[str, str] = field(default_factory=dict)  # "ask" → "deny: Codex runs the tool when a hook asks"


@dataclass(frozen=True, slots=True)
class AgentEvent:
    name: str  # as the agent calls it
    event: str  # as hookline calls it
    ability: Ability
    timeout: timedelta | None = None  # if it differs from the agent's


def agent_event(name: str, event: str, able: str = "", timeout: timedelta | None = None, **instead: str) -> AgentEvent:
    """`able` lists what a decision can do there: deny ask allow change context halt user."""
    words = able.split()
    can: dict[str, Any] = {word: word in words for word in ABILITY_EFFECTS}
    ability = Ability(**can, instead={**_describe_substitutes(event, words), **instead})
    return AgentEvent(name, event, ability, timeout)


def _describe_substitutes(event: str, able: Sequence[str]) -> dict[str, str]:
    """What happens to each answer that hookline accepts at the event and the agent does not."""
    accepts = EVENTS[event].accepts
    nearest = {
        "deny": _reader(able),
        "ask": "deny",
        "allow": "left to the agent",
        "change": _substitute_for_change(event, able),
        "context": "later",
        "halt": _substitute_for_halt(event, able),
        "user": "on stderr",
    }
    return {word: nearest[word] for word, effect in ABILITY_EFFECTS.items() if accepts & effect and word not in able}


def _substitute_for_halt(event: str, able: Sequence[str]) -> str:
    if event in ENDING_EVENTS:
        return "it ends anyway; shown to the user"
    until = "in that session" if event == "session.start" else "until the next prompt"
    return f"{'deny' if 'deny' in able else _reader(able)}, and no tool runs {until}"


def _substitute_for_change(event: str, able: Sequence[str]) -> str:
    if event == "tool.before":
        return "deny, with the suggested input"
    return _reader(able) if event == "tool.after" or "deny" not in able else "deny, with the suggested prompt"


def _reader(able: Sequence[str]) -> str:
    return "shown to the agent" if "context" in able else "shown to the user"
