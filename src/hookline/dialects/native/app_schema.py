"""JSON Schema of what a native file says of an agent, for editors."""

from __future__ import annotations

from typing import Any, Final

from hookline.config.duration import duration_pattern

Schema = dict[str, Any]

_TEXT: Final[Schema] = {"type": "string", "minLength": 1}
_ANY_TEXT: Final[Schema] = {"type": "string"}
_FLAG: Final[Schema] = {"type": "boolean"}
_TEXTS: Final[Schema] = {"anyOf": [_TEXT, {"type": "array", "items": _TEXT}]}
_COUNT: Final[Schema] = {"type": "integer", "minimum": 1}
_STEPS: Final[Schema] = {"type": "integer", "minimum": 1, "maximum": 250}
_HOST: Final[Schema] = {"type": "string", "pattern": "^[A-Za-z0-9_.:-]+$"}
_ALL_TEXTS: Final[Schema] = {"type": "object", "additionalProperties": _ANY_TEXT}
DURATION: Final[Schema] = {"type": "string", "pattern": duration_pattern()}


def properties() -> Schema:
    return {
        "agent": _or_nothing({"$ref": "#/$defs/agent"}),
        "agents": {
            "anyOf": [
                {"type": "null"},
                {"type": "array", "items": {"allOf": [{"$ref": "#/$defs/agent"}, {"required": ["id"]}]}},
                {"type": "object", "additionalProperties": {"$ref": "#/$defs/agent"}},
            ]
        },
        "model": _or_nothing(_TEXT),
        "models": _named({"anyOf": [_TEXT, _model()]}),
        "mcp": _named({"anyOf": [_TEXTS, _server()]}),
        "lsp": _named(_language_server()),
        "triggers": _or_nothing({"type": "array", "items": _trigger()}),
        "skills": _or_nothing(_TEXTS),
        "store": _or_nothing({"type": "string", "pattern": "^(sqlite|postgres|postgresql(\\+asyncpg)?):"}),
        "private_hosts": _or_nothing({"anyOf": [_HOST, {"type": "array", "items": _HOST}]}),
    }


def definitions() -> Schema:
    return {"agent": _agent(), "prompt": _prompt()}


def _or_nothing(schema: Schema) -> Schema:
    return {"anyOf": [{"type": "null"}, schema]}


def _named(schema: Schema) -> Schema:
    names = {"pattern": "^[A-Za-z0-9][A-Za-z0-9_-]*$"}
    return _or_nothing({"type": "object", "propertyNames": names, "additionalProperties": schema})


def _closed(properties: Schema, *required: str) -> Schema:
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": list(required)}


def _side() -> Schema:
    return {
        "prompt": {"$ref": "#/$defs/prompt"},
        "label": _TEXT,
        "stop_on_response": _FLAG,
        "stop_tool": _TEXT,
        "max_steps": _STEPS,
        "session_stop": _TEXT,
        "session_fail": _TEXT,
        "model": _TEXT,
        "tools": _TEXTS,
    }


def _agent() -> Schema:
    own = {
        "id": _TEXT,
        "name": _TEXT,
        "description": _TEXT,
        "subagents": _TEXTS,
        "max_turns": _COUNT,
        "side_a": _closed(_side()),
        "side_b": _closed(_side()),
    }
    return _closed({**own, **_side()})


def _prompt() -> Schema:
    more: Schema = {"name": _TEXT, "model": _TEXT, "tools": _TEXTS}
    return {
        "anyOf": [_ANY_TEXT, _closed({**more, "text": _ANY_TEXT}, "text"), _closed({**more, "file": _TEXT}, "file")]
    }


def _model() -> Schema:
    return _closed({"model": _TEXT, "fallbacks": _TEXTS, "context_limit": _COUNT, "base_url": _TEXT}, "model")


def _server() -> Schema:
    program: Schema = {"command": _TEXTS, "args": _TEXTS, "env": _ALL_TEXTS, "timeout": DURATION}
    remote: Schema = {"url": {"type": "string", "pattern": "^https?://"}, "headers": _ALL_TEXTS, "timeout": DURATION}
    return {
        "anyOf": [_closed({**program, "headers": _ALL_TEXTS}, "command"), _closed({**remote, "env": _ALL_TEXTS}, "url")]
    }


def _language_server() -> Schema:
    program: Schema = {"command": _TEXTS, "args": _TEXTS, "env": _ALL_TEXTS}
    return _closed({**program, "files": _TEXTS, "language": _TEXT}, "command", "files")


def _trigger() -> Schema:
    shared: Schema = {"id": _TEXT, "prompt": _TEXT, "agent": _TEXT, "timezone": _TEXT, "open": _FLAG}
    return {
        "anyOf": [
            _closed({**shared, "cron": _TEXT}, "cron", "prompt"),
            _closed({**shared, "files": _TEXT}, "files", "prompt"),
            _closed({**shared, "http": {"type": "string", "pattern": "^/"}}, "http", "prompt"),
        ]
    }
