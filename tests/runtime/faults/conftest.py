from __future__ import annotations

from runtime.storage.conftest import new_database, postgres

__all__ = ["new_database", "postgres"]
