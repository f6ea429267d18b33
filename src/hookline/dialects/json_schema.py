"""What the dialects' JSON Schemas share."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

Schema = dict[str, Any]


def nullable(schema: Schema) -> Schema:
    """Null counts as absent."""
    return {"anyOf": [schema, {"type": "null"}]}


def optional_keys(properties: Schema, required: Collection[str] = ()) -> Schema:
    """The properties, in which every key that is not required may be null."""
    return {key: schema if key in required else nullable(schema) for key, schema in properties.items()}


def has_value(key: str) -> Schema:
    """The key is there, and not null."""
    return {"required": [key], "properties": {key: {"not": {"type": "null"}}}}
