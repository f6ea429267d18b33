"""JSON Schema of what a native file says of an agent, for editors."""

from __future__ import annotations

from typing import Any, Final

from hookline.config.scalars import duration_pattern

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string", "minLength": 1}
_ANY_TEXT: Final[Schema] = {"type": "string"}
_FLAG: Final[Schema] = {"type": "boolean"}
_TEXTS: Final[Schema] = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 1}
_STEP_COUNT: Final[Schema] = {"type": "integer", "minimum": 1, "maximum": 250}
_HOST_NAME: Final[Schema] = {"type": "string", "pattern": "^[A-Za-z0-9_.:-]+$"}
_TEXT_MAPPING: Final[Schema] = {"type": "object", "additionalProperties": _ANY_TEXT}
DURATION: Final[Schema] = {"type": "string", "pattern": duration_pattern()}


def app_properties() -> Schema:
    return {
        "agent": _nullable({"$ref": "#/$defs/agent"}),
        "agents": {
            "anyOf": [
                {"type": "null"},
                {"type": "array", "items": {"allOf": [{"$ref": "#/$defs/agent"}, {"required": ["id"]}]}},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/agent"}},
            ]
        },
        "model": _nullable(_TEXT),
        "models": _named_entries({"anyOf": [_TEXT, _model_schema()]}),
        "mcp": _named_entries({"anyOf": [_TEXTS, _server_schema()]}),
        "lsp": _named_entries(_language_server_schema()),
        "triggers": _nullable({"type": "array", "items": _trigger_schema()}),
        "skills": _nullable(_TEXTS),
        "store": _nullable({"type": "string", "pattern": "^(sqlite|postgres|postgresql(\\+asyncpg)?):"}),
        "private_hosts": _nullable({"anyOf": [_HOST_NAME, {"type": "array", "items": _HOST_NAME}]}),
    }


def app_definitions() -> Schema:
    return {"agent": _agent_schema(), "prompt": _prompt_schema()}


def _nullable(schema: Schema) -> Schema:
    return {"anyOf": [{"type": "null"}, schema]}


def _named_entries(schema: Schema) -> Schema:
    names = {"pattern": "^[A-Za-z0-9][A-Za-z0-9_-]*$"}
    return _nullable({"type": "object", "propertyNames": names, "additionalProperties": schema})


def _app_object(properties: Schema, *required: str) -> Schema:
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": list(required)}


def _side_properties() -> Schema:
    return {
        "prompt": {"$ref": "#/$defs/prompt"},
        "label": _TEXT,
        "stop_on_response": _FLAG,
        "stop_tool": _TEXT,
        "max_steps": _STEP_COUNT,
        "session_stop": _TEXT,
        "session_fail": _TEXT,
        "model": _TEXT,
        "tools": _TEXTS,
    }


def _agent_schema() -> Schema:
    own = {
        "id": _TEXT,
        "name": _TEXT,
        "description": _TEXT,
        "subagents": _TEXTS,
        "max_turns": _COUNT,
        "side_a": _app_object(_side_properties()),
        "side_b": _app_object(_side_properties()),
    }
    return _app_object({**own, **_side_properties()})


def _prompt_schema() -> Schema:
    more: Schema = {"name": _TEXT, "model": _TEXT, "tools": _TEXTS}
    return {
        "anyOf": [
            _ANY_TEXT,
            _app_object({**more, "text": _ANY_TEXT}, "text"),
            _app_object({**more, "file": _TEXT}, "file"),
        ]
    }


def _model_schema() -> Schema:
    return _app_object({"model": _TEXT, "fallbacks": _TEXTS, "context_limit": _COUNT, "base_url": _TEXT}, "model")


def _server_schema() -> Schema:
    program: Schema = {"command": _TEXTS, "args": _TEXTS, "env": _TEXT_MAPPING, "timeout": DURATION}
    remote: Schema = {"url": {"type": "string", "pattern": "^https?://"}, "headers": _TEXT_MAPPING, "timeout": DURATION}
    return {
        "anyOf": [
            _app_object({**program, "headers": _TEXT_MAPPING}, "command"),
            _app_object({**remote, "env": _TEXT_MAPPING}, "url"),
        ]
    }


def _language_server_schema() -> Schema:
    program: Schema = {"command": _TEXTS, "args": _TEXTS, "env": _TEXT_MAPPING}
    return _app_object({**program, "files": _TEXTS, "language": _TEXT}, "command", "files")


def _trigger_schema() -> Schema:
    shared: Schema = {"id": _TEXT, "prompt": _TEXT, "agent": _TEXT, "timezone": _TEXT, "open": _FLAG}
    return {
        "anyOf": [
            _app_object({**shared, "cron": _TEXT}, "cron", "prompt"),
            _app_object({**shared, "files": _TEXT}, "files", "prompt"),
            _app_object({**shared, "http": {"type": "string", "pattern": "^/"}}, "http", "prompt"),
        ]
    }
