"""JSON Schema of the hooks in a settings file."""

from __future__ import annotations

from typing import Final

from hookline.dialects.claude_code.matchers import RULE_SCHEMA_PATTERN
from hookline.dialects.claude_code.names import (
    BLOCK,
    CONTINUE,
    EVENTS,
    HANDLER_KEYS,
    MODEL_TYPES,
    SHELLS,
    default_timeout,
)
from hookline.dialects.json_schema import describe, nullable, optional_keys
from hookline.dialects.settings_json import (
    CLAUDE_ONLY_EVENTS,
    MIN_TIMEOUT_SECONDS,
    Schema,
    group_schema,
    settings_schema,
)
from hookline.hooks.actions.post import URL_PATTERN

_TEXT: Final[Schema] = {"type": "string", "minLength": 1}
_ANY_TEXT: Final[Schema] = {"type": "string"}
_FLAG: Final[Schema] = {"type": "boolean"}
_IGNORED: Final[Schema] = describe("Ignored by hookline.", {})
_PROPERTIES: Final[Schema] = {
    "if": describe(
        "A permission rule: Bash(rm *), Edit(src/**).",
        {"type": "string", "pattern": RULE_SCHEMA_PATTERN},
        "Bash(rm *)",
    ),
    "timeout": describe("Seconds.", {"type": "number", "minimum": MIN_TIMEOUT_SECONDS}, 10),
    "statusMessage": describe("What the terminal shows while the hook runs.", _ANY_TEXT, "Checking …"),
    "once": describe("Runs once in a session.", _FLAG, default=False),
    "onFailure": describe("What a failure does.", {"enum": [CONTINUE, BLOCK]}, default=CONTINUE),
    "rewakeMessage": _IGNORED,
    "rewakeSummary": _IGNORED,
    "cloud": _IGNORED,
    "command": describe("Shell text; with args, a program.", _TEXT, "./check.sh"),
    "args": describe("The program's arguments; no shell is used.", {"type": "array", "items": _ANY_TEXT}, ["--strict"]),
    "shell": describe("The shell that runs the command.", {"enum": list(SHELLS)}, default="bash"),
    "async": describe("Runs in the background; its output decides nothing.", _FLAG, default=False),
    "asyncRewake": describe("Runs in the background; hookline does not wake the agent.", _FLAG, default=False),
    "url": describe(
        "Receives the event as a POST request.",
        {"type": "string", "pattern": f"^{URL_PATTERN.pattern}$"},
        "http://127.0.0.1:8080/hook",
    ),
    "headers": describe(
        "Headers of the request.",
        {"type": "object", "additionalProperties": _ANY_TEXT},
        {"Authorization": "Bearer $TOKEN"},
        default={},
    ),
    "allowedEnvVars": describe(
        "The variables that headers may name; others are empty.",
        {"type": "array", "items": _TEXT},
        ["TOKEN"],
        default=[],
    ),
    "server": describe("The MCP server.", _TEXT, "policy"),
    "tool": describe("The server's tool.", _TEXT, "check_command"),
    "input": describe("The tool's input.", {"type": "object"}, {"strict": True}, default={}),
    "prompt": describe("What the model is asked about the event.", _TEXT, "Is this safe? $ARGUMENTS"),
    "model": describe("Ignored by hookline.", _TEXT),
    "continueOnBlock": describe("Ignored by hookline.", _FLAG),
}
_TYPE_HELP: Final = "What the hook is: a command, a request, a tool of an MCP server, a prompt or an agent."
_TIMEOUT_HELP: Final = "Seconds; 30 for UserPromptSubmit and 1.5 for SessionEnd, if it is not written."
_REQUIRED_KEYS: Final = {
    "command": ["command"],
    "http": ["url"],
    "mcp_tool": ["server", "tool"],
    "prompt": ["prompt"],
    "agent": ["prompt"],
}


_EXAMPLE: Final[Schema] = {
    "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./check.sh"}]}]}
}


def build_schema() -> Schema:
    handlers: Schema = {"anyOf": [_handler_schema(type_) for type_ in HANDLER_KEYS]}
    group = group_schema("Names as Edit|Write, a regular expression, or *.", handlers, _EXAMPLE)
    schema = settings_schema("claude_code", EVENTS, group, _EXAMPLE)
    unsupported: Schema = {"type": "array", "items": {"type": "object"}}
    ignored = {"description": "hookline does not fire this event.", **nullable(unsupported)}
    schema["$defs"]["hooks"]["properties"] |= dict.fromkeys(CLAUDE_ONLY_EVENTS, ignored)
    schema["properties"]["disableAllHooks"] = describe("Disables every hook.", nullable(_FLAG), default=False)
    return schema


def _handler_schema(type_: str) -> Schema:
    required = ["type", *_REQUIRED_KEYS[type_]]
    properties = {
        "type": describe(_TYPE_HELP, {"const": type_}),
        **{key: _PROPERTIES[key] for key in HANDLER_KEYS[type_] if key != "type"},
        "timeout": {**_PROPERTIES["timeout"], "default": default_timeout("PreToolUse", type_).seconds},
    }
    if type_ not in MODEL_TYPES:
        properties["timeout"]["description"] = _TIMEOUT_HELP
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": optional_keys(properties, required),
    }
