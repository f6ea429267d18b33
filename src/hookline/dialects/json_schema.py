"""What the dialects' JSON Schemas share."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from hookline.hooks.events import EVENTS

Schema = dict[str, Any]


def nullable(schema: Schema) -> Schema:
    """Null counts as absent. What editors show stays outside, where they look for it."""
    outside: Schema = {word: schema[word] for word in ("description", "default", "examples") if word in schema}
    inside = {word: value for word, value in schema.items() if word not in outside}
    return {**outside, "anyOf": [inside, {"type": "null"}]}


def add_descriptions(properties: Schema, descriptions: Mapping[str, str]) -> Schema:
    """The properties with their descriptions; one that has a description keeps it."""
    return {
        key: {"description": descriptions[key], **schema} if key in descriptions else schema
        for key, schema in properties.items()
    }


def event_properties(events: Mapping[str, str], entries: Schema) -> Schema:
    """A key for each event: a dialect's name for it → our own name for it."""
    return {name: {"description": EVENTS[event].when, **nullable(entries)} for name, event in events.items()}


def optional_keys(properties: Schema, required: Collection[str] = ()) -> Schema:
    """The properties, in which every key that is not required may be null."""
    return {key: schema if key in required else nullable(schema) for key, schema in properties.items()}


def has_value(key: str) -> Schema:
    """The key is there, and not null."""
    return {"required": [key], "properties": {key: {"not": {"type": "null"}}}}
