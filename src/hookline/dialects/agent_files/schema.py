"""JSON Schema of an agent's hook file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hookline.dialects.agent_files.format import MILLISECOND, SECOND, AgentFormat, Layout
from hookline.dialects.json_schema import describe, has_value, nullable, optional_keys
from hookline.dialects.settings_json import Schema, settings_schema
from hookline.hooks.actions.post import URL_PATTERN
from hookline.hooks.tools import ToolKind

_TEXT: Final[Schema] = {"type": "string", "minLength": 1}
_ANY_TEXT: Final[Schema] = {"type": "string"}
_FLAG: Final[Schema] = {"type": "boolean"}
_TEXTS: Final[Schema] = {"type": "object", "additionalProperties": _ANY_TEXT}
_DIRECTORY: Final = describe("Where the command runs, relative to the project.", _ANY_TEXT, "tools")
_PROPERTIES: Final[Schema] = {
    "command": describe("Shell text; with args, a program.", _TEXT, "./check.sh"),
    "bash": describe("The command, on Linux and macOS.", _TEXT, "./check.sh"),
    "linux": describe("The command, on Linux.", _TEXT, "./check.sh"),
    "exec": describe("A program that runs without a shell.", _TEXT, "./check"),
    "args": describe("The program's arguments; no shell is used.", {"type": "array", "items": _ANY_TEXT}, ["--strict"]),
    "env": describe("Variables for the command.", _TEXTS, {"CI": "1"}, default={}),
    "cwd": _DIRECTORY,
    "working_directory": _DIRECTORY,
    "async": describe("Runs in the background; its output decides nothing.", _FLAG, default=False),
    "once": describe("Runs once in a session.", _FLAG, default=False),
    "enabled": describe("false: the hook does not run.", _FLAG, default=True),
    "failClosed": describe("A failure denies.", _FLAG, default=False),
    "fail_mode": describe("closed: a failure denies.", {"enum": ["open", "closed"]}, default="open"),
    "url": describe(
        "Receives the event.",
        {"type": "string", "pattern": f"^{URL_PATTERN.pattern}$"},
        "http://127.0.0.1:8080/hook",
    ),
    "headers": describe("Headers of the request.", _TEXTS, {"Authorization": "Bearer $TOKEN"}, default={}),
    "allowedEnvVars": describe(
        "The variables that headers may name.", {"type": "array", "items": _TEXT}, ["TOKEN"], default=[]
    ),
    "server": describe("The MCP server.", _TEXT, "policy"),
    "tool": describe("The server's tool.", _TEXT, "check_command"),
    "input": describe("The tool's input.", {"type": "object"}, {"strict": True}, default={}),
    "prompt": describe("What the model is asked about the event.", _TEXT, "Is this safe? $ARGUMENTS"),
}


def build_schema(format: AgentFormat, newer_format: AgentFormat | None = None) -> Schema:
    """`newer_format` is that of the agent's newer files, which have a list."""
    schema = _build_schema(format)
    if newer_format is not None:
        other = _build_schema(newer_format)
        schema["$defs"] |= {
            "list": {"type": "array", "items": {"$ref": "#/$defs/hook"}},
            "hook": other["$defs"]["entry"],
        }
        schema["$defs"]["by_event"] = schema["$defs"]["hooks"]
        schema["$defs"]["hooks"] = {"anyOf": [{"$ref": "#/$defs/by_event"}, {"$ref": "#/$defs/list"}]}
        schema["examples"] += other["examples"]
    return schema


def _build_schema(format: AgentFormat) -> Schema:
    handlers = {type_: _handler_schema(format, type_) for type_ in format.handlers}
    handler: Schema = next(iter(handlers.values())) if len(handlers) == 1 else {"anyOf": list(handlers.values())}
    entry = _group_schema(format, handler) if format.layout is Layout.GROUPS else handler
    if format.action_key:
        entry = _entry_schema(format, handler)
    if format.layout is Layout.EITHER:
        entry = {"anyOf": [handler, _group_schema(format, handler)]}
    schema = settings_schema(format.name, format.events, entry, _example(format))
    schema["title"] = f"{format.title}: the hooks"
    if format.layout is Layout.LIST:
        schema["$defs"]["hooks"] = {"type": "array", "items": {"$ref": "#/$defs/entry"}}
        return schema
    ignored: Schema = {"type": "array", "items": {"type": "object"}}
    properties = schema["$defs"]["hooks"]["properties"]
    for name in format.unsupported_events:
        properties[name] = {"description": "hookline does not fire this event.", **nullable(ignored)}
    for name in format.other_hook_keys:
        properties[name] = {"description": "A setting of the agent."}
    return schema


