"""The turn that a thread is in: whoever goes on after a crash ends that one."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision: str = "0004"
down_revision: str | None = "0003"


def upgrade() -> None:
    op.add_column("threads", sa.Column("turn", sa.Integer()))
