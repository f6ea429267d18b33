"""JSON Schema of an app file's hooks, for editors; the file's other keys are open."""

from __future__ import annotations

from typing import Any

from hookline.dialects import custom
from hookline.dialects.digitorn.actions import (
    ACTIONS,
    MAX_TIMEOUT,
    NOTICE_LEVELS,
    PLACE_BY_STRATEGY,
    POSITIONS,
    ROLES,
)
from hookline.dialects.digitorn.conditions import CONDITIONS, DEFAULT_THRESHOLDS, PRESSURE
from hookline.dialects.digitorn.dialect import EVENTS, HOOK_KEYS, MAX_COOLDOWN_SECONDS
from hookline.dialects.json_schema import has_value, optional_keys
from hookline.hooks.actions.notify import LEVELS

Schema = dict[str, Any]

_TEXT: Schema = {"type": "string", "minLength": 1}
_ANY_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_OBJECT: Schema = {"type": "object"}
_TEXTS: Schema = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}


def build_schema() -> Schema:
    hooks: Schema = {"type": ["array", "null"], "items": {"$ref": "#/$defs/hook"}}
    block: Schema = {"properties": {"hooks": hooks}}
    agent: Schema = {"properties": {"id": True, "hooks": hooks}, "dependentSchemas": {"hooks": _WITH_ID}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:hookline:digitorn",
        "title": "digitorn hooks",
        "type": ["object", "null"],
        "properties": {
            "runtime": block,
            "agents": {"type": ["array", "null"], "items": agent},
        },
        "if": {"properties": {"runtime": {"type": "object", "required": ["hooks"]}}, "required": ["runtime"]},
        "else": {"properties": {"execution": block}},
        "$defs": {
            "hook": _hook_schema(),
            "condition": _typed_union(_condition_schemas(), custom.CONDITION_REGISTRY.names()),
            "inner": _typed_union(_condition_schemas(), None),
            "action": _typed_union(_action_schemas(), custom.ACTION_REGISTRY.names()),
        },
    }


_WITH_ID: Schema = {"required": ["id"], "properties": {"id": _TEXT}}


def _enum(words: Any) -> Schema:
    return {"enum": [str(word) for word in words]}


def _integer(least: int) -> Schema:
    return {"type": "integer", "minimum": least}


def _number(least: float, most: float | None = None) -> Schema:
    return {"type": "number", "minimum": least} | ({} if most is None else {"maximum": most})


def _closed_object(properties: Schema, required: tuple[str, ...] = ()) -> Schema:
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": optional_keys(properties, required),
        "required": list(required),
    }


def _hook_schema() -> Schema:
    properties: Schema = {
        "id": _TEXT,
        "on": {**_enum(EVENTS), "default": "turn_end"},
        "condition": {"$ref": "#/$defs/condition"},
        "action": {"$ref": "#/$defs/action"},
        "cooldown": {**_number(0, MAX_COOLDOWN_SECONDS), "default": 0},
        "max_fires": {**_integer(0), "default": 0},
        "priority": {"type": "integer", "default": 100},
        "enabled": {**_FLAG, "default": True},
        "tags": {"type": "array", "items": _TEXT, "default": []},
    }
    assert properties.keys() == set(HOOK_KEYS)
    return _closed_object(properties, ("id", "action"))


def _typed_union(forms: dict[str, Schema], others: Any) -> Schema:
    """One of digitorn's types with exactly its keys, or one of the `others`; None allows any other name."""
    known: list[Schema] = [
        _closed_object({"type": {"const": name}, **form["properties"]}, ("type", *form.get("required", ())))
        | ({"anyOf": form["anyOf"]} if "anyOf" in form else {})
        for name, form in forms.items()
    ]
    name: Schema = {"type": "string", "minLength": 1, "not": _enum(forms)} if others is None else _enum(others)
    if others is None or others:
        known.append({"type": "object", "properties": {"type": name}, "required": ["type"]})
    return {"anyOf": known}


