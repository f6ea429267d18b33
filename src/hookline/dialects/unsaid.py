"""What a dialect has no words for."""

from __future__ import annotations


class Unsaid(Exception):
    """Its text names the thing, for the one who converts a file."""
