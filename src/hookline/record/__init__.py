"""The record: every decision, kept in the user's state directory."""
