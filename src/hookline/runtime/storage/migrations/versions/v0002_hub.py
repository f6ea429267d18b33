"""The tables of the hub, as they were when this was written. Later changes are later migrations."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"


def upgrade() -> None:
    for name in ("edited", "why", "remember"):
        op.add_column("approvals", sa.Column(name, sa.Text()))
    op.add_column("sessions", sa.Column("hub", sa.Text()))
    _decisions()
    _origins()
    _questions()
    _rules()
    _agents()
    _access()


def _decisions() -> None:
    op.create_table(
        "decisions",
        sa.Column("sequence", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), primary_key=True),
        *_needed("origin"),
        sa.Column("number", sa.BigInteger(), nullable=False),
        *_needed("kind"),
        _time("at"),
        *_needed("host", "session", "thread", "agent", "event", "call", "tool", "verdict", "hook", "outcome", "words"),
        sa.Column("took", sa.Double()),
        *_needed("book", "record", "hash"),
        sa.UniqueConstraint("origin", "number"),
    )
    op.create_index("ix_decisions_session", "decisions", ["session", "sequence"])
    op.create_index("ix_decisions_tool", "decisions", ["tool", "sequence"])
    op.create_index("ix_decisions_at", "decisions", ["at"])
    op.create_index("ix_decisions_call", "decisions", ["call"])
    op.create_index("ix_decisions_hook", "decisions", ["hook", "sequence"], **_where("hook != ''"))
    spoken = "verdict IN ('allow', 'ask', 'deny')"
    op.create_index("ix_decisions_verdict", "decisions", ["verdict", "sequence"], **_where(spoken))
    op.create_table("books", *_needed("hash", "parts"), _time("first"), sa.PrimaryKeyConstraint("hash"))


def _origins() -> None:
    op.create_table(
        "origins",
        *_needed("id", "host", "machine", "user", "workspace"),
        sa.Column("pid", sa.BigInteger()),
        *_needed("version", "key"),
        _time("first"),
        _time("last"),
        _time("skew"),
        sa.Column("begin", sa.BigInteger(), nullable=False),
        sa.Column("number", sa.BigInteger(), nullable=False),
        *_needed("hash"),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("newest", "lost", "removed")),
        *_needed("removed_hash"),
        sa.Column("broken", sa.BigInteger()),
        sa.PrimaryKeyConstraint("id"),
    )


def _questions() -> None:
    op.create_table(
        "questions",
        *_needed("id", "origin", "key", "host", "machine", "user", "session", "agent", "call", "tool", "input"),
        *_needed("input_hash", "reason", "hook"),
        sa.Column("can_edit", sa.Boolean(), nullable=False),
        _time("created"),
        _time("expires"),
        *_needed("state"),
        *_optional("by"),
        sa.Column("answered_at", sa.Double()),
        *_optional("edited", "why", "remember"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_questions_session", "questions", ["session", "created"])
    op.create_index("ix_questions_waiting", "questions", ["created"], **_where("state = 'waiting'"))


def _rules() -> None:
    op.create_table(
        "rule_sets",
        *_needed("id", "title", "agent", "workspace", "dialect"),
        sa.Column("head", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "rule_versions",
        *_needed("set"),
        sa.Column("number", sa.BigInteger(), nullable=False),
        *_needed("text", "by"),
        _time("at"),
        *_needed("note"),
        sa.ForeignKeyConstraint(["set"], ["rule_sets.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("set", "number"),
    )


def _agents() -> None:
    op.create_table(
        "agents",
        *_needed("id", "name", "prompt", "model", "tools", "network", "workspace", "by"),
        _time("created"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "page_states",
        *_needed("session", "dom"),
        _time("saved"),
        sa.ForeignKeyConstraint(["session"], ["sessions.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("session"),
    )


def _access() -> None:
    op.create_table(
        "users",
        *_needed("id", "name", "role"),
        *_optional("subject"),
        _time("created"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("name"),
        sa.UniqueConstraint("subject"),
    )
    op.create_table(
        "credentials",
        *_needed("hash", "id", "kind", "name"),
        *_optional("user"),
        *_needed("role"),
        _time("created"),
        sa.Column("expires", sa.Double()),
        sa.Column("used", sa.Double()),
        sa.ForeignKeyConstraint(["user"], ["users.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("hash"),
        sa.UniqueConstraint("id"),
    )
    op.create_index("ix_credentials_user", "credentials", ["user"])
    op.create_table("hubs", *_needed("id", "url"), _time("seen"), sa.PrimaryKeyConstraint("id"))


def _needed(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text(), nullable=False) for name in names]


def _optional(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.Text()) for name in names]


def _time(name: str) -> sa.Column[float]:
    return sa.Column(name, sa.Double(), nullable=False)


def _where(condition: str) -> dict[str, Any]:
    return {"sqlite_where": sa.text(condition), "postgresql_where": sa.text(condition)}
