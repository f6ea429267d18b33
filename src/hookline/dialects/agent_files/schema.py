"""JSON Schema of an agent's hook file."""

from __future__ import annotations

from typing import Final

from hookline.dialects.agent_files.format import MILLISECOND, AgentFormat, Layout
from hookline.dialects.json_schema import nullable, optional_keys
from hookline.dialects.settings_json import Schema, settings_schema
from hookline.hooks.actions.post import URL_PATTERN

_TEXT: Final[Schema] = {"type": "string", "minLength": 1}
_ANY_TEXT: Final[Schema] = {"type": "string"}
_FLAG: Final[Schema] = {"type": "boolean"}
_TEXTS: Final[Schema] = {"type": "object", "additionalProperties": _ANY_TEXT}
_PROPERTIES: Final[Schema] = {
    "command": {**_TEXT, "description": "Shell text; with args, a program."},
    "bash": {**_TEXT, "description": "The command, on Linux and macOS."},
    "args": {"type": "array", "items": _ANY_TEXT, "description": "The program's arguments; no shell is used."},
    "env": {**_TEXTS, "description": "Variables for the command."},
    "cwd": {**_ANY_TEXT, "description": "Where the command runs, relative to the project."},
    "working_directory": {**_ANY_TEXT, "description": "Where the command runs, relative to the project."},
    "async": {**_FLAG, "description": "Runs in the background; its output decides nothing."},
    "once": {**_FLAG, "description": "Runs once in a session."},
    "enabled": {**_FLAG, "description": "false: the hook does not run."},
    "failClosed": {**_FLAG, "description": "A failure denies."},
    "url": {"type": "string", "pattern": f"^{URL_PATTERN.pattern}$", "description": "Receives the event."},
    "headers": {**_TEXTS, "description": "Headers of the request."},
    "allowedEnvVars": {"type": "array", "items": _TEXT, "description": "The variables that headers may name."},
    "server": {**_TEXT, "description": "The MCP server."},
    "tool": {**_TEXT, "description": "The server's tool."},
    "input": {"type": "object", "description": "The tool's input."},
    "prompt": {**_TEXT, "description": "What the model is asked about the event."},
}


def build_schema(format: AgentFormat) -> Schema:
    handlers = {type_: _handler_schema(format, type_) for type_ in format.handlers}
    handler: Schema = next(iter(handlers.values())) if len(handlers) == 1 else {"anyOf": list(handlers.values())}
    entry = _group_schema(format, handler) if format.layout is Layout.GROUPS else handler
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


def _example(format: AgentFormat) -> Schema:
    """A command before each call of a tool."""
    event_name = next(name for name, event in format.events.items() if event == "tool.before")
    type_ = "command" if "command" in format.handlers else next(iter(format.handlers))
    named = {} if format.default_type else {"type": type_}
    handler = {**named, format.command_keys[0]: "./check.sh"}
    if format.layout is Layout.LIST:
        return {"hooks": [{"event": event_name, **handler}]}
    return {"hooks": {event_name: [{"hooks": [handler]} if format.layout is Layout.GROUPS else handler]}}


def _group_schema(format: AgentFormat, handler: Schema) -> Schema:
    own: Schema = {
        "matcher": nullable({**_ANY_TEXT, "description": "The tools, or what the event is about, for which it runs."}),
        "hooks": {"type": "array", "items": handler, "description": "the hooks of this group"},
    }
    more = {key: {"description": "Ignored by hookline."} for key in format.group_keys if key not in own}
    return {"type": "object", "required": ["hooks"], "properties": {**own, **more}}


def _handler_schema(format: AgentFormat, type_: str) -> Schema:
    handler = format.handlers[type_]
    required = [*([] if format.default_type else ["type"]), *handler.required]
    properties: Schema = {"type": {"const": type_, "description": "What the hook is."}}
    if format.layout in (Layout.FLAT, Layout.EITHER, Layout.LIST):
        properties["matcher"] = {**_ANY_TEXT, "description": "The tools for which it runs."}
    if format.layout is Layout.LIST:
        properties["event"] = {"enum": [*format.events, *format.unsupported_events], "description": "The event."}
        required.append("event")
    for key in handler.keys:
        properties[key] = _PROPERTIES.get(key, {"description": "Ignored by hookline."})
        if key in format.timeout_keys:
            is_small = format.timeout_unit == MILLISECOND or key.endswith("_ms")
            properties[key] = {
                "type": "number",
                "minimum": 0,
                "description": "Milliseconds." if is_small else "Seconds.",
            }
    return {"type": "object", "required": required, "properties": optional_keys(properties, required)}
