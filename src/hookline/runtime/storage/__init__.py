"""Storage in SQLite or PostgreSQL, with one schema."""
