"""The first tables, as they were when this was written. Later changes are later migrations."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None


def upgrade() -> None:
    _sessions()
    _threads()
    _messages()
    _calls()
    _approvals()
    _values()


def _sessions() -> None:
    op.create_table(
        "sessions",
        *_needed("id", "app", "agent", "workspace", "user"),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("last_used", sa.Double(), nullable=False),
        sa.Column("turns", sa.Integer(), nullable=False),
        sa.Column("tool_calls", sa.Integer(), nullable=False),
        *_optional("ended", "hooks"),
        sa.Column("claim", sa.BigInteger(), nullable=False, server_default="0"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_sessions_last_used", "sessions", ["last_used"])


def _threads() -> None:
    op.create_table(
        "threads",
        _sequence(),
        *_needed("id", "session", "agent"),
        *_optional("parent"),
        sa.Column("depth", sa.Integer(), nullable=False),
        sa.Column("created", sa.Double(), nullable=False),
        *_needed("flow", "side"),
        sa.Column("step", sa.Integer(), nullable=False),
        sa.Column("turn", sa.Integer()),
        *_optional("call", "task", "result"),
        _of("session", "sessions"),
        sa.UniqueConstraint("id"),
    )
    op.create_index("ix_threads_session", "threads", ["session"])


def _messages() -> None:
    op.create_table(
        "messages",
        _sequence(),
        *_needed("thread"),
        sa.Column("position", sa.BigInteger(), nullable=False),
        *_optional("gone"),
        *_needed("id"),
        *_optional("role", "content", "name", "tool_calls", "tool_call_id"),
        sa.Column("created_at", sa.BigInteger()),
        *_optional("parent_id"),
        sa.Column("depth", sa.BigInteger()),
        *_optional("extra"),
        _of("thread", "threads"),
        sa.UniqueConstraint("thread", "id"),
    )
    op.create_index("ix_messages_history", "messages", ["thread", "position"], unique=True, **_where("gone IS NULL"))
    op.create_table(
        "injections",
        _sequence(),
        *_needed("thread", "text", "place"),
        *_optional("anchor"),
        *_needed("role", "position"),
        _of("thread", "threads"),
    )
    op.create_index("ix_injections_thread", "injections", ["thread"])


def _calls() -> None:
    op.create_table(
        "tool_calls",
        _sequence(),
        *_needed("thread", "call"),
        sa.Column("attempt", sa.Integer(), nullable=False),
        *_needed("name", "input_hash", "decision"),
        *_optional("approval"),
        *_needed("caller"),
        sa.Column("begun", sa.Double(), nullable=False),
        sa.Column("ended", sa.Double()),
        sa.Column("ok", sa.Boolean()),
        *_optional("result", "error"),
        _of("thread", "threads"),
        sa.UniqueConstraint("thread", "call", "attempt"),
    )
    op.create_table("queue", _sequence(), *_needed("thread", "name", "input"), _of("thread", "threads"))
    op.create_index("ix_queue_thread", "queue", ["thread"])


def _approvals() -> None:
    op.create_table(
        "approvals",
        *_needed("id", "session", "thread", "call", "tool", "input", "input_hash", "reason", "hook"),
        sa.Column("created", sa.Double(), nullable=False),
        sa.Column("expires", sa.Double(), nullable=False),
        sa.Column("answered", sa.Boolean()),
        *_optional("by"),
        sa.Column("answered_at", sa.Double()),
        _of("session", "sessions"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_approvals_session", "approvals", ["session"])
    op.create_index("ix_approvals_call", "approvals", ["thread", "call"])
    op.create_index("ix_approvals_waiting", "approvals", ["created"], **_where("answered IS NULL"))


def _values() -> None:
    op.create_table(
        "files",
        *_needed("thread", "path"),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        *_needed("mime_type"),
        sa.Column("size", sa.BigInteger(), nullable=False),
        _of("thread", "threads"),
        sa.PrimaryKeyConstraint("thread", "path"),
    )
    op.create_table("kept", *_needed("owner", "key", "value"), sa.PrimaryKeyConstraint("owner", "key"))
    op.create_table(
        "counts", *_needed("session", "counts"), _of("session", "sessions"), sa.PrimaryKeyConstraint("session")
    )


def _sequence() -> sa.Column[int]:
    return sa.Column("sequence", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True)


def _needed(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _optional(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text()) for name in names]


def _of(column: str, table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint([column], [f"{table}.id"], ondelete="CASCADE")


def _where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}
