"""JSON Schema of an app file's hooks, for editors; the file's other keys are open."""

from __future__ import annotations

from typing import Any

from hookline.dialects import custom
from hookline.dialects.digitorn.actions import (
    ACTIONS,
    DEFAULT_REASON,
    MAX_TIMEOUT,
    NOTICE_LEVELS,
    PLACE_BY_STRATEGY,
    POSITIONS,
    ROLES,
)
from hookline.dialects.digitorn.conditions import CONDITIONS, DEFAULT_THRESHOLDS, PRESSURE
from hookline.dialects.digitorn.dialect import EVENTS, HOOK_KEYS, MAX_COOLDOWN_SECONDS
from hookline.dialects.json_schema import describe, has_value, optional_keys
from hookline.hooks.actions.diagnose import Diagnose
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
_TEXT: Schema = {"type": "string", "minLength": 1}
_ANY_TEXT: Schema = {"type": "string"}
_FLAG: Schema = {"type": "boolean"}
_OBJECT: Schema = {"type": "object"}
_HOOKS: list[Schema] = [{"id": "note", "on": "tool_end", "action": {"type": "log", "message": "done"}}]
_TEXTS: Schema = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}
_NAME: Schema = {"type": "string", "pattern": r"[^|\s]"}
_NAMES: Schema = {"anyOf": [_NAME, {"type": "array", "items": _TEXT, "contains": _NAME}]}


def build_schema() -> Schema:
    listed: Schema = {"type": ["array", "null"], "items": {"$ref": "#/$defs/hook"}}
    hooks = describe("the hooks; `priority` says which runs first", listed, _HOOKS)
    block: Schema = {"properties": {"hooks": hooks}}
    agent: Schema = {
        "properties": {"id": describe("the agent's id; needed if it has hooks", {}, "coder"), "hooks": hooks},
        "dependentSchemas": {"hooks": _WITH_ID},
    }
    agents: Schema = {"type": ["array", "null"], "items": agent}
    runtime = describe("settings of the app; `hooks` are for all of its agents", block, {"hooks": _HOOKS})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:hookline:digitorn",
        "title": "digitorn hooks",
        "examples": [{"runtime": {"hooks": _HOOKS}}],
        "type": ["object", "null"],
        "properties": {
            "runtime": runtime,
            "agents": describe(
                "the agents of the app; each may have hooks of its own", agents, [{"id": "coder", "hooks": _HOOKS}]
            ),
        },
        "if": {"properties": {"runtime": {"type": "object", "required": ["hooks"]}}, "required": ["runtime"]},
        "else": {
            "properties": {"execution": describe("the older name of `runtime`", block, {"hooks": _HOOKS})},
        },
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
    pause = "seconds between two fires in a session; the first is never delayed"
    fires = "how often the hook may fire in a session; 0 is no limit"
    tags: Schema = {"type": "array", "items": _TEXT}
    condition: Schema = {"$ref": "#/$defs/condition"}
    properties: Schema = {
        "id": describe("the hook's name, unique among its neighbours", _TEXT, "no-delete"),
        "on": describe("the event", _enum(EVENTS), "tool_start", default="turn_end"),
        "condition": describe(
            "when the hook acts; without it, every time", condition, {"type": "tool_name", "match": "filesystem.*"}
        ),
        "action": describe("what the hook does", {"$ref": "#/$defs/action"}, {"type": "gate", "reason": "Not here."}),
        "cooldown": describe(pause, _number(0, MAX_COOLDOWN_SECONDS), 60, default=0),
        "max_fires": describe(fires, _integer(0), 3, default=0),
        "priority": describe("lower runs first; ties in the order of the file", {"type": "integer"}, 10, default=100),
        "enabled": describe("false: the hook is loaded but never fires", _FLAG, default=True),
        "tags": describe("free labels, shown by `hookline list`", tags, ["quality"], default=[]),
    }
    assert properties.keys() == set(HOOK_KEYS)
    return _closed_object(properties, ("id", "action"))


def _typed_union(forms: dict[str, Schema], meanings: dict[str, str], others: Any) -> Schema:
    """One of digitorn's types with exactly its keys, or one of the `others`; None allows any other name."""
    known: list[Schema] = [
        _closed_object(
            {"type": describe(meanings[name], {"const": name}), **form["properties"]},
            ("type", *form.get("required", ())),
        )
        | ({"anyOf": form["anyOf"]} if "anyOf" in form else {})
        for name, form in forms.items()
    ]
    name: Schema = {"type": "string", "minLength": 1, "not": _enum(forms)} if others is None else _enum(others)
    if others is None or others:
        kind = describe("a name that a Python package registers", name, *([] if others else ["office_hours"]))
        known.append({"type": "object", "properties": {"type": kind}, "required": ["type"]})
    return {"anyOf": known}


