"""Which processes run, of those that report to a hub."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0003"
down_revision: str | None = "0002"


def upgrade() -> None:
    op.add_column("origins", sa.Column("running", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.add_column("origins", sa.Column("seen", sa.Double(), nullable=False, server_default="0"))
