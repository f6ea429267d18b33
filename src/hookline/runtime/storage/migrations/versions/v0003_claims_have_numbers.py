"""How often a process has claimed a session: who writes under an older number is refused."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"


def upgrade() -> None:
    op.add_column("sessions", sa.Column("claim", sa.BigInteger(), nullable=False, server_default="0"))
