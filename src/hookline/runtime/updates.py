"""What whoever watches a session is told, as it happens."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hookline.engine.decision import Decision
from hookline.hooks.host import Notice, ToolResult
from hookline.runtime.gate import ToolCall


class Ending(StrEnum):
    """Why an exchange is over."""

    ANSWERED = "answered"
    REFUSED = "refused"  # hooks did not let the prompt pass
    HALTED = "halted"  # hooks stopped the agent
    STEPS = "steps"  # it made all the steps that it may
    SESSION_STOP = "session_stop"  # a tool that ends the session succeeded
    SESSION_FAIL = "session_fail"
    FAILED = "failed"  # the model, the store or a message hook
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Update:
    thread: str
    agent: str
    speaker: str = field(default="", kw_only=True)  # of two AIs, the one whose turn it is: its label, else its side


@dataclass(frozen=True, slots=True)
class TextDelta(Update):
    """A piece of the agent's answer."""

    text: str


@dataclass(frozen=True, slots=True)
class DecisionMade(Update):
    """Hooks were asked, and at least one had something to say."""

    decision: Decision


@dataclass(frozen=True, slots=True)
class ToolCallStarted(Update):
    """A tool is called; `call` as its caller wanted it, the decision as the hooks left it."""

    call: ToolCall
    decision: Decision


@dataclass(frozen=True, slots=True)
class ToolCallFinished(Update):
    call: ToolCall
    result: ToolResult  # as its caller sees it
    ran: bool


@dataclass(frozen=True, slots=True)
class ApprovalRequested(Update):
    """A person has to say whether a call may run."""

    approval: str
    tool: str
    input: dict[str, Any]
    reason: str
    hook: str


@dataclass(frozen=True, slots=True)
class ApprovalAnswered(Update):
    approval: str
    yes: bool
    by: str


@dataclass(frozen=True, slots=True)
class StatusMessage(Update):
    """A line for the person: a hook's words, or something that went wrong."""

    text: str
    level: str = "info"
    hook: str = ""


@dataclass(frozen=True, slots=True)
class Notification(Update):
    notice: Notice


@dataclass(frozen=True, slots=True)
class ModelRetry(Update):
    """A call of the model failed; what it had said so far does not count."""

    code: str
    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class HistoryCompacted(Update):
    gone: int
    summary: str


@dataclass(frozen=True, slots=True)
class SubagentStarted(Update):
    """An agent started another one."""

    child: str
    child_agent: str
    task: str


@dataclass(frozen=True, slots=True)
class ExchangeEnded(Update):
    """The exchange is over; `text` is the answer, or why there is none."""

    ending: Ending
    text: str
