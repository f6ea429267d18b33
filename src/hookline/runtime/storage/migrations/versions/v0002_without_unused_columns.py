"""Columns that nothing was ever written to are gone."""

from __future__ import annotations

from alembic import op

revision: str = "0002"
down_revision: str | None = "0001"


def upgrade() -> None:
    op.drop_column("sessions", "data")
    for unused in ("prompt", "state", "data"):
        op.drop_column("threads", unused)
