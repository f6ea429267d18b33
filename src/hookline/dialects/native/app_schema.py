"""The keys of a native file that describe an agent, and their JSON Schema. The runtime reads them."""

from __future__ import annotations

from typing import Final

from hookline.dialects.json_schema import describe
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


def _model() -> Schema:
    return describe("its model: `provider:model`, or a name in `models`", TEXT, "anthropic:claude-sonnet-4-5")


def _tools() -> Schema:
    return describe("the tools that it may use; default: all", TEXTS, ["read_file", "search"])


def _env() -> Schema:
    return describe("variables of its environment", _TEXT_MAPPING, {"LOG_LEVEL": "debug"}, default={})


def _program() -> Schema:
    command = ["npx", "-y", "@modelcontextprotocol/server-filesystem", "."]
    return {
        "command": describe("the program, or the program with its arguments", TEXTS, command),
        "args": describe("the program's arguments", TEXTS, ["--stdio"], default=[]),
    }


def _agent_schema() -> Schema:
    steps: Schema = {"type": "integer", "minimum": 1, "maximum": 250}
    side: Schema = {
        "prompt": describe(
            "the system prompt, as a text or a file",
            {"$ref": "#/$defs/prompt"},
            "You review changes.",
            {"text": "You review changes."},
        ),
        "label": describe("its name in a conversation of two", TEXT, "Reviewer"),
        "stop_on_response": describe(
            "`false`: an answer without a tool call does not end its turn", FLAG, default=True
        ),
        "stop_tool": describe("a tool whose call ends its turn", TEXT, "hand_over"),
        "max_steps": describe("model calls for one prompt", steps, 20),
        "session_stop": describe("a tool whose success ends the session as a success", TEXT, "finish"),
        "session_fail": describe("a tool whose success ends the session as a failure", TEXT, "give_up"),
        "model": _model(),
        "tools": _tools(),
    }
    one: Schema = {"prompt": "You write the change."}
    other: Schema = {"prompt": "You review it.", "label": "Reviewer"}
    own: Schema = {
        "id": describe("its name for triggers, sub-agents and `hookline run --agent`", TEXT, "reviewer"),
        "name": describe("its name as people read it", TEXT, "Code reviewer"),
        "description": describe("what it does, for the agents that may start it", TEXT, "Reads changes for bugs."),
        "subagents": describe("the ids of the agents that it may start; default: all others", TEXTS, ["reviewer"]),
        "max_turns": describe("how many prompts a session takes; default: no limit", integer_schema(1), 10),
        "side_a": describe("the first of two sides that talk to each other", object_schema(side), one),
        "side_b": describe("the second of two sides that talk to each other", object_schema(side), other),
    }
    return object_schema({**own, **side})


def _prompt_schema() -> Schema:
    more: Schema = {
        "name": describe("the prompt's name", TEXT, "review"),
        "model": _model(),
        "tools": _tools(),
    }
    text = describe("the prompt itself", ANY_TEXT, "You review changes.")
    file = describe("the file that has the prompt", TEXT, "prompts/review.md")
    return {
        "anyOf": [
            ANY_TEXT,
            object_schema({**more, "text": text}, ("text",)),
            object_schema({**more, "file": file}, ("file",)),
        ]
    }


def _model_schema() -> Schema:
    properties = {
        "model": describe("`provider:model`", TEXT, "anthropic:claude-sonnet-4-5"),
        "fallbacks": describe(
            "the models to use if this one fails, in this order", TEXTS, ["openai:gpt-5"], default=[]
        ),
        "context_limit": describe("how many tokens the model reads at most", integer_schema(1), 200_000),
        "base_url": describe("the address of the model's API", TEXT, "http://127.0.0.1:11434/v1"),
    }
    return object_schema(properties, ("model",))