def _condition_schemas() -> dict[str, Schema]:
    inner: Schema = {"$ref": "#/$defs/inner"}
    failed: Schema = {"type": "tool_failed"}
    several: Schema = {
        "properties": {"conditions": describe("the conditions", {"type": "array", "items": inner}, [failed])},
        "required": ["conditions"],
    }
    names_help = "a glob for the name, or a list of them; `|` separates alternatives"
    names: Schema = {
        "properties": {"match": describe(names_help, _NAMES, "filesystem.*")},
        "required": ["match"],
    }
    keyword = describe("the word, in upper or lower case", _TEXT, "deploy")
    formula = describe(
        "an expression over turn, tools, messages, pressure, tokens and max_turns",
        _TEXT,
        "pressure > 0.5 and turn % 10 == 0",
    )
    forms: dict[str, Schema] = {
        "always": {"properties": {}},
        "never": {"properties": {}},
        "all_of": several,
        "any_of": several,
        "not": {
            "properties": {"condition": describe("the condition that must be false", inner, failed)},
            "required": ["condition"],
        },
        "turn_count": {
            "properties": {
                "threshold": describe("exactly at this turn", _integer(0), 10),
                "every": describe("at turns N, 2N, 3N, …", _integer(1), 5),
            },
            "anyOf": [has_value("threshold"), has_value("every")],
        },
        "tool_name": names,
        "tool_failed": {"properties": {}},
        "content_contains": {"properties": {"keyword": keyword}, "required": ["keyword"]},
        "error_type": names,
        "expression": {"properties": {"expr": formula}, "required": ["expr"]},
    }
    for name, (path, default) in DEFAULT_THRESHOLDS.items():
        schema, example = (_number(0, 1), 0.9) if path == PRESSURE else (_number(0), 40)
        threshold = describe("above this value, the condition is true", schema, example, default=default)
        forms[name] = {"properties": {"threshold": threshold}}
    assert forms.keys() == CONDITIONS.keys()
    return forms


def _action_schemas() -> dict[str, Schema]:
    forms: dict[str, Schema] = {
        **_context_action_schemas(),
        **_module_action_schemas(),
        **_program_action_schemas(),
        **_transform_action_schemas(),
        **_external_action_schemas(),
        **_language_server_schemas(),
    }
    assert forms.keys() == ACTIONS.keys()
    return forms


def _module_action_schemas() -> dict[str, Schema]:
    module: Schema = {
        "module": describe("the module's name", _TEXT, "lint"),
        "action": describe("the name of the module's action", _TEXT, "check"),
        "action_params": describe(
            "the arguments of the module's action; texts may have placeholders",
            _OBJECT,
            {"path": "{{tool.params.path}}"},
            default={},
        ),
    }
    format_help = "`auto` adds the result only if it failed or has errors or diagnostics, `always` every time"
    return {
        "module_action": {"properties": module, "required": ["module", "action"]},
        "module_action_inject": {
            "properties": {
                **module,
                "format": describe(format_help, _enum(("auto", "always")), default="auto"),
                "prefix": describe("text before the result", _ANY_TEXT, "Lint: ", default=""),
            },
            "required": ["module", "action"],
        },
    }


def _program_action_schemas() -> dict[str, Schema]:
    seconds = _number(0.001, MAX_TIMEOUT.total_seconds())
    actions: Schema = {"type": "array", "items": {"$ref": "#/$defs/action"}}
    return {
        "log": {
            "properties": {
                "message": describe("the text; it may have placeholders", _TEXT, "{{tool.name}} was called"),
                "level": describe("how important it is", _enum(LEVELS), default="info"),
            },
            "required": ["message"],
        },
        "shell": {
            "properties": {
                "command": describe("the shell command; values of placeholders are quoted", _TEXT, "make lint"),
                "cwd": describe("the directory in which it runs", _TEXT, "{{workspace}}"),
                "timeout": describe("seconds after which it is stopped", seconds, 10, default=30),
                "on_error": describe(
                    "what happens if it fails: nothing, or the agent is told",
                    _enum(("ignore", "inject")),
                    default="ignore",
                ),
            },
            "required": ["command"],
        },
        "gate": {
            "properties": {
                "reason": describe("what the agent is told", _ANY_TEXT, "A person does that.", default=DEFAULT_REASON)
            }
        },
        "chain": {
            "properties": {
                "stop_on_failure": describe("whether a failed action ends the chain", _FLAG, default=False),
                "actions": describe("the actions, in their order", actions, [{"type": "log", "message": "done"}]),
            },
            "required": ["actions"],
        },
    }


