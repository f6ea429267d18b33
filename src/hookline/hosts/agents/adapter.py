"""The frame of every coding agent's module: which event it is, whose facts, and an answer within its ability."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hooks.protocols import May
from hookline.hosts.agents.agent import Ability, AgentEvent, DialectLayer, ParsedPayload, Reply
from hookline.hosts.agents.merged_decision import (
    ENDING_EVENTS,
    MergedDecision,
    limit_to,
    merge_decisions,
    replace_surrogates,
)
from hookline.hosts.agents.payload import Facts

ABILITY_EFFECTS: Final = {
    "deny": May.DENY,
    "ask": May.ASK,
    "allow": May.ALLOW,
    "change": May.CHANGE,
    "context": May.NOTES,
    "halt": May.HALT,
    "user": May.NOTES,
}


def agent_event(name: str, event: str, able: str = "", **instead: str) -> AgentEvent:
    """An event of an agent, with the words for what it can be told: deny ask allow change context halt user."""
    words = able.split()
    can: dict[str, Any] = {word: word in words for word in ABILITY_EFFECTS}
    return AgentEvent(name, event, Ability(**can, instead={**_describe_substitutes(event, words), **instead}))


def _describe_substitutes(event: str, able: Sequence[str]) -> dict[str, str]:
    """What becomes of each answer that the event takes here and the agent cannot be given."""
    takes = EVENTS[event].accepts
    nearest = {
        "deny": "told to the agent" if "context" in able else "told to the user",
        "ask": "deny",
        "allow": "nothing is said",
        "change": _substitute_for_change(event, able),
        "context": "in the reason of a deny, else with the next event that can carry it, else told to the user",
        "halt": _substitute_for_halt(event, able),
        "user": "on stderr",
    }
    return {word: nearest[word] for word, answer in ABILITY_EFFECTS.items() if takes & answer and word not in able}


def _substitute_for_halt(event: str, able: Sequence[str]) -> str:
    if event in ENDING_EVENTS:
        return "it ends anyway; told to the user"
    now = "deny" if "deny" in able else "told to the agent" if "context" in able else "told to the user"
    until = "in that session" if event == "session.start" else "until the next prompt"
    return f"{now}, and no tool runs {until}"


def _substitute_for_change(event: str, able: Sequence[str]) -> str:
    if event == "tool.before":
        return "deny, with the suggested input"
    told = "told to the agent" if "context" in able else "told to the user"
    return told if event == "tool.after" or "deny" not in able else "deny, with the suggested prompt"


@dataclass(frozen=True)
class Adapter(ABC):
    name: str
    title: str
    verified: bool
    events: tuple[AgentEvent, ...]
    project_variables: tuple[str, ...] = ()
    native_layers: frozenset[DialectLayer] = frozenset()
    event_aliases: Mapping[str, str] = field(default_factory=dict)  # names that an event also goes by → as it is listed

    @property
    def vocabulary_name(self) -> str:
        return self.name.replace("-", "_")

    def find_event(self, name: str) -> AgentEvent | None:
        return self._events_by_name.get(self.event_aliases.get(name, name))

    @cached_property
    def _events_by_name(self) -> Mapping[str, AgentEvent]:
        return {each.name: each for each in reversed(self.events)}

    def read(self, name: str, payload: Mapping[str, Any], workspace: str = "") -> ParsedPayload:
        known = self.find_event(name)
        if known is None or not isinstance(payload, Mapping):
            return ParsedPayload(name, payload)
        events = tuple(
            Event(known.event, {"host": {"name": self.name}, **with_directories(facts, workspace)})
            for facts in self.facts(name, known.event, payload)
        )
        return ParsedPayload(name, payload, events)

    def reply(self, parsed: ParsedPayload, decisions: Sequence[Decision]) -> Reply:
        known = self.find_event(parsed.name)
        if known is None or not parsed.events or not EVENTS[known.event].accepts:
            return self.empty_reply()
        answer = limit_to(merge_decisions(parsed.events, decisions), known.ability)
        reply = self.render(parsed, answer)
        return reply if known.ability.user or not answer.message else _append_stderr(reply, answer.message)

    def empty_reply(self) -> Reply:
        """The reply that leaves everything to the agent."""
        return Reply()

    @abstractmethod
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        """The facts of each event that the payload tells of; none where it only looks like one."""

    @abstractmethod
    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        """The answer in the agent's own protocol. It never exceeds the event's ability."""


def with_directories(facts: Facts, workspace: str) -> Facts:
    """The project is where the agent's environment says, else where it works; and the other way round."""
    cwd = facts.get("cwd") or workspace
    return {**facts, "cwd": cwd, "workspace": workspace or facts.get("workspace") or cwd} if cwd else facts


def _append_stderr(reply: Reply, message: str) -> Reply:
    stderr = "\n".join(part for part in (reply.stderr, replace_surrogates(message)) if part)
    return Reply(reply.stdout, stderr, reply.exit_code)
