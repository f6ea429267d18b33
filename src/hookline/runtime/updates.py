"""Updates that a session emits while it runs."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from hookline.engine.decision import Decision
from hookline.hooks.host import Notice, ToolResult
from hookline.lazy_dataclasses import dataclass, field
from hookline.runtime.gate import ToolCall


class Ending(StrEnum):
    """Why an exchange is over."""

    ANSWERED = "answered"
    REFUSED = "refused"  # hooks denied the prompt
    HALTED = "halted"  # hooks stopped the agent
    STEPS = "steps"  # the step limit was reached
    SESSION_STOP = "session_stop"  # a tool that ends the session succeeded
    SESSION_FAIL = "session_fail"
    FAILED = "failed"  # the model, the store or a message hook
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True)
class Update:
    thread: str
    agent: str
    speaker: str = field(default="", kw_only=True)  # with two AIs: label or side of the current one


@dataclass(frozen=True, slots=True)
class TextDelta(Update):
    """A piece of the agent's answer."""

    text: str


@dataclass(frozen=True, slots=True)
class DecisionMade(Update):
    """Hooks decided about an event, and at least one applied or failed."""

    decision: Decision


@dataclass(frozen=True, slots=True)
class ToolCallStarted(Update):
    """A tool call starts; `call` as requested, `decision` with the changes of hooks."""

    call: ToolCall
    decision: Decision


@dataclass(frozen=True, slots=True)
class ToolCallFinished(Update):
    call: ToolCall
    result: ToolResult  # as its caller sees it
    ran: bool


@dataclass(frozen=True, slots=True)
class ApprovalRequested(Update):
    """A call needs a person's approval."""

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
    """A line for the user: a hook's text, or something that went wrong."""

    text: str
    level: str = "info"
    hook: str = ""


@dataclass(frozen=True, slots=True)
class Notification(Update):
    notice: Notice


@dataclass(frozen=True, slots=True)
class ModelRetry(Update):
    """A model call failed and is retried; discard the text it has sent so far."""

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
