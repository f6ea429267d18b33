"""The tables. A change here needs a migration beside those in `migrations/versions`, and its number in VERSION."""

from __future__ import annotations

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

from hookline.runtime.storage.texts import AnyText, Json, Key

VERSION: Final = "0001"
VERSION_TABLE: Final = "hookline_version"

metadata: Final = MetaData()


def _sequence() -> Column[int]:
    return Column("sequence", BigInteger().with_variant(Integer, "sqlite"), primary_key=True)


def _text(name: str) -> Column[str]:
    return Column(name, AnyText, nullable=False)


def _of_session(**also: Any) -> Column[str]:
    return Column("session", Key, ForeignKey("sessions.id", ondelete="CASCADE"), nullable=False, **also)


def _of_thread(**also: Any) -> Column[str]:
    return Column("thread", Key, ForeignKey("threads.id", ondelete="CASCADE"), nullable=False, **also)


sessions: Final = Table(
    "sessions",
    metadata,
    Column("id", Key, primary_key=True),
    _text("app"),
    _text("agent"),
    _text("workspace"),
    _text("user"),
    Column("created", Double, nullable=False),
    Column("last_used", Double, nullable=False, index=True),
    Column("turns", Integer, nullable=False),
    Column("tool_calls", Integer, nullable=False),
    Column("ended", AnyText),
    Column("hooks", Json),
    Column("claim", BigInteger, nullable=False, server_default="0"),  # how often a process has claimed it
)

threads: Final = Table(
    "threads",
    metadata,
    _sequence(),
    Column("id", Key, nullable=False, unique=True),
    _of_session(index=True),
    _text("agent"),
    Column("parent", Key),
    Column("depth", Integer, nullable=False),
    Column("created", Double, nullable=False),
    _text("flow"),
    _text("side"),
    Column("step", Integer, nullable=False),
    Column("turn", Integer),
    Column("call", Key),
    Column("task", AnyText),
    Column("result", Json),
)

messages: Final = Table(
    "messages",
    metadata,
    _sequence(),
    _of_thread(),
    Column("position", BigInteger, nullable=False),
    Column("gone", Key),  # the message that stands in for this one; null while it is in the history
    Column("id", Key, nullable=False),
    Column("role", AnyText),
    Column("content", AnyText),
    Column("name", AnyText),
    Column("tool_calls", AnyText),
    Column("tool_call_id", AnyText),
    Column("created_at", BigInteger),
    Column("parent_id", AnyText),
    Column("depth", BigInteger),
    Column("extra", Json),  # whatever has no column or does not fit it, None included
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
    _sequence(),
    _of_thread(index=True),
    _text("text"),
    _text("place"),
    Column("anchor", AnyText),
    _text("role"),
    _text("position"),
)

tool_calls: Final = Table(
    "tool_calls",
    metadata,
    _sequence(),
    _of_thread(),
    Column("call", Key, nullable=False),
    Column("attempt", Integer, nullable=False),
    _text("name"),
    _text("input_hash"),
    Column("decision", Json, nullable=False),
    Column("approval", AnyText),
    _text("caller"),
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
    Column("id", Key, primary_key=True),
    _of_session(index=True),
    Column("thread", Key, nullable=False),
    Column("call", Key, nullable=False),
    _text("tool"),
    Column("input", Json, nullable=False),
    _text("input_hash"),
    _text("reason"),
    _text("hook"),
    Column("created", Double, nullable=False),
    Column("expires", Double, nullable=False),
    Column("answered", Boolean),
    Column("by", AnyText),
    Column("answered_at", Double),
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
    _of_thread(primary_key=True),
    Column("path", Key, primary_key=True),
    Column("data", LargeBinary, nullable=False),
    _text("mime_type"),
    Column("size", BigInteger, nullable=False),
)

kept: Final = Table(
    "kept",
    metadata,
    Column("owner", Key, primary_key=True),
    Column("key", Key, primary_key=True),
    Column("value", Json, nullable=False),
)

counts: Final = Table(
    "counts",
    metadata,
    _of_session(primary_key=True),
    Column("counts", Json, nullable=False),
)

queue: Final = Table(
    "queue",
    metadata,
    _sequence(),
    _of_thread(index=True),
    _text("name"),
    Column("input", Json, nullable=False),
)
