"""What a framework's agents can be told, as its adapter declares it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from hookline.lazy_dataclasses import dataclass, field

ANSWERS: Final[dict[str, str]] = {
    "deny": "deny",
    "ask": "ask",
    "change": "change the input",
    "result": "change the result",
    "prompt": "change the prompt",
    "request": "change the request",
    "tell": "tell the agent",
    "halt": "halt",
    "continue": "deny a stop",
}
"""What hooks can answer, as the columns of the documentation."""


SESSION_EVENTS: Final = ("session.start", "agent.start", "thread.created", "agent.end", "session.end")
PROMPT_EVENTS: Final = ("prompt.submit", "message.create", "message.created")
MODEL_EVENTS: Final = ("session.first_turn", "turn.start", "turn.end", "model.error")
REQUEST_EVENTS: Final = ("history.system", "history.filter", "history.request")
TOOL_EVENTS: Final = (
    "tool.before",
    "approval.request",
    "tool.succeeded",
    "tool.failed",
    "tool.after",
    "tool.store",
)
SUBAGENT_EVENTS: Final = ("subagent.created", "subagent.start", "subagent.end")
ALL_EVENTS: Final = (
    *SESSION_EVENTS,
    *PROMPT_EVENTS,
    *MODEL_EVENTS,
    *REQUEST_EVENTS,
    *TOOL_EVENTS,
    *SUBAGENT_EVENTS,
    "stop",
)


@dataclass(frozen=True, slots=True)
class FrameworkSupport:
    """`answers` has, for each of ANSWERS, what happens: "yes", or text in italics for the safe nearest."""

    name: str  # of the module and of the host in records
    title: str
    package: str  # on PyPI
    extra: str  # pip install 'hookline[extra]'
    version: str  # with which the tests run
    installs_as: str  # the line that puts hooks in force
    events: tuple[str, ...]
    answers: Mapping[str, str] = field(default_factory=dict)
    keeps_requests: bool = False  # what hooks change in a request stays in the framework's history
    pauses: bool = False  # the framework can wait for a person without keeping the process
    covers_subagents: str = "no: put it in each agent"

    def answer(self, word: str) -> str:
        return self.answers.get(word, "yes")
