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

_CONDITIONS: dict[str, str] = {
    "always": "always true",
    "never": "never true",
    "all_of": "all of several conditions are true",
    "any_of": "one of several conditions is true",
    "not": "another condition is false",
    "turn_count": "at a certain turn, or at every Nth",
    "tool_name": "the name of the tool",
    "tool_failed": "the tool that just ran failed",
    "content_contains": "one of the last 5 messages contains a keyword",
    "error_type": "the error's code",
    "expression": "an expression over the numbers of the session",
    "context_pressure": "how full the context is",
    "tool_calls": "how many tools the session has called",
    "message_count": "how many messages there are",
}
_ACTIONS: dict[str, str] = {
    "compact_context": "make the context smaller",
    "inject_message": "add a message to the conversation",
    "module_action": "call the tool `module.action`",
    "module_action_inject": "call the tool `module.action`; its result becomes a system message",
    "log": "write a line to the log",
    "shell": "run a shell command",
    "gate": "the tool does not run",
    "chain": "run several actions, one after the other",
    "transform_params": "change the tool's input",
    "transform_result": "change the tool's result",
    "notify": "tell the user",
    "pipe": "call another tool",
    "lsp_diagnose": "ask a language server about a written file",
}
_DESCRIPTIONS: dict[str, str] = {
    "runtime": "settings of the app; `hooks` are for all of its agents",
    "execution": "the older name of `runtime`",
    "agents": "the agents of the app; each may have hooks of its own",
    "hooks": "the hooks; `priority` says which runs first",
    "agent.id": "the agent's id; needed if it has hooks",
    "id": "the hook's name, unique among its neighbours",
    "on": "the event",
    "condition": "when the hook acts; without it, every time",
    "action": "what the hook does",
    "cooldown": "seconds between two fires in a session; the first is never delayed",
    "max_fires": "how often the hook may fire in a session; 0 is no limit",
    "priority": "lower runs first; ties in the order of the file",
    "enabled": "false: the hook is loaded but never fires",
    "tags": "free labels, shown by `hookline list`",
    "conditions": "the conditions",
    "not.condition": "the condition that must be false",
    "threshold": "above this value, the condition is true",
    "turn_count.threshold": "exactly at this turn",
    "every": "at turns N, 2N, 3N, …",
    "match": "a glob for the name, or a list of them; `|` separates alternatives",
    "keyword": "the word, in upper or lower case",
    "expr": "an expression over turn, tools, messages, pressure, tokens and max_turns, such as `pressure > 0.5 and turn % 10 == 0`",
    "module": "the module's name",
    "module_action.action": "the name of the module's action",
    "module_action_inject.action": "the name of the module's action",
    "action_params": "the arguments of the module's action; texts may have placeholders",
    "format": "`auto` adds the result only if it failed or has errors or diagnostics, `always` every time",
    "prefix": "text before the result",
    "message": "the text; it may have placeholders",
    "level": "how important it is",
    "command": "the shell command; values of placeholders are quoted",
    "cwd": "the directory in which it runs",
    "timeout": "seconds after which it is stopped",
    "shell.on_error": "what happens if it fails: nothing, or the agent is told",
    "pipe.on_error": "what happens if it fails: nothing, a line in the log, or its chain ends",
    "reason": "what the agent is told",
    "stop_on_failure": "whether a failed action ends the chain",
    "actions": "the actions, in their order",
    "compact_context.strategy": "how: a summary of the old messages, or without them",
    "inject_message.strategy": "where the text goes",
    "keep_recent": "how many of the last messages stay",
    "summary_max_tokens": "the length of the summary",
    "summary_prompt": "what the model that writes the summary is told",
    "target_pressure": "how full the context may be afterwards, from 0 to 1",
    "cooldown_turns": "turns before the context is made smaller again",
    "content": "the text; it may have placeholders",
    "role": "whose message it is",
    "position": "where the message goes",
    "transformation": "the change",
    "set": "parameters of the tool, with their new values",
    "remove": "parameters of the tool that are removed",
    "append_to_result": "text after the result",
    "inject_note": "text that the agent gets beside the result",
    "title": "the title of the notification",
    "tag": "a label of the notification",
    "to": "the tool that is called",
    "map": "fields of its input; texts may have placeholders",
    "extra": "fields of its input, as they are written",
    "path_field": "the field of the input that has the file's path, or several",
    "content_field": "the field of the input that has the file's content, or several",
    "publish": "whether clients are told what was found",
    "inject_result": "whether the agent sees what was found",
    "read_from_disk": "whether the file is read, instead of the content in the call",
}
"""By key, and by a condition or action and its key where one key means two things."""

