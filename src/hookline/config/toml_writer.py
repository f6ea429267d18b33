"""Writes lists of plain tables as TOML."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any


def write_tables(name: str, tables: Iterable[Mapping[str, Any]]) -> str:
    """An array of tables: `[[name]]` and the table's keys, whose values are texts, numbers and flags."""
    written = (
        "\n".join((f"[[{name}]]", *(f"{key} = {_scalar(value)}" for key, value in table.items()))) for table in tables
    )
    return "\n".join(written)


def _scalar(value: str | int | float | bool) -> str:
    """As JSON has it, but TOML allows no raw DEL, and no escape of half a character."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
