"""The keys of a native file that describe an agent, and their JSON Schema. The runtime reads them."""

from __future__ import annotations

from typing import Final

from hookline.dialects.native.keys import (
    ANY_TEXT,
    DURATION,
    FLAG,
    TEXT,
    TEXTS,
    Key,
    Schema,
    integer_schema,
    key_table,
    object_schema,
)

_HOST_NAME: Final[Schema] = {"type": "string", "pattern": "^[A-Za-z0-9_.:-]+$"}
_TEXT_MAPPING: Final[Schema] = {"type": "object", "additionalProperties": ANY_TEXT}
_AGENT: Final[Schema] = {"$ref": "#/$defs/agent"}


def app_definitions() -> Schema:
    return {"agent": _agent_schema(), "prompt": _prompt_schema()}


def _nullable(schema: Schema) -> Schema:
    return {"anyOf": [{"type": "null"}, schema]}


def _named_entries(schema: Schema) -> Schema:
    names = {"pattern": "^[A-Za-z0-9][A-Za-z0-9_-]*$"}
    return _nullable({"type": "object", "propertyNames": names, "additionalProperties": schema})


def _agent_schema() -> Schema:
    side: Schema = {
        "prompt": {"$ref": "#/$defs/prompt"},
        "label": TEXT,
        "stop_on_response": FLAG,
        "stop_tool": TEXT,
        "max_steps": {"type": "integer", "minimum": 1, "maximum": 250},
        "session_stop": TEXT,
        "session_fail": TEXT,
        "model": TEXT,
        "tools": TEXTS,
    }
    own: Schema = {
        "id": TEXT,
        "name": TEXT,
        "description": TEXT,
        "subagents": TEXTS,
        "max_turns": integer_schema(1),
        "side_a": object_schema(side),
        "side_b": object_schema(side),
    }
    return object_schema({**own, **side})


def _prompt_schema() -> Schema:
    more: Schema = {"name": TEXT, "model": TEXT, "tools": TEXTS}
    return {
        "anyOf": [
            ANY_TEXT,
            object_schema({**more, "text": ANY_TEXT}, ("text",)),
            object_schema({**more, "file": TEXT}, ("file",)),
        ]
    }


def _model_schema() -> Schema:
    properties = {"model": TEXT, "fallbacks": TEXTS, "context_limit": integer_schema(1), "base_url": TEXT}
    return object_schema(properties, ("model",))


def _server_schema() -> Schema:
    shared: Schema = {"env": _TEXT_MAPPING, "headers": _TEXT_MAPPING, "timeout": DURATION}
    return {
        "anyOf": [
            object_schema({**shared, "command": TEXTS, "args": TEXTS}, ("command",)),
            object_schema({**shared, "url": {"type": "string", "pattern": "^https?://"}}, ("url",)),
        ]
    }


def _language_server_schema() -> Schema:
    properties = {"command": TEXTS, "args": TEXTS, "env": _TEXT_MAPPING, "files": TEXTS, "language": TEXT}
    return object_schema(properties, ("command", "files"))


def _trigger_schema() -> Schema:
    shared: Schema = {"id": TEXT, "prompt": TEXT, "agent": TEXT, "timezone": TEXT, "open": FLAG}
    return {
        "anyOf": [
            object_schema({**shared, "cron": TEXT}, ("cron", "prompt")),
            object_schema({**shared, "files": TEXT}, ("files", "prompt")),
            object_schema({**shared, "http": {"type": "string", "pattern": "^/"}}, ("http", "prompt")),
        ]
    }


APP_KEYS: Final = key_table(
    Key("agent", schema=_nullable(_AGENT), help="the agent that `hookline run` starts; it does not affect hooks"),
    Key(
        "agents",
        schema={
            "anyOf": [
                {"type": "null"},
                {"type": "array", "items": {"allOf": [_AGENT, {"required": ["id"]}]}},
                {"type": "object", "additionalProperties": _AGENT},
            ]
        },
        help="several agents, as a list with ids or as a mapping by id; `hookline run` starts the first",
    ),
    Key(
        "model",
        schema=_nullable(TEXT),
        help="the model of every agent that names none: `provider:model`, or a name in `models`",
    ),
    Key("models", schema=_named_entries({"anyOf": [TEXT, _model_schema()]}), help="models by names of your own"),
    Key("mcp", schema=_named_entries({"anyOf": [TEXTS, _server_schema()]}), help="MCP servers by name"),
    Key("lsp", schema=_named_entries(_language_server_schema()), help="language servers by name"),
    Key(
        "triggers",
        schema=_nullable({"type": "array", "items": _trigger_schema()}),
        help="what starts a turn: a time, changed files, an HTTP request",
    ),
    Key("skills", schema=_nullable(TEXTS), help="folders with skills, beside `.hookline/skills`"),
    Key(
        "store",
        schema=_nullable({"type": "string", "pattern": "^(sqlite|postgres|postgresql(\\+asyncpg)?):"}),
        help="where sessions are stored, as a URL",
    ),
    Key(
        "private_hosts",
        schema=_nullable({"anyOf": [_HOST_NAME, {"type": "array", "items": _HOST_NAME}]}),
        help="hosts that `fetch` may reach although they are not public",
    ),
)