_TEXT: Schema = {"type": "string", "minLength": 1}
_ANY_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_OBJECT: Schema = {"type": "object"}
_TEXTS: Schema = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}


def build_schema() -> Schema:
    hooks: Schema = {
        "description": _DESCRIPTIONS["hooks"],
        "type": ["array", "null"],
        "items": {"$ref": "#/$defs/hook"},
        "examples": [[{"id": "note", "on": "tool_end", "action": {"type": "log", "message": "done"}}]],
    }
    block: Schema = {"properties": {"hooks": hooks}}
    agent: Schema = {
        "properties": {"id": {"description": _DESCRIPTIONS["agent.id"]}, "hooks": hooks},
        "dependentSchemas": {"hooks": _WITH_ID},
    }
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:hookline:digitorn",
        "title": "digitorn hooks",
        "examples": [
            {"runtime": {"hooks": [{"id": "note", "on": "tool_end", "action": {"type": "log", "message": "done"}}]}}
        ],
        "type": ["object", "null"],
        "properties": {
            "runtime": {"description": _DESCRIPTIONS["runtime"], **block},
            "agents": {"description": _DESCRIPTIONS["agents"], "type": ["array", "null"], "items": agent},
        },
        "if": {"properties": {"runtime": {"type": "object", "required": ["hooks"]}}, "required": ["runtime"]},
        "else": {"properties": {"execution": {"description": _DESCRIPTIONS["execution"], **block}}},
        "$defs": {
            "hook": _hook_schema(),
            "condition": _typed_union(_condition_schemas(), _CONDITIONS, custom.CONDITION_REGISTRY.names()),
            "inner": _typed_union(_condition_schemas(), _CONDITIONS, None),
            "action": _typed_union(_action_schemas(), _ACTIONS, custom.ACTION_REGISTRY.names()),
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
    return _closed_object(_describe("", properties), ("id", "action"))


def _describe(form: str, properties: Schema) -> Schema:
    return {
        key: {"description": _DESCRIPTIONS.get(f"{form}.{key}") or _DESCRIPTIONS[key], **schema}
        for key, schema in properties.items()
    }


def _typed_union(forms: dict[str, Schema], meanings: dict[str, str], others: Any) -> Schema:
    """One of digitorn's types with exactly its keys, or one of the `others`; None allows any other name."""
    known: list[Schema] = [
        _closed_object(
            {"type": {"description": meanings[name], "const": name}, **_describe(name, form["properties"])},
            ("type", *form.get("required", ())),
        )
        | ({"anyOf": form["anyOf"]} if "anyOf" in form else {})
        for name, form in forms.items()
    ]
    name: Schema = {"type": "string", "minLength": 1, "not": _enum(forms)} if others is None else _enum(others)
    if others is None or others:
        kind = {"description": "a name that a Python package registers", **name}
        known.append({"type": "object", "properties": {"type": kind}, "required": ["type"]})
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
    params = _closed_object(_describe("", {"set": _OBJECT, "remove": {"type": "array", "items": _TEXT}}))
    result = _closed_object(_describe("", {"append_to_result": _TEXT, "inject_note": _TEXT}))
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
