"""JSON Schema of a native file, for editors."""

from __future__ import annotations

from typing import Any

from hookline.dialects.native import app_schema
from hookline.dialects.native.actions import ACTIONS, ON_ERROR, SAID_ON_ERROR, STEP_KEYS
from hookline.dialects.native.app_schema import DURATION
from hookline.dialects.native.calls import ROLES
from hookline.dialects.native.conditions import KEYS as WHEN_KEYS
from hookline.dialects.native.conditions import SPELT, SYNTAXES, TESTS
from hookline.hooks.actions.call import Tell
from hookline.hooks.actions.http import URL
from hookline.hooks.actions.reading import Reads
from hookline.hooks.actions.tell import LEVELS
from hookline.hooks.conditions.numbers import COMPARISONS
from hookline.hooks.events import all_names
from hookline.hooks.facts import FACTS
from hookline.hooks.outcome import Audience, Place
from hookline.hooks.tools import TONGUES, Kind

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "minLength": 1}
_ANY_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_TEXTS: Schema = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}
_FACT: Schema = {"type": "string", "pattern": rf"^\.*({'|'.join(sorted(FACTS))})(?![^.])"}
_SAID: Schema = {"anyOf": [_TEXT, {"const": True}, {"type": "null"}]}

_CUSTOM: Schema = {"type": "object", "additionalProperties": {"type": ["object", "null"]}}


def schema() -> Schema:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "hookline hooks",
        "type": ["object", "null"],
        "additionalProperties": False,
        "properties": {
            "version": {"const": 1},
            "hooks": {"type": "array", "items": {"$ref": "#/$defs/hook"}},
            **app_schema.properties(),
            "standard_agents": _TEXTS,
        },
        "$defs": {
            **app_schema.definitions(),
            "hook": _hook(),
            "when": _when(),
            "test": _test(),
            "then": {"anyOf": [*_actions({}), _list_of("step")]},
            "step": {"anyOf": [*_actions(_step()), _list_of("step")]},
        },
    }


def _list_of(name: str) -> Schema:
    return {"type": "array", "items": {"$ref": f"#/$defs/{name}"}}


def _words(words: Any) -> Schema:
    return {"enum": [str(word) for word in words]}


def _closed(properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": list(required)}


def _hook() -> Schema:
    event = _words(sorted(set(all_names())))
    return _closed(
        {
            "id": _TEXT,
            "on": {"anyOf": [event, {"type": "array", "items": event, "minItems": 1}]},
            "when": {"$ref": "#/$defs/when"},
            "then": {"$ref": "#/$defs/then"},
            "timeout": DURATION,
            "on_error": _on_error(),
            "order": {"type": "integer"},
            "enabled": _FLAG,
            "tags": _TEXTS,
            "scope": _closed({"agent": _TEXT, "prompt": _TEXT, "session": _TEXT}),
            "cooldown": DURATION,
            "cooldown_turns": {"type": "integer", "minimum": 1},
            "max_fires": {"type": "integer", "minimum": 1},
            "background": _FLAG,
            "group": _ANY_TEXT,
            "names": _words(TONGUES),
        },
        ("on", "then"),
    )


def _on_error() -> Schema:
    return {"anyOf": [_words(ON_ERROR), *(_closed({word: _TEXT}, (word,)) for word in SAID_ON_ERROR)]}


def _when() -> Schema:
    again: Schema = {"$ref": "#/$defs/when"}
    test: Schema = {"$ref": "#/$defs/test"}
    tests: Schema = {"type": "object", "additionalProperties": test}
    number: Schema = {"anyOf": [{"type": "number"}, {"allOf": [test, {"type": "object"}]}]}
    kind = _words(Kind)
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
            "anyOf": [_TEXT, _closed({"keyword": _TEXT, "last": {"type": "integer", "minimum": 1}}, ("keyword",))]
        },
        "error_code": _TEXTS,
        "expr": _TEXT,
        "custom": _CUSTOM,
        "all": _list_of("when"),
        "any": _list_of("when"),
        "not": again,
    }
    assert properties.keys() == WHEN_KEYS.keys()
    return {"anyOf": [_closed(properties), _list_of("when"), {"enum": ["always", "never"]}]}


def _test() -> Schema:
    long: Schema = {word: {"type": "number"} for word in COMPARISONS}
    long |= dict.fromkeys((*SYNTAXES, *SPELT), _TEXTS)
    long |= {"whole": _FLAG, "is": {}, "exists": _FLAG}
    long |= {"every": {"type": "integer", "minimum": 1}}
    assert long.keys() == set(TESTS)
    return {
        "anyOf": [
            {"type": ["string", "number", "boolean", "null"]},
            {"type": "array", "items": {"$ref": "#/$defs/test"}},
            {**_closed(long), "dependentSchemas": {"whole": {"anyOf": [{"required": [word]} for word in SYNTAXES]}}},
        ]
    }


