"""What is kept: SQLite or PostgreSQL, one schema."""
