"""JSON Schema of a flo file, for editors."""

from __future__ import annotations

from typing import Any

from hookline.dialects.flo.dialect import BARE_KEYS
from hookline.dialects.flo.names import EVENTS, MAX_TIMEOUT_MILLISECONDS, MIN_TIMEOUT_MILLISECONDS
from hookline.dialects.flo.rules import ACTIONS, ENTRY_KEYS, RULE_KEYS
from hookline.dialects.json_schema import add_descriptions, event_properties, has_value, optional_keys

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "minLength": 1}
_ANY_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_DESCRIPTIONS = {
    "matcher": "A regular expression for the tool's name; without it, every tool.",
    "inputMatchers": "Fields of the tool's input, each with a regular expression; all must match.",
    "priority": "Higher runs first.",
    "type": "What the entry is: an action or a command.",
    "action": "What the rule does.",
    "reason": "Why, for the agent.",
    "script": "JavaScript that decides.",
    "command": "A shell command that decides.",
    "timeout": "Milliseconds.",
    "continueOnError": "What a failure counts as: true lets the call proceed.",
    "id": "The rule's name in the log.",
    "enabled": "false: the rule does not run.",
    "tags": "Words for the console, `hookline list` and your own tools.",
    "hooks": "Several actions and commands with the same matchers.",
}


def build_schema() -> Schema:
    """Either hooks by event, beside any other keys, or one bare rule."""
    by_event = {"required": ["hooks"], "properties": {"hooks": {"type": "object"}}}
    is_rule = {"anyOf": [{"required": [key]} for key in BARE_KEYS]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:hookline:flo",
        "title": "flo hooks",
        "examples": [{"hooks": {"PreToolUse": [{"matcher": "^bash$", "action": "deny", "reason": "No shell here."}]}}],
        "type": "object",
        "if": by_event,
        "then": {"properties": {"hooks": {"description": "the rules, by event", "$ref": "#/$defs/hooks"}}},
        "else": {"if": is_rule, "then": {"$ref": "#/$defs/rule"}, "else": {"not": has_value("hooks")}},
        "$defs": {"hooks": _hooks_schema(), "rule": _rule_schema(), "entry": _entry_schema()},
    }


def _hooks_schema() -> Schema:
    rules: Schema = {"type": "array", "items": {"$ref": "#/$defs/rule"}}
    return {"type": "object", "additionalProperties": False, "properties": event_properties(EVENTS, rules)}


def _action_properties() -> Schema:
    return {
        "action": {"enum": list(ACTIONS)},
        "reason": _ANY_TEXT,
        "script": _TEXT,
        "command": _TEXT,
        "timeout": {"type": "number", "minimum": MIN_TIMEOUT_MILLISECONDS, "maximum": MAX_TIMEOUT_MILLISECONDS},
        "continueOnError": _FLAG,
        "id": _TEXT,
        "enabled": _FLAG,
    }


def _rule_schema() -> Schema:
    properties: Schema = {
        "matcher": _ANY_TEXT,
        "inputMatchers": {"type": "object", "additionalProperties": _ANY_TEXT},
        "priority": {"type": "integer"},
        **_action_properties(),
        "hooks": {"type": "array", "items": {"$ref": "#/$defs/entry"}, "minItems": 1},
        "tags": {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]},
    }
    assert properties.keys() == set(RULE_KEYS)
    listed = {**has_value("hooks"), **_forbid_keys("action", "reason", "script", "command", "timeout")}
    one = {**_forbid_keys("hooks"), "oneOf": _action_forms()}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": add_descriptions(optional_keys(properties), _DESCRIPTIONS),
        "oneOf": [listed, one],
    }


def _entry_schema() -> Schema:
    properties: Schema = {"type": {"enum": ["action", "command"]}, **_action_properties()}
    assert properties.keys() == set(ENTRY_KEYS)
    typed = [
        {"if": {"required": ["type"], "properties": {"type": {"const": word}}}, "then": has_value(word)}
        for word in ("action", "command")
    ]
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": add_descriptions(optional_keys(properties), _DESCRIPTIONS),
        "oneOf": _action_forms(),
        "allOf": typed,
    }


def _action_forms() -> list[Schema]:
    plain = {"action": {"enum": [word for word in ACTIONS if word != "script"]}}
    script = {"action": {"const": "script"}, "script": _TEXT}
    return [
        {"required": ["action"], "properties": plain, **_forbid_keys("script", "command")},
        {"required": ["action", "script"], "properties": script, **_forbid_keys("command")},
        {**has_value("command"), **_forbid_keys("action", "script", "reason")},
    ]


def _forbid_keys(*keys: str) -> Schema:
    return {"not": {"anyOf": [has_value(key) for key in keys]}}
