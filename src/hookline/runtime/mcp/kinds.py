"""What an MCP tool does, as far as its name and its input tell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.hooks.fields import own_field
from hookline.hooks.tools import Kind, kind_of, main_field


def kind_by(name: str, schema: Mapping[str, Any], *, read_only: bool = False) -> Kind:
    """The kind that the table gives the name, if the input has that kind's main field.

    Whatever takes both a path and a content writes a file, by whatever name, unless it says that it only reads.
    """
    fields = schema.get("properties")
    if not isinstance(fields, Mapping):
        return Kind.OTHER
    kind = kind_of(name)
    if kind is not Kind.OTHER and _has(fields, main_field(kind), kind):
        return kind
    writes = not read_only and all(_has(fields, field, Kind.WRITE) for field in ("path", "content"))
    return Kind.WRITE if writes else Kind.OTHER


def _has(fields: Mapping[str, Any], field: str | None, kind: Kind) -> bool:
    return field is not None and own_field(fields, field, kind) in fields