def _handler_example(format: AgentFormat) -> Schema:
    type_ = "command" if "command" in format.handlers else next(iter(format.handlers))
    named = {} if format.default_type else {"type": type_}
    return {**named, format.command_keys[0]: "./check.sh"}


def _example(format: AgentFormat) -> Schema:
    """A command before each call of a tool."""
    event_name = next(name for name, event in format.events.items() if event == "tool.before")
    handler = _handler_example(format)
    if format.layout is Layout.LIST:
        entry = {"name": "check", format.action_key: handler} if format.action_key else handler
        return {"hooks": [{format.entry_event_key: event_name, **entry}]}
    return {"hooks": {event_name: [{"hooks": [handler]} if format.layout is Layout.GROUPS else handler]}}


def _group_schema(format: AgentFormat, handler: Schema) -> Schema:
    about = "The tools, or what the event is about, for which it runs; without it, all."
    own: Schema = {
        "matcher": nullable(describe(about, _ANY_TEXT, _matcher_example(format))),
        "hooks": describe("the hooks of this group", {"type": "array", "items": handler}, [_handler_example(format)]),
    }
    more = {key: {"description": "Ignored by hookline."} for key in format.group_keys if key not in own}
    return {"type": "object", "required": ["hooks"], "properties": {**own, **more}}


def _matcher_example(format: AgentFormat) -> str:
    return format.vocabulary.names[ToolKind.SHELL][0]


def _handler_schema(format: AgentFormat, type_: str) -> Schema:
    handler = format.handlers[type_]
    required = [*([] if format.default_type == type_ else ["type"]), *handler.required]
    standard = {"default": type_} if format.default_type == type_ else {}
    properties: Schema = {"type": describe("What the hook is.", {"const": type_}, **standard)}
    if format.layout is not Layout.GROUPS and not format.action_key:
        properties |= _entry_properties(format)
        required += [format.entry_event_key] if format.layout is Layout.LIST else []
    properties |= _key_schemas(format, handler.keys, type_)
    if type_ == "agent":
        properties["prompt"] = describe("What the agent reads.", _TEXT, "Update the tests.")
    schema: Schema = {"type": "object", "required": required, "properties": optional_keys(properties, required)}
    if type_ == "command" and not handler.required:
        schema["anyOf"] = [has_value(key) for key in format.command_keys]
    return schema


def _entry_properties(format: AgentFormat) -> Schema:
    about = "The tools for which it runs; without it, all."
    matcher = {"matcher": describe(about, _ANY_TEXT, _matcher_example(format))}
    if format.layout is not Layout.LIST:
        return matcher
    names = [*format.events, *format.unsupported_events]
    return {**matcher, format.entry_event_key: describe("The event.", {"enum": names})}


def _key_schemas(format: AgentFormat, keys: Iterable[str], type_: str) -> Schema:
    ignored: Schema = {"description": "Ignored by hookline."}
    return {
        key: _timeout_schema(format, key, type_) if key in format.timeout_keys else _PROPERTIES.get(key, ignored)
        for key in keys
    }


def _entry_schema(format: AgentFormat, handler: Schema) -> Schema:
    """An entry around its handler."""
    required = [format.entry_event_key, format.action_key]
    keys = _key_schemas(format, format.entry_keys, "command")
    action = describe("What the hook does.", handler, _handler_example(format))
    properties = {**_entry_properties(format), **keys, format.action_key: action}
    return {"type": "object", "required": required, "properties": optional_keys(properties, required)}


def _timeout_schema(format: AgentFormat, key: str, type_: str) -> Schema:
    unit = MILLISECOND if key.endswith("_ms") else format.timeout_unit
    word = "Milliseconds" if unit == MILLISECOND else "Seconds"
    others = [f"{timeout / unit:g} for {event}" for event, timeout in format.timeouts.items()]
    about = f"{word}; {', '.join(others)}, if it is not written." if others else f"{word}."
    schema = {"type": "number", "minimum": 0}
    return describe(about, schema, 10 * SECOND // unit, default=format.default_timeout("", type_) // unit)
