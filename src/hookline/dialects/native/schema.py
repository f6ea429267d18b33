"""JSON Schema of a native file, for editors."""

from __future__ import annotations

from typing import Any

from hookline.dialects.native import app_schema
from hookline.dialects.native.actions import ACTIONS, ON_ERROR, ON_ERROR_WITH_REASON, ROLES, STEP_KEYS
from hookline.dialects.native.app_schema import DURATION
from hookline.dialects.native.conditions import CONDITION_KEYS as WHEN_KEYS
from hookline.dialects.native.conditions import MATCHER_KEYS, SYNTAXES, TEST_KEYS
from hookline.hooks.actions.call_tool import TellWhen
from hookline.hooks.actions.notify import LEVELS
from hookline.hooks.actions.post import URL_PATTERN
from hookline.hooks.actions.program_result import ResultFormat
from hookline.hooks.conditions.numbers import COMPARISONS
from hookline.hooks.events import all_event_names
from hookline.hooks.outcome import Audience, NotePlace
from hookline.hooks.placeholders import FACT_ROOTS
from hookline.hooks.tools import VOCABULARIES, ToolKind

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "minLength": 1}
_ANY_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_TEXTS: Schema = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}
_FACT: Schema = {"type": "string", "pattern": rf"^\.*({'|'.join(sorted(FACT_ROOTS))})(?![^.])"}
_REASON: Schema = {"anyOf": [_TEXT, {"const": True}, {"type": "null"}]}

_CUSTOM: Schema = {"type": "object", "additionalProperties": {"type": ["object", "null"]}}


def build_schema() -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "hookline hooks",
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {
            "version": {"const": 1},
            "hooks": {"type": "array", "items": {"$ref": "#/$defs/hook"}},
            **app_schema.app_properties(),
            "standard_agents": _TEXTS,
        },
        "$defs": {
            **app_schema.app_definitions(),
            "hook": _hook_schema(),
            "when": _condition_schema(),
            "test": _test_schema(),
            "then": {"anyOf": [*_action_schemas({}), _list_of("step")]},
            "step": {"anyOf": [*_action_schemas(_step_properties()), _list_of("step")]},
        },
    }


def _list_of(name: str) -> Schema:
    return {"type": "array", "items": {"$ref": f"#/$defs/{name}"}}


def _enum(words: Any) -> Schema:
    return {"enum": [str(word) for word in words]}


