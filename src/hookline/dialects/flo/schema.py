"""JSON Schema of a flo file, for editors."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from hookline.dialects.flo.dialect import BARE_KEYS
from hookline.dialects.flo.names import DEFAULT_TIMEOUT, EVENTS, MAX_TIMEOUT_MILLISECONDS, MIN_TIMEOUT_MILLISECONDS
from hookline.dialects.flo.rules import ACTIONS, ENTRY_KEYS, RULE_KEYS, RUNS
from hookline.dialects.json_schema import describe, event_properties, has_value, optional_keys

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "minLength": 1}
_ANY_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_EXAMPLE: Schema = {"hooks": {"PreToolUse": [{"matcher": "^bash$", "action": "deny", "reason": "No shell here."}]}}


def build_schema() -> Schema:
    """Either hooks by event, beside any other keys, or one bare rule."""
    by_event = {"required": ["hooks"], "properties": {"hooks": {"type": "object"}}}
    by_name = describe("the rules, by event", {"$ref": "#/$defs/hooks"}, _EXAMPLE["hooks"])
    is_rule = {"anyOf": [{"required": [key]} for key in BARE_KEYS]}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:hookline:flo",
        "title": "flo hooks",
        "examples": [_EXAMPLE],
        "type": "object",
        "if": by_event,
        "then": {"properties": {"hooks": by_name}},
        "else": {"if": is_rule, "then": {"$ref": "#/$defs/rule"}, "else": {"not": has_value("hooks")}},
        "$defs": {"hooks": _hooks_schema(), "rule": _rule_schema(), "entry": _entry_schema()},
    }


def _hooks_schema() -> Schema:
    rules: Schema = {"type": "array", "items": {"$ref": "#/$defs/rule"}}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": event_properties(EVENTS, rules, _EXAMPLE["hooks"]["PreToolUse"]),
    }


def _action_properties() -> Schema:
    timeout = {"type": "number", "minimum": MIN_TIMEOUT_MILLISECONDS, "maximum": MAX_TIMEOUT_MILLISECONDS}
    return {
        "action": describe(
            "What the rule does; without it, the rule has a command or hooks.", {"enum": list(ACTIONS)}, "deny"
        ),
        "reason": describe("Why, for the agent.", _ANY_TEXT, "No shell here."),
        "script": describe("JavaScript that decides.", _TEXT, "return {decision: 'allow'}"),
        "command": describe("A shell command that decides.", _TEXT, "./check.sh"),
        "timeout": describe("Milliseconds.", timeout, 10_000, default=DEFAULT_TIMEOUT // timedelta(milliseconds=1)),
        "continueOnError": describe(
            "true: no failure stops the call; false: every failure does; default: an exit code does, an error does not.",
            _FLAG,
        ),
        "id": describe("The rule's name in the log.", _TEXT, "no-shell"),
        "enabled": describe("false: the rule does not run.", _FLAG, default=True),
    }


def _rule_schema() -> Schema:
    entries: Schema = {"type": "array", "items": {"$ref": "#/$defs/entry"}, "minItems": 1}
    patterns: Schema = {"type": "object", "additionalProperties": _ANY_TEXT}
    words: Schema = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}
    properties: Schema = {
        "matcher": describe("A regular expression for the tool's name; without it, every tool.", _ANY_TEXT, "^bash$"),
        "inputMatchers": describe(
            "Fields of the tool's input, each with a regular expression; all must match.",
            patterns,
            {"command": "^rm "},
            default={},
        ),
        "priority": describe("Higher runs first.", {"type": "integer"}, 10, default=0),
        **_action_properties(),
        "hooks": describe(
            "Several actions and commands with the same matchers.",
            entries,
            [{"type": "command", "command": "./check.sh"}],
        ),
        "tags": describe("Words for the console, `hookline list` and your own tools.", words, ["shell"], default=[]),
        "runs": describe(
            "Where the script of a rule from the hub's console runs: in the agent's page or on the hub.",
            {"enum": list(RUNS)},
            "hub",
            default="page",
        ),
    }
    assert properties.keys() == set(RULE_KEYS)
    listed = {**has_value("hooks"), **_forbid_keys("action", "reason", "script", "command", "timeout")}
    one = {**_forbid_keys("hooks"), "oneOf": _action_forms()}
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": optional_keys(properties),
        "oneOf": [listed, one],
    }


def _entry_schema() -> Schema:
    type_ = describe(
        "What the entry is: an action or a command; without it, what it has.", {"enum": ["action", "command"]}
    )
    properties: Schema = {"type": type_, **_action_properties()}
    assert properties.keys() == set(ENTRY_KEYS)
    typed = [
        {"if": {"required": ["type"], "properties": {"type": {"const": word}}}, "then": has_value(word)}
        for word in ("action", "command")
    ]
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": optional_keys(properties),
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
