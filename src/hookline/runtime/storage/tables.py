"""The tables and their rows. Times are seconds since 1970.

If you change a table, add a migration in `migrations/versions` and set VERSION to its number.
"""

from __future__ import annotations

import time
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    Table,
    UniqueConstraint,
)

from hookline.lazy_dataclasses import dataclass, field
from hookline.runtime.storage.columns import AnyText, JsonText, KeyText


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
    ended: str | None = None  # why it ended; None while it is active
    hooks: dict[str, Any] | None = None  # as session_hooks.dump_session_hooks writes them


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
    call: str | None = None  # the parent's call that started it
    task: str | None = None  # the task it was started for
    result: dict[str, Any] | None = None  # the result for its parent; None while it runs
    turn: int | None = None  # the turn that is running or was interrupted; between turns, ~ the next one


@dataclass(frozen=True, slots=True)
class Injection:
    """Text from a hook for the model, attached to the stored message `anchor`, or to the system prompt if it is None."""

    text: str
    place: str
    anchor: str | None
    role: str = "user"
    position: str = "end"


@dataclass(frozen=True, slots=True)
class CallRow:
    """One attempt at a tool call. `ended` is None while it runs, and if a crash interrupted it."""

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
class CallEnd:
    """How an attempt at a tool call ended. The result is None if only the end is to be recorded."""

    thread: str
    call: str
    attempt: int
    ok: bool
    result: str | None = None
    error: str | None = None
    ended: float = field(default_factory=time.time)


@dataclass(frozen=True, slots=True)
class QueuedToolRow:
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
    answered: bool | None = None  # None: not answered yet
    by: str | None = None
    answered_at: float | None = None
    edited: dict[str, Any] | None = None  # the input as the person changed it
    why: str | None = None
    remember: str | None = None


VERSION: Final = "0003"
VERSION_TABLE: Final = "hookline_version"

metadata: Final = MetaData()


def _sequence_column() -> Column[int]:
    return Column("sequence", BigInteger().with_variant(Integer, "sqlite"), primary_key=True)


def _text_column(name: str) -> Column[str]:
    return Column(name, AnyText, nullable=False)


def _session_column(**also: Any) -> Column[str]:
    return Column("session", KeyText, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False, **also)


def _thread_column(**also: Any) -> Column[str]:
    return Column("thread", KeyText, ForeignKey("threads.id", ondelete="CASCADE"), nullable=False, **also)


sessions: Final = Table(
    "sessions",
    metadata,
    Column("id", KeyText, primary_key=True),
    _text_column("app"),
    _text_column("agent"),
    _text_column("workspace"),
    _text_column("user"),
    Column("created", Double, nullable=False),
    Column("last_used", Double, nullable=False, index=True),
    Column("turns", Integer, nullable=False),
    Column("tool_calls", Integer, nullable=False),
    Column("ended", AnyText),
    Column("hooks", JsonText),
    Column("claim", BigInteger, nullable=False, server_default="0"),  # how often a process has claimed it
    Column("hub", KeyText),  # the hub that runs it
)

threads: Final = Table(
    "threads",
    metadata,
    _sequence_column(),
    Column("id", KeyText, nullable=False, unique=True),
    _session_column(index=True),
    _text_column("agent"),
    Column("parent", KeyText),
    Column("depth", Integer, nullable=False),
    Column("created", Double, nullable=False),
    _text_column("flow"),
    _text_column("side"),
    Column("step", Integer, nullable=False),
    Column("turn", Integer),
    Column("call", KeyText),
    Column("task", AnyText),
    Column("result", JsonText),
)

messages: Final = Table(
    "messages",
    metadata,
    _sequence_column(),
    _thread_column(),
    Column("position", BigInteger, nullable=False),
    Column("gone", KeyText),  # the message that replaced this one; null while it is in the history
    Column("id", KeyText, nullable=False),
    Column("role", AnyText),
    Column("content", AnyText),
    Column("name", AnyText),
    Column("tool_calls", AnyText),
    Column("tool_call_id", AnyText),
    Column("created_at", BigInteger),
    Column("parent_id", AnyText),
    Column("depth", BigInteger),
    Column("extra", JsonText),  # every key without a column, and values that do not fit theirs, such as None
    UniqueConstraint("thread", "id"),
)
Index(
    "ix_messages_history",
    messages.c.thread,
    messages.c.position,
    unique=True,
    sqlite_where=messages.c.gone.is_(None),
    postgresql_where=messages.c.gone.is_(None),
)

injections: Final = Table(
    "injections",
    metadata,
    _sequence_column(),
    _thread_column(index=True),
    _text_column("text"),
    _text_column("place"),
    Column("anchor", AnyText),
    _text_column("role"),
    _text_column("position"),
)

tool_calls: Final = Table(
    "tool_calls",
    metadata,
    _sequence_column(),
    _thread_column(),
    Column("call", KeyText, nullable=False),
    Column("attempt", Integer, nullable=False),
    _text_column("name"),
    _text_column("input_hash"),
    Column("decision", JsonText, nullable=False),
    Column("approval", AnyText),
    _text_column("caller"),
    Column("begun", Double, nullable=False),
    Column("ended", Double),
    Column("ok", Boolean),
    Column("result", AnyText),
    Column("error", AnyText),
    UniqueConstraint("thread", "call", "attempt"),
)

approvals: Final = Table(
    "approvals",
    metadata,
    Column("id", KeyText, primary_key=True),
    _session_column(index=True),
    Column("thread", KeyText, nullable=False),
    Column("call", KeyText, nullable=False),
    _text_column("tool"),
    Column("input", JsonText, nullable=False),
    _text_column("input_hash"),
    _text_column("reason"),
    _text_column("hook"),
    Column("created", Double, nullable=False),
    Column("expires", Double, nullable=False),
    Column("answered", Boolean),
    Column("by", AnyText),
    Column("answered_at", Double),
    Column("edited", JsonText),  # the input as the person changed it
    Column("why", AnyText),
    Column("remember", AnyText),
)
Index("ix_approvals_call", approvals.c.thread, approvals.c.call)
Index(
    "ix_approvals_waiting",
    approvals.c.created,
    sqlite_where=approvals.c.answered.is_(None),
    postgresql_where=approvals.c.answered.is_(None),
)

files: Final = Table(
    "files",
    metadata,
    _thread_column(primary_key=True),
    Column("path", KeyText, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    _text_column("mime_type"),
    Column("size", BigInteger, nullable=False),
)

key_values: Final = Table(
    "kept",
    metadata,
    Column("owner", KeyText, primary_key=True),
    Column("key", KeyText, primary_key=True),
    Column("value", JsonText, nullable=False),
)

counts: Final = Table(
    "counts",
    metadata,
    _session_column(primary_key=True),
    Column("counts", JsonText, nullable=False),
)

queue: Final = Table(
    "queue",
    metadata,
    _sequence_column(),
    _thread_column(index=True),
    _text_column("name"),
    Column("input", JsonText, nullable=False),
)