def _step() -> Schema:
    step: Schema = {"on_error": _on_error(), "timeout": DURATION, "ends_chain": _FLAG, "name": _TEXT}
    assert step.keys() == set(STEP_KEYS)
    return step


def _actions(more: Schema) -> list[Schema]:
    forms: list[Schema] = [{"enum": ["allow", "deny", "ask", "halt", "compact"]}]
    for key, (_, options) in ACTIONS.items():
        values = {**_VALUES[key], **{option: _OPTIONS[option] for option in options if option not in _VALUES[key]}}
        forms.append(_closed({**values, **more}, (key,)))
    return forms


_INPUT = r"^\.*(tool\.+)?input\.*(?![\s\S])"
_PART: Schema = {**_FACT, "not": {"pattern": _INPUT}}  # all of the input is an object, and stays one
_REPLACE: Schema = _closed({"in": _FACT, "pattern": _TEXT, "with": _ANY_TEXT}, ("in", "pattern", "with"))
_EDITS: Schema = {
    "set": {
        "type": "object",
        "propertyNames": _FACT,
        "patternProperties": {_INPUT: {"anyOf": [{"type": "object"}, {"type": "string", "pattern": r"\{\{"}]}},
    },
    "remove": {"anyOf": [_PART, {"type": "array", "items": _PART}]},
    "append": {"type": "object", "propertyNames": _PART, "additionalProperties": _TEXT},
    "replace": {"anyOf": [_REPLACE, {"type": "array", "items": _REPLACE}]},
}
_PLACE: Schema = _words(Place)
_COMMAND: Schema = {
    "anyOf": [_TEXT, {"type": "array", "items": _ANY_TEXT, "minItems": 1}, _closed({"literal": _TEXT}, ("literal",))]
}

_VALUES: dict[str, Schema] = {
    "deny": {"deny": _SAID},
    "ask": {"ask": _SAID},
    "allow": {"allow": _SAID},
    "halt": {"halt": _SAID},
    "tell": {
        "tell": {
            "anyOf": [
                _TEXT,
                _closed(
                    {
                        "text": _TEXT,
                        "to": _words(Audience),
                        "place": _PLACE,
                        "role": _words(ROLES),
                        "position": _words(("start", "before_last", "end")),
                    },
                    ("text",),
                ),
            ]
        }
    },
    "log": {"log": {"anyOf": [_TEXT, _closed({"message": _TEXT, "level": _words(LEVELS)}, ("message",))]}},
    "notify": {
        "notify": {
            "anyOf": [
                _TEXT,
                _closed(
                    {"message": _TEXT, "title": _TEXT, "level": _words(("info", "warning", "error")), "tag": _TEXT},
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
        "tell": _words(Audience),
    },
    "post": {"post": {"type": "string", "pattern": f"^{URL.pattern}$"}, "tell": _words(Audience), "variables": _TEXTS},
    "script": {"script": _TEXT},
    "call": {"call": _TEXT, "tell": _words(Tell)},
    "pipe": {"pipe": _closed({"to": _TEXT, "map": {"type": "object"}, "extra": {"type": "object"}}, ("to",))},
    "judge": {"judge": _TEXT, "with": {}},
    "compact": {
        "compact": {
            "anyOf": [
                {"const": True},
                {"type": "null"},
                _closed(
                    {
                        "strategy": _words(("summarize", "truncate")),
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
                _closed(
                    {"path": _TEXTS, "content": _TEXTS, "publish": _FLAG, "inject": _FLAG, "read_from_disk": _FLAG}
                ),
            ]
        }
    },
    "custom": {"custom": {**_CUSTOM, "minProperties": 1, "maxProperties": 1}},
    "chain": {"chain": _list_of("step")},
}

_OPTIONS: Schema = {
    **_EDITS,
    "stdin": {},
    "body": {},
    "headers": {"type": "object", "additionalProperties": _ANY_TEXT},
    "env": {"type": "object", "additionalProperties": {"type": ["string", "number", "null"]}},
    "inherit_env": {"anyOf": [_FLAG, _TEXTS]},
    "cwd": _TEXT,
    "reads": _words(Reads),
    "reason": _TEXT,
    "only_if": _COMMAND,
    "variables": {"type": "object"},
    "with": {"type": "object"},
    "literal": {"type": "object"},
    "prefix": _ANY_TEXT,
    "place": _PLACE,
    "role": _words(ROLES),
    "stop_on_failure": _FLAG,
}
