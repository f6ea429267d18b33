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
_MODEL_HELP: Final = "its model: `provider:model`, or a name in `models`"
_TOOLS_HELP: Final = "the tools that it may use"
_ENV_HELP: Final = "variables of its environment"
_COMMAND: Final[Schema] = {
    "command": {"description": "the program, or the program with its arguments", **TEXTS},
    "args": {"description": "the program's arguments", **TEXTS},
}
_AGENT: Final[Schema] = {"$ref": "#/$defs/agent"}


def app_definitions() -> Schema:
    return {"agent": _agent_schema(), "prompt": _prompt_schema()}


def _nullable(schema: Schema) -> Schema:
    return {"anyOf": [{"type": "null"}, schema]}


def _named_entries(schema: Schema) -> Schema:
    names = {"pattern": "^[A-Za-z0-9][A-Za-z0-9_-]*$"}
    return _nullable({"type": "object", "propertyNames": names, "additionalProperties": schema})


def _described(description: str, schema: Schema) -> Schema:
    return {"description": description, **schema}


def _agent_schema() -> Schema:
    side: Schema = {
        "prompt": _described("the system prompt, as a text or a file", {"$ref": "#/$defs/prompt"}),
        "label": _described("its name in a conversation of two", TEXT),
        "stop_on_response": _described("`false`: an answer without a tool call does not end its turn", FLAG),
        "stop_tool": _described("a tool whose call ends its turn", TEXT),
        "max_steps": _described("model calls for one prompt", {"type": "integer", "minimum": 1, "maximum": 250}),
        "session_stop": _described("a tool whose success ends the session as a success", TEXT),
        "session_fail": _described("a tool whose success ends the session as a failure", TEXT),
        "model": _described(_MODEL_HELP, TEXT),
        "tools": _described(_TOOLS_HELP, TEXTS),
    }
    own: Schema = {
        "id": _described("its name for triggers, sub-agents and `hookline run --agent`", TEXT),
        "name": _described("its name as people read it", TEXT),
        "description": _described("what it does, for the agents that may start it", TEXT),
        "subagents": _described("the ids of the agents that it may start; default: all others", TEXTS),
        "max_turns": _described("how many prompts a session takes", integer_schema(1)),
        "side_a": _described("the first of two sides that talk to each other", object_schema(side)),
        "side_b": _described("the second of two sides that talk to each other", object_schema(side)),
    }
    return object_schema({**own, **side})


def _prompt_schema() -> Schema:
    more: Schema = {
        "name": _described("the prompt's name", TEXT),
        "model": _described(_MODEL_HELP, TEXT),
        "tools": _described(_TOOLS_HELP, TEXTS),
    }
    return {
        "anyOf": [
            ANY_TEXT,
            object_schema({**more, "text": _described("the prompt itself", ANY_TEXT)}, ("text",)),
            object_schema({**more, "file": _described("the file that has the prompt", TEXT)}, ("file",)),
        ]
    }


def _model_schema() -> Schema:
    properties = {
        "model": _described("`provider:model`", TEXT),
        "fallbacks": _described("the models to use if this one fails, in this order", TEXTS),
        "context_limit": _described("how many tokens the model reads at most", integer_schema(1)),
        "base_url": _described("the address of the model's API", TEXT),
    }
    return object_schema(properties, ("model",))


def _server_schema() -> Schema:
    shared: Schema = {
        "env": _described(_ENV_HELP, _TEXT_MAPPING),
        "headers": _described("HTTP headers of each request", _TEXT_MAPPING),
        "timeout": _described("how long a call may take: a number and `ms`, `s`, `m` or `h`", DURATION),
    }
    return {
        "anyOf": [
            object_schema({**shared, **_COMMAND}, ("command",)),
            object_schema(
                {**shared, "url": _described("the server's address", {"type": "string", "pattern": "^https?://"})},
                ("url",),
            ),
        ]
    }


def _language_server_schema() -> Schema:
    properties = {
        **_COMMAND,
        "env": _described(_ENV_HELP, _TEXT_MAPPING),
        "files": _described("the files that it knows, as patterns", TEXTS),
        "language": _described("the language's id in the protocol", TEXT),
    }
    return object_schema(properties, ("command", "files"))


def _trigger_schema() -> Schema:
    shared: Schema = {
        "id": _described("the trigger's name", TEXT),
        "prompt": _described("the prompt of the turn that it starts", TEXT),
        "agent": _described("the id of the agent that it starts", TEXT),
        "timezone": _described("the time zone of `cron`", TEXT),
        "open": _described("`true`: a request needs no token", FLAG),
    }
    return {
        "anyOf": [
            object_schema(
                {**shared, "cron": _described("when: minute, hour, day, month, weekday", TEXT)}, ("cron", "prompt")
            ),
            object_schema(
                {**shared, "files": _described("the files whose change starts a turn, as a pattern", TEXT)},
                ("files", "prompt"),
            ),
            object_schema(
                {
                    **shared,
                    "http": _described("the path whose request starts a turn", {"type": "string", "pattern": "^/"}),
                },
                ("http", "prompt"),
            ),
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
