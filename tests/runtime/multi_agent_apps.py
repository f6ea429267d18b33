"""Agents with lines of their own: one that starts another, and two that talk to each other."""

from __future__ import annotations

from typing import Any

from hookline.patterns.pattern import pattern
from hookline.runtime.apps.app import Agent, AgentSide, App, Prompt
from hookline.runtime.models.model import CompletionRequest
from hookline.runtime.models.scripted import ModelScript, ScriptedModel, ScriptSection, ScriptStep
from runtime.scripted_runtime import tool_call_step


def make_named_agent(id: str, **side: Any) -> Agent:
    return Agent(id, AgentSide(Prompt(f"{id}_prompt", f"You are the {id}."), **side), description=f"does {id}")


APP = App((make_named_agent("boss"), make_named_agent("reviewer")))
SPAWN = tool_call_step(("agent", {"agent": "reviewer", "prompt": "look at it"}))


class MultiAgentModel(ScriptedModel):
    """Each agent with its own lines, and what it was sent."""

    def __init__(self, **lines: list[ScriptStep | str]) -> None:
        sections = tuple(
            ScriptSection(pattern(rf"the {who}\."), tuple(ScriptStep(say=s) if isinstance(s, str) else s for s in said))
            for who, said in lines.items()
        )
        self.requests: list[CompletionRequest] = []
        super().__init__(ModelScript(sections=sections), on_request=self.requests.append)

    def requests_to(self, who: str) -> list[CompletionRequest]:
        return [each for each in self.requests if f"the {who}." in str(each.messages[0]["content"])]


def messages_to(model: MultiAgentModel, who: str, at: int) -> list[tuple[str, Any]]:
    return [(each["role"], each["content"]) for each in model.requests_to(who)[at].messages[1:]]


def two_sided_app(**options: Any) -> App:
    a, b = (
        AgentSide(Prompt("a_prompt", "You are the buyer."), **options.pop("a", {})),
        AgentSide(Prompt("b_prompt", "You are the seller."), **options.pop("b", {})),
    )
    return App((Agent("market", a, b, **options),))
