"""The difference between two texts, as people read it."""

from __future__ import annotations

import difflib


def diff(before: str | None, after: str | None, file: str) -> str:
    """Unified; None is no file."""
    names = ["/dev/null" if text is None else file for text in (before, after)]
    lines = difflib.unified_diff(
        (before or "").splitlines(keepends=True), (after or "").splitlines(keepends=True), names[0], names[1]
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)