def _context_action_schemas() -> dict[str, Schema]:
    strategy_help = "how: a summary of the old messages, or without them"
    return {
        "compact_context": {
            "properties": {
                "strategy": describe(strategy_help, _enum(("summarize", "truncate")), default="summarize"),
                "keep_recent": describe("how many of the last messages stay", _integer(0), 20, default=10),
                "summary_max_tokens": describe("the length of the summary", _integer(1), 2000, default=1024),
                "summary_prompt": describe(
                    "what the model that writes the summary is told", _TEXT, "Keep every file name."
                ),
                "target_pressure": describe("how full the context may be afterwards, from 0 to 1", _number(0, 1), 0.5),
                "cooldown_turns": describe("turns before the context is made smaller again", _integer(0), 5, default=3),
            }
        },
        "inject_message": {
            "properties": {
                "strategy": describe("where the text goes", _enum((*PLACE_BY_STRATEGY, "new_message")), default="auto"),
                "content": describe("the text", _TEXT, "Run the tests."),
                "role": describe("whose message it is", _enum(ROLES), default="user"),
                "position": describe("where the message goes", _enum(POSITIONS), default="before_last"),
            },
            "required": ["content"],
        },
    }


def _transform_action_schemas() -> dict[str, Schema]:
    params = _closed_object(
        {
            "set": describe("parameters of the tool, with their new values", _OBJECT, {"timeout": 60}),
            "remove": describe(
                "parameters of the tool that are removed", {"type": "array", "items": _TEXT}, ["timeout"]
            ),
        }
    )
    result = _closed_object(
        {
            "append_to_result": describe("text after the result", _TEXT, "Checked."),
            "inject_note": describe("text that the agent gets beside the result", _TEXT, "Read it again."),
        }
    )
    params["anyOf"] = [has_value("set"), has_value("remove")]
    result["anyOf"] = [has_value("append_to_result"), has_value("inject_note")]
    return {
        "transform_params": {
            "properties": {"transformation": describe("the change", params, {"set": {"timeout": 60}})},
            "required": ["transformation"],
        },
        "transform_result": {
            "properties": {"transformation": describe("the change", result, {"append_to_result": "Checked."})},
            "required": ["transformation"],
        },
    }


def _external_action_schemas() -> dict[str, Schema]:
    return {
        "notify": {
            "properties": {
                "title": describe("the title of the notification", _ANY_TEXT, "Build", default=""),
                "message": describe("the text; it may have placeholders", _TEXT, "The build is done."),
                "level": describe("how important it is", _enum(NOTICE_LEVELS), default="info"),
                "tag": describe("a label of the notification", _ANY_TEXT, "build", default=""),
            },
            "required": ["message"],
        },
        "pipe": {
            "properties": {
                "to": describe("the tool that is called", _TEXT, "lint.check"),
                "map": describe(
                    "fields of its input; texts may have placeholders",
                    _OBJECT,
                    {"path": "{{tool.params.path}}"},
                    default={},
                ),
                "extra": describe("fields of its input, as they are written", _OBJECT, {"strict": True}, default={}),
                "on_error": describe(
                    "what happens if it fails: nothing, a line in the log, or its chain ends",
                    _enum(("ignore", "log", "raise")),
                    default="ignore",
                ),
            },
            "required": ["to"],
        },
    }


def _language_server_schemas() -> dict[str, Schema]:
    return {
        "lsp_diagnose": {
            "properties": {
                "path_field": describe(
                    "the field of the input that has the file's path, or several",
                    _TEXTS,
                    "path",
                    default=list(Diagnose().path_fields),
                ),
                "content_field": describe(
                    "the field of the input that has the file's content, or several",
                    _TEXTS,
                    "content",
                    default=list(Diagnose().content_fields),
                ),
                "publish": describe("whether clients are told what was found", _FLAG, default=True),
                "inject_result": describe("whether the agent sees what was found", _FLAG, default=True),
                "read_from_disk": describe(
                    "whether the file is read, instead of the content in the call", _FLAG, default=True
                ),
            }
        },
    }
