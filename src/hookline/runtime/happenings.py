"""What whoever watches a session is told, as it happens."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from hookline.engine.account import Decision
from hookline.hooks.host import Notice, ToolResult
from hookline.runtime.gate import Call


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
class Happening:
    thread: str
    agent: str
    speaker: str = field(default="", kw_only=True)  # of two AIs, the one whose turn it is: its label, else its side


@dataclass(frozen=True, slots=True)
class Spoke(Happening):
    """A piece of the agent's answer."""

    text: str


@dataclass(frozen=True, slots=True)
class Decided(Happening):
    """Hooks were asked, and at least one had something to say."""

    decision: Decision


@dataclass(frozen=True, slots=True)
class Calling(Happening):
    """A tool is called; `call` as its caller wanted it, the decision as the hooks left it."""

    call: Call
    decision: Decision


@dataclass(frozen=True, slots=True)
class Called(Happening):
    call: Call
    result: ToolResult  # as its caller sees it
    ran: bool


@dataclass(frozen=True, slots=True)
class Asked(Happening):
    """A person has to say whether a call may run."""

    approval: str
    tool: str
    input: dict[str, Any]
    reason: str
    hook: str


@dataclass(frozen=True, slots=True)
class Answered(Happening):
    approval: str
    yes: bool
    by: str


@dataclass(frozen=True, slots=True)
class Told(Happening):
    """A line for the person: a hook's words, or something that went wrong."""

    text: str
    level: str = "info"
    hook: str = ""


@dataclass(frozen=True, slots=True)
class Noticed(Happening):
    notice: Notice


@dataclass(frozen=True, slots=True)
class TryingAgain(Happening):
    """A call of the model failed; what it had said so far does not count."""

    code: str
    text: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Compacted(Happening):
    gone: int
    summary: str


@dataclass(frozen=True, slots=True)
class Spawned(Happening):
    """An agent started another one."""

    child: str
    child_agent: str
    task: str


@dataclass(frozen=True, slots=True)
class Ended(Happening):
    """The exchange is over; `text` is the answer, or why there is none."""

    ending: Ending
    text: str
