"""What somebody's Python values say, as plain facts."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from enum import Enum
from typing import Any, Final

_DEEPEST: Final = 50


def plain(value: Any, depth: int = 0) -> Any:
    """Text, numbers, lists and mappings. A path is its text; what has no plain form is the name of its type."""
    if value is None or type(value) in (str, int, float, bool):
        return value
    if depth > _DEEPEST:
        return "…"
    if isinstance(value, Enum):
        return plain(value.value, depth + 1)
    if isinstance(value, (str, int, float)):
        return str(value) if isinstance(value, str) else value + 0
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, os.PathLike):
        return plain(os.fspath(value), depth + 1)
    return _parts(value, depth)


def _parts(value: Any, depth: int) -> Any:
    if isinstance(value, Mapping):
        return {str(plain(key, depth + 1)): plain(held, depth + 1) for key, held in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(held, depth + 1) for held in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {each.name: plain(getattr(value, each.name, None), depth + 1) for each in dataclasses.fields(value)}
    if callable(getattr(value, "model_dump", None)) and not isinstance(value, type):
        return plain(value.model_dump(), depth + 1)
    return f"<{type(value).__name__}>"
