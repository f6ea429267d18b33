"""What a store keeps, as values. Times are seconds since 1970."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class SessionRow:
    id: str
    app: str
    agent: str
    workspace: str
    user: str
    created: float
    last_used: float
    turns: int = 0
    tool_calls: int = 0
    ended: str | None = None  # why; None while it goes on
    hooks: dict[str, Any] | None = None  # as dialects.stored writes them


@dataclass(frozen=True, slots=True)
class ThreadRow:
    id: str
    session: str
    agent: str
    parent: str | None
    depth: int
    created: float
    flow: str = ""
    side: str = "a"
    step: int = 0
    call: str | None = None  # its parent's, that started it
    task: str | None = None  # what for
    result: dict[str, Any] | None = None  # what its parent got of it; None while it goes on
    turn: int | None = None  # the one that goes on, or was cut off; None between two turns


@dataclass(frozen=True, slots=True)
class Injection:
    """Text of a hook for the model, bound to the stored message `anchor`; None: to the thread's system prompt."""

    text: str
    place: str
    anchor: str | None
    role: str = "user"
    position: str = "end"


@dataclass(frozen=True, slots=True)
class CallRow:
    """One attempt at a tool call. `ended` is None for one that runs, or that a crash cut off."""

    thread: str
    call: str
    name: str
    input_hash: str
    decision: dict[str, Any]
    attempt: int = 1
    approval: str | None = None
    caller: str = ""
    begun: float = 0
    ended: float | None = None
    ok: bool | None = None
    result: str | None = None
    error: str | None = None


@dataclass(frozen=True, slots=True)
class QueuedRow:
    """A tool that waits for its turn."""

    sequence: int
    name: str
    input: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ApprovalRow:
    id: str
    session: str
    thread: str
    call: str
    tool: str
    input: dict[str, Any]
    input_hash: str
    reason: str
    hook: str
    created: float
    expires: float
    answered: bool | None = None  # None: nobody has yet
    by: str | None = None
    answered_at: float | None = None