def _server_schema() -> Schema:
    url: Schema = {"type": "string", "pattern": "^https?://"}
    shared: Schema = {
        "env": _env(),
        "headers": describe("HTTP headers of each request", _TEXT_MAPPING, {"X-Team": "platform"}, default={}),
        "timeout": describe(
            "how long a call may take: a number and `ms`, `s`, `m` or `h`", DURATION, "2m", default="60s"
        ),
    }
    address = describe("the server's address", url, "https://mcp.example.com/mcp")
    return {
        "anyOf": [
            object_schema({**shared, **_program()}, ("command",)),
            object_schema({**shared, "url": address}, ("url",)),
        ]
    }


def _language_server_schema() -> Schema:
    properties = {
        **_program(),
        "env": _env(),
        "files": describe("the files that it knows, as patterns", TEXTS, ["*.py"]),
        "language": describe("the language's id in the protocol", TEXT, "python"),
    }
    return object_schema(properties, ("command", "files"))


def _trigger_schema() -> Schema:
    path: Schema = {"type": "string", "pattern": "^/"}
    shared: Schema = {
        "id": describe("the trigger's name", TEXT, "every-morning"),
        "prompt": describe("the prompt of the turn that it starts", TEXT, "Summarise the open issues."),
        "agent": describe("the id of the agent that it starts; default: the first", TEXT, "reviewer"),
        "timezone": describe("the time zone of `cron`; default: this machine's", TEXT, "Europe/Paris"),
        "open": describe("`true`: a request needs no token", FLAG, default=False),
    }
    kinds = {
        "cron": describe("when: minute, hour, day, month, weekday", TEXT, "0 9 * * 1-5"),
        "files": describe("the files whose change starts a turn, as a pattern", TEXT, "src/**/*.py"),
        "http": describe("the path whose request starts a turn", path, "/deployed"),
    }
    return {"anyOf": [object_schema({**shared, kind: schema}, (kind, "prompt")) for kind, schema in kinds.items()]}


APP_KEYS: Final = key_table(
    Key(
        "agent",
        schema=_nullable(_AGENT),
        help="the agent that `hookline run` starts; it does not affect hooks",
        example="agent: {prompt: You review changes., tools: [read, search]}",
    ),
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
        example="agents: {reviewer: {prompt: You review changes.}}",
    ),
    Key(
        "model",
        schema=_nullable(TEXT),
        help="the model of every agent that names none: `provider:model`, or a name in `models`",
        example="model: anthropic:claude-sonnet-4-5",
    ),
    Key(
        "models",
        schema=_named_entries({"anyOf": [TEXT, _model_schema()]}),
        help="models by names of your own",
        example="models: {fast: openai:gpt-5-mini}",
    ),
    Key(
        "mcp",
        schema=_named_entries({"anyOf": [TEXTS, _server_schema()]}),
        help="MCP servers by name",
        example="mcp: {files: [npx, -y, '@modelcontextprotocol/server-filesystem', .]}",
    ),
    Key(
        "lsp",
        schema=_named_entries(_language_server_schema()),
        help="language servers by name",
        example="lsp: {python: {command: [pyright-langserver, --stdio], files: '*.py'}}",
    ),
    Key(
        "triggers",
        schema=_nullable({"type": "array", "items": _trigger_schema()}),
        help="what starts a turn: a time, changed files, an HTTP request",
        example="triggers: [{cron: 0 9 * * 1-5, prompt: Summarise the open issues.}]",
    ),
    Key(
        "skills",
        schema=_nullable(TEXTS),
        help="folders with skills, beside `.hookline/skills`",
        example="skills: [team-skills]",
    ),
    Key(
        "store",
        schema=_nullable({"type": "string", "pattern": "^(sqlite|postgres|postgresql(\\+asyncpg)?):"}),
        help="where sessions are stored, as a URL",
        example="store: sqlite:///sessions.db",
    ),
    Key(
        "private_hosts",
        schema=_nullable({"anyOf": [_HOST_NAME, {"type": "array", "items": _HOST_NAME}]}),
        help="hosts that `fetch` may reach although they are not public",
        example="private_hosts: [localhost]",
    ),
)
