"""Proves that hooks stop every event of a kind, or finds one that they do not stop."""
