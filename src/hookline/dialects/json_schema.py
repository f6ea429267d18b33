"""What the dialects' JSON Schemas share."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from hookline.hooks.events import EVENTS

Schema = dict[str, Any]
_TOOL_EVENTS: Final = ("tool.before", "tool.after")


def nullable(schema: Schema) -> Schema:
    """Null counts as absent. What editors show stays outside, where they look for it."""
    outside: Schema = {word: schema[word] for word in ("description", "default", "examples") if word in schema}
    inside = {word: value for word, value in schema.items() if word not in outside}
    return {**outside, "anyOf": [inside, {"type": "null"}]}


def describe(description: str, schema: Schema, *examples: Any, **default: Any) -> Schema:
    """The schema with what an editor shows of a key. Leave `default=` out if the key has none: null may be a default."""
    shown = {"examples": list(examples)} if examples else {}
    return {"description": description, **default, **shown, **schema}


def event_properties(events: Mapping[str, str], entries: Schema, example: Sequence[Schema]) -> Schema:
    """A key for each event; `events`: a dialect's name → our own name. Only a tool's events have a matcher in the example."""
    plain = [{key: value for key, value in entry.items() if key != "matcher"} for entry in example]
    return {
        name: describe(EVENTS[event].when, nullable(entries), list(example) if event in _TOOL_EVENTS else plain)
        for name, event in events.items()
    }


def optional_keys(properties: Schema, required: Collection[str] = ()) -> Schema:
    """The properties, in which every key that is not required may be null."""
    return {key: schema if key in required else nullable(schema) for key, schema in properties.items()}


def has_value(key: str) -> Schema:
    """The key is there, and not null."""
    return {"required": [key], "properties": {key: {"not": {"type": "null"}}}}
