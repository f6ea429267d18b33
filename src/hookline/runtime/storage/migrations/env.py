"""What Alembic runs: the connection is ours, and so is its transaction."""

from __future__ import annotations

from alembic import context

from hookline.runtime.storage import hub_tables
from hookline.runtime.storage.tables import VERSION_TABLE

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=hub_tables.decisions.metadata,
    version_table=VERSION_TABLE,
    transactional_ddl=True,
)
context.run_migrations()
