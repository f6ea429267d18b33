"""Agents with lines of their own: one that starts another, and two that talk to each other."""

from __future__ import annotations

from typing import Any

from hookline.patterns.pattern import pattern
from hookline.runtime.app import Agent, App, Prompt, Side
from hookline.runtime.models.model import Request
from hookline.runtime.models.script import Script, ScriptedModel, Section, Step
from runtime.agents import calls


def cast_agent(id: str, **side: Any) -> Agent:
    return Agent(id, Side(Prompt(f"{id}_prompt", f"You are the {id}."), **side), description=f"does {id}")


APP = App((cast_agent("boss"), cast_agent("reviewer")))
SPAWN = calls(("agent", {"agent": "reviewer", "prompt": "look at it"}))


class Cast(ScriptedModel):
    """Each agent with its own lines, and what it was sent."""

    def __init__(self, **lines: list[Step | str]) -> None:
        sections = tuple(
            Section(pattern(rf"the {who}\."), tuple(Step(say=s) if isinstance(s, str) else s for s in said))
            for who, said in lines.items()
        )
        self.requests: list[Request] = []
        super().__init__(Script(sections=sections), heard=self.requests.append)

    def sent_to(self, who: str) -> list[Request]:
        return [each for each in self.requests if f"the {who}." in str(each.messages[0]["content"])]


def heard_by(model: Cast, who: str, at: int) -> list[tuple[str, Any]]:
    return [(each["role"], each["content"]) for each in model.sent_to(who)[at].messages[1:]]


def two(**options: Any) -> App:
    a, b = (
        Side(Prompt("a_prompt", "You are the buyer."), **options.pop("a", {})),
        Side(Prompt("b_prompt", "You are the seller."), **options.pop("b", {})),
    )
    return App((Agent("market", a, b, **options),))
