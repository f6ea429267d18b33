"""What a sub-agent was started for, and what came of it: one that was cut off goes on."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from hookline.runtime.storage.texts import AnyText, Json, Key

revision: str = "0005"
down_revision: str | None = "0004"


def upgrade() -> None:
    for column in (sa.Column("call", Key), sa.Column("task", AnyText), sa.Column("result", Json)):
        op.add_column("threads", column)
