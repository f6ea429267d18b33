"""The hub's own settings."""