def _closed_object(properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": list(required)}


def _hook_schema() -> Schema:
    event = _enum(sorted(set(all_event_names())))
    return _closed_object(
        {
            "id": _TEXT,
            "on": {"anyOf": [event, {"type": "array", "items": event, "minItems": 1}]},
            "when": {"$ref": "#/$defs/when"},
            "then": {"$ref": "#/$defs/then"},
            "timeout": DURATION,
            "on_error": _on_error_schema(),
            "order": {"type": "integer"},
            "enabled": _FLAG,
            "tags": _TEXTS,
            "scope": _closed_object({"agent": _TEXT, "prompt": _TEXT, "session": _TEXT}),
            "cooldown": DURATION,
            "cooldown_turns": {"type": "integer", "minimum": 1},
            "max_fires": {"type": "integer", "minimum": 1},
            "background": _FLAG,
            "group": _ANY_TEXT,
            "names": _enum(VOCABULARIES),
        },
        ("on", "then"),
    )


def _on_error_schema() -> Schema:
    return {"anyOf": [_enum(ON_ERROR), *(_closed_object({word: _TEXT}, (word,)) for word in ON_ERROR_WITH_REASON)]}


def _condition_schema() -> Schema:
    again: Schema = {"$ref": "#/$defs/when"}
    test: Schema = {"$ref": "#/$defs/test"}
    tests: Schema = {"type": "object", "additionalProperties": test}
    number: Schema = {"anyOf": [{"type": "number"}, {"allOf": [test, {"type": "object"}]}]}
    kind = _enum(ToolKind)
    properties: Schema = {
        "tool": {"anyOf": [_TEXTS, {"allOf": [test, {"type": "object"}]}]},
        "kind": {"anyOf": [kind, {"type": "array", "items": kind}]},
        "input": tests,
        "fact": {**tests, "propertyNames": _FACT},
        "prompt": test,
        "result": test,
        "error": test,
        "failed": _FLAG,
        "pressure": number,
        "tokens": number,
        "tool_calls": number,
        "messages": number,
        "turn": {"anyOf": [{"type": "integer", "minimum": 0}, {"allOf": [test, {"type": "object"}]}]},
        "says": {
            "anyOf": [
                _TEXT,
                _closed_object({"keyword": _TEXT, "last": {"type": "integer", "minimum": 1}}, ("keyword",)),
            ]
        },
        "error_code": _TEXTS,
        "expr": _TEXT,
        "custom": _CUSTOM,
        "all": _list_of("when"),
        "any": _list_of("when"),
        "not": again,
    }
    assert properties.keys() == WHEN_KEYS.keys()
    return {"anyOf": [_closed_object(properties), _list_of("when"), {"enum": ["always", "never"]}]}


def _test_schema() -> Schema:
    long: Schema = {word: {"type": "number"} for word in COMPARISONS}
    long |= dict.fromkeys((*SYNTAXES, *MATCHER_KEYS), _TEXTS)
    long |= {"whole": _FLAG, "is": {}, "exists": _FLAG}
    long |= {"every": {"type": "integer", "minimum": 1}}
    assert long.keys() == set(TEST_KEYS)
    return {
        "anyOf": [
            {"type": ["string", "number", "boolean", "null"]},
            {"type": "array", "items": {"$ref": "#/$defs/test"}},
            {
                **_closed_object(long),
                "dependentSchemas": {"whole": {"anyOf": [{"required": [word]} for word in SYNTAXES]}},
            },
        ]
    }


def _step_properties() -> Schema:
    step: Schema = {"on_error": _on_error_schema(), "timeout": DURATION, "ends_chain": _FLAG, "name": _TEXT}
    assert step.keys() == set(STEP_KEYS)
    return step


def _action_schemas(more: Schema) -> list[Schema]:
    forms: list[Schema] = [{"enum": ["allow", "deny", "ask", "halt", "compact"]}]
    for key, (_, options) in ACTIONS.items():
        values = {
            **_ACTION_PROPERTIES[key],
            **{option: _OPTION_PROPERTIES[option] for option in options if option not in _ACTION_PROPERTIES[key]},
        }
        forms.append(_closed_object({**values, **more}, (key,)))
    return forms


_INPUT_PATTERN = r"^\.*(tool\.+)?input\.*(?![\s\S])"
_FACT_EXCEPT_INPUT: Schema = {
    **_FACT,
    "not": {"pattern": _INPUT_PATTERN},
}  # all of the input is an object, and stays one
_REPLACE: Schema = _closed_object({"in": _FACT, "pattern": _TEXT, "with": _ANY_TEXT}, ("in", "pattern", "with"))
_EDITS: Schema = {
    "set": {
        "type": "object",
        "propertyNames": _FACT,
        "patternProperties": {_INPUT_PATTERN: {"anyOf": [{"type": "object"}, {"type": "string", "pattern": r"\{\{"}]}},
    },
    "remove": {"anyOf": [_FACT_EXCEPT_INPUT, {"type": "array", "items": _FACT_EXCEPT_INPUT}]},
    "append": {"type": "object", "propertyNames": _FACT_EXCEPT_INPUT, "additionalProperties": _TEXT},
    "replace": {"anyOf": [_REPLACE, {"type": "array", "items": _REPLACE}]},
}
_PLACE: Schema = _enum(NotePlace)
_COMMAND: Schema = {
    "anyOf": [
        _TEXT,
        {"type": "array", "items": _ANY_TEXT, "minItems": 1},
        _closed_object({"literal": _TEXT}, ("literal",)),
    ]
}

_ACTION_PROPERTIES: dict[str, Schema] = {
    "deny": {"deny": _REASON},
    "ask": {"ask": _REASON},
    "allow": {"allow": _REASON},
    "halt": {"halt": _REASON},
    "tell": {
        "tell": {
            "anyOf": [
                _TEXT,
                _closed_object(
                    {
                        "text": _TEXT,
                        "to": _enum(Audience),
                        "place": _PLACE,
                        "role": _enum(ROLES),
                        "position": _enum(("start", "before_last", "end")),
                    },
                    ("text",),
                ),
            ]
        }
    },
    "log": {"log": {"anyOf": [_TEXT, _closed_object({"message": _TEXT, "level": _enum(LEVELS)}, ("message",))]}},
    "notify": {
        "notify": {
            "anyOf": [
                _TEXT,
                _closed_object(
                    {"message": _TEXT, "title": _TEXT, "level": _enum(("info", "warning", "error")), "tag": _TEXT},
                    ("message",),
                ),
            ]
        }
    },
    "set": _EDITS,
    "remove": _EDITS,
    "append": _EDITS,
    "replace": _EDITS,
    "run": {
        "run": _COMMAND,
        "tell": _enum(Audience),
    },
    "post": {
        "post": {"type": "string", "pattern": f"^{URL_PATTERN.pattern}$"},
        "tell": _enum(Audience),
        "variables": _TEXTS,
    },
    "script": {"script": _TEXT},
    "call": {"call": _TEXT, "tell": _enum(TellWhen)},
    "pipe": {"pipe": _closed_object({"to": _TEXT, "map": {"type": "object"}, "extra": {"type": "object"}}, ("to",))},
    "judge": {"judge": _TEXT, "with": {}},
    "compact": {
        "compact": {
            "anyOf": [
                {"const": True},
                {"type": "null"},
                _closed_object(
                    {
                        "strategy": _enum(("summarize", "truncate")),
                        "keep_recent": {"type": "integer", "minimum": 0},
                        "summary_max_tokens": {"type": "integer", "minimum": 1},
                        "summary_prompt": _TEXT,
                        "target_pressure": {"type": "number", "minimum": 0, "maximum": 1},
                    }
                ),
            ]
        }
    },
    "diagnose": {
        "diagnose": {
            "anyOf": [
                {"const": True},
                _closed_object(
                    {"path": _TEXTS, "content": _TEXTS, "publish": _FLAG, "inject": _FLAG, "read_from_disk": _FLAG}
                ),
            ]
        }
    },
    "custom": {"custom": {**_CUSTOM, "minProperties": 1, "maxProperties": 1}},
    "chain": {"chain": _list_of("step")},
}

_OPTION_PROPERTIES: Schema = {
    **_EDITS,
    "stdin": {},
    "body": {},
    "headers": {"type": "object", "additionalProperties": _ANY_TEXT},
    "env": {"type": "object", "additionalProperties": {"type": ["string", "number", "null"]}},
    "inherit_env": {"anyOf": [_FLAG, _TEXTS]},
    "cwd": _TEXT,
    "reads": _enum(ResultFormat),
    "reason": _TEXT,
    "only_if": _COMMAND,
    "variables": {"type": "object"},
    "with": {"type": "object"},
    "literal": {"type": "object"},
    "prefix": _ANY_TEXT,
    "place": _PLACE,
    "role": _enum(ROLES),
    "stop_on_failure": _FLAG,
}