def _condition_schemas() -> dict[str, Schema]:
    inner: Schema = {"$ref": "#/$defs/inner"}
    several: Schema = {"properties": {"conditions": {"type": "array", "items": inner}}, "required": ["conditions"]}
    names: Schema = {"properties": {"match": {**_TEXTS, "minItems": 1}}, "required": ["match"]}
    forms: dict[str, Schema] = {
        "always": {"properties": {}},
        "never": {"properties": {}},
        "all_of": several,
        "any_of": several,
        "not": {"properties": {"condition": inner}, "required": ["condition"]},
        "turn_count": {
            "properties": {"threshold": _integer(0), "every": _integer(1)},
            "anyOf": [has_value("threshold"), has_value("every")],
        },
        "tool_name": names,
        "tool_failed": {"properties": {}},
        "content_contains": {"properties": {"keyword": _TEXT}, "required": ["keyword"]},
        "error_type": names,
        "expression": {"properties": {"expr": _TEXT}, "required": ["expr"]},
    }
    for name, (path, default) in DEFAULT_THRESHOLDS.items():
        threshold = _number(0, 1 if path == PRESSURE else None)
        forms[name] = {"properties": {"threshold": {**threshold, "default": default}}}
    assert forms.keys() == CONDITIONS.keys()
    return forms


def _action_schemas() -> dict[str, Schema]:
    module: Schema = {"module": _TEXT, "action": _TEXT, "action_params": _OBJECT}
    forms: dict[str, Schema] = {
        **_context_action_schemas(),
        "module_action": {"properties": module, "required": ["module", "action"]},
        "module_action_inject": {
            "properties": {**module, "format": {**_enum(("auto", "always")), "default": "auto"}, "prefix": _ANY_TEXT},
            "required": ["module", "action"],
        },
        "log": {
            "properties": {"message": _TEXT, "level": {**_enum(LEVELS), "default": "info"}},
            "required": ["message"],
        },
        "shell": {
            "properties": {
                "command": _TEXT,
                "cwd": _TEXT,
                "timeout": {**_number(0.001, MAX_TIMEOUT.total_seconds()), "default": 30},
                "on_error": {**_enum(("ignore", "inject")), "default": "ignore"},
            },
            "required": ["command"],
        },
        "gate": {"properties": {"reason": {"type": "string"}}},
        "chain": {
            "properties": {
                "stop_on_failure": {**_FLAG, "default": False},
                "actions": {"type": "array", "items": {"$ref": "#/$defs/action"}},
            },
            "required": ["actions"],
        },
        **_transform_action_schemas(),
        **_external_action_schemas(),
    }
    assert forms.keys() == ACTIONS.keys()
    return forms


def _context_action_schemas() -> dict[str, Schema]:
    return {
        "compact_context": {
            "properties": {
                "strategy": _enum(("summarize", "truncate")),
                "keep_recent": {**_integer(0), "default": 10},
                "summary_max_tokens": {**_integer(1), "default": 1024},
                "summary_prompt": _TEXT,
                "target_pressure": _number(0, 1),
                "cooldown_turns": {**_integer(0), "default": 3},
            }
        },
        "inject_message": {
            "properties": {
                "strategy": {**_enum((*PLACE_BY_STRATEGY, "new_message")), "default": "auto"},
                "content": _TEXT,
                "role": {**_enum(ROLES), "default": "user"},
                "position": {**_enum(POSITIONS), "default": "before_last"},
            },
            "required": ["content"],
        },
    }


def _transform_action_schemas() -> dict[str, Schema]:
    params = _closed_object({"set": _OBJECT, "remove": {"type": "array", "items": _TEXT}})
    result = _closed_object({"append_to_result": _TEXT, "inject_note": _TEXT})
    params["anyOf"] = [has_value("set"), has_value("remove")]
    result["anyOf"] = [has_value("append_to_result"), has_value("inject_note")]
    return {
        "transform_params": {"properties": {"transformation": params}, "required": ["transformation"]},
        "transform_result": {"properties": {"transformation": result}, "required": ["transformation"]},
    }


def _external_action_schemas() -> dict[str, Schema]:
    return {
        "notify": {
            "properties": {
                "title": _ANY_TEXT,
                "message": _TEXT,
                "level": {**_enum(NOTICE_LEVELS), "default": "info"},
                "tag": _ANY_TEXT,
            },
            "required": ["message"],
        },
        "pipe": {
            "properties": {
                "to": _TEXT,
                "map": _OBJECT,
                "extra": _OBJECT,
                "on_error": {**_enum(("ignore", "log", "raise")), "default": "ignore"},
            },
            "required": ["to"],
        },
        "lsp_diagnose": {
            "properties": {
                "path_field": _TEXTS,
                "content_field": _TEXTS,
                "publish": {**_FLAG, "default": True},
                "inject_result": {**_FLAG, "default": True},
                "read_from_disk": {**_FLAG, "default": True},
            }
        },
    }
