"""The frame of every coding agent's module: which event it is, whose facts, and an answer within its ability."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

from hookline.engine.account import Decision
from hookline.hooks.action import May
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hosts.agent import Ability, AgentEvent, Files, Reply
from hookline.hosts.answer import ENDINGS, Answer, clean, combined, within
from hookline.hosts.payload import Facts

ANSWERS: Final = {
    "deny": May.DENY,
    "ask": May.ASK,
    "allow": May.ALLOW,
    "change": May.CHANGE,
    "context": May.NOTES,
    "halt": May.HALT,
    "user": May.NOTES,
}


def heard(name: str, event: str, able: str = "", **instead: str) -> AgentEvent:
    """An event of an agent, with the words for what it can be told: deny ask allow change context halt user."""
    words = able.split()
    can: dict[str, Any] = {word: word in words for word in ANSWERS}
    return AgentEvent(name, event, Ability(**can, instead={**_instead(event, words), **instead}))


def _instead(event: str, able: Sequence[str]) -> dict[str, str]:
    """What becomes of each answer that the event takes here and the agent cannot be given."""
    takes = EVENTS[event].accepts
    nearest = {
        "deny": "told to the agent" if "context" in able else "told to the user",
        "ask": "deny",
        "allow": "nothing is said",
        "change": _instead_of_change(event, able),
        "context": "in the reason of a deny, else with the next event that can carry it, else told to the user",
        "halt": _instead_of_halt(event, able),
        "user": "on stderr",
    }
    return {word: nearest[word] for word, answer in ANSWERS.items() if takes & answer and word not in able}


def _instead_of_halt(event: str, able: Sequence[str]) -> str:
    if event in ENDINGS:
        return "it ends anyway; told to the user"
    now = "deny" if "deny" in able else "told to the agent" if "context" in able else "told to the user"
    until = "in that session" if event == "session.start" else "until the next prompt"
    return f"{now}, and no tool runs {until}"


def _instead_of_change(event: str, able: Sequence[str]) -> str:
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
    runs_itself: frozenset[Files] = frozenset()
    also: Mapping[str, str] = field(default_factory=dict)  # names that an event also goes by → as it is listed

    @property
    def tongue(self) -> str:
        return self.name.replace("-", "_")

    def known(self, name: str) -> AgentEvent | None:
        return self._by_name.get(self.also.get(name, name))

    @cached_property
    def _by_name(self) -> Mapping[str, AgentEvent]:
        return {each.name: each for each in reversed(self.events)}

    def read(self, name: str, payload: Mapping[str, Any], workspace: str = "") -> tuple[Event, ...]:
        known = self.known(name)
        if known is None or not isinstance(payload, Mapping):
            return ()
        return tuple(
            Event(known.event, {"host": {"name": self.name}, **placed(facts, workspace)})
            for facts in self.facts(name, known.event, payload)
        )

    def reply(self, name: str, payload: Mapping[str, Any], decisions: Sequence[Decision]) -> Reply:
        known, events = self.known(name), self.read(name, payload)
        if known is None or not events or not EVENTS[known.event].accepts:
            return self.quiet(name)
        answer = within(combined(events, decisions), known.ability)
        reply = self.render(name, known, payload, answer)
        return reply if known.ability.user or not answer.message else _beside(reply, answer.message)

    def quiet(self, name: str) -> Reply:
        """The answer that leaves everything to the agent."""
        return Reply()

    @abstractmethod
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        """The facts of each event that the payload tells of; none where it only looks like one."""

    @abstractmethod
    def render(self, name: str, known: AgentEvent, payload: Mapping[str, Any], answer: Answer) -> Reply:
        """The answer, which is within the event's ability, in the agent's own words."""


def placed(facts: Facts, workspace: str) -> Facts:
    """The project is where the agent's environment says, else where it works; and the other way round."""
    cwd = facts.get("cwd") or workspace
    return {**facts, "cwd": cwd, "workspace": workspace or facts.get("workspace") or cwd} if cwd else facts


def _beside(reply: Reply, message: str) -> Reply:
    stderr = "\n".join(part for part in (reply.stderr, clean(message)) if part)
    return Reply(reply.stdout, stderr, reply.exit_code)
