"""JSON Schema of the hooks in a settings file."""

from __future__ import annotations

from typing import Final

from hookline.dialects.claude_code.matchers import RULE_SCHEMA_PATTERN
from hookline.dialects.claude_code.names import (
    BLOCK,
    CONTINUE,
    EVENTS,
    HANDLER_KEYS,
    SHELLS,
    UNSUPPORTED_EVENTS,
)
from hookline.dialects.json_schema import add_descriptions, nullable, optional_keys
from hookline.dialects.settings_json import (
    MIN_TIMEOUT_SECONDS,
    Schema,
    group_schema,
    settings_schema,
)
from hookline.hooks.actions.post import URL_PATTERN

_TEXT: Final[Schema] = {"type": "string", "minLength": 1}
_ANY_TEXT: Final[Schema] = {"type": "string"}
_FLAG: Final[Schema] = {"type": "boolean"}
_PROPERTIES: Final[Schema] = {
    "if": {
        "type": "string",
        "pattern": RULE_SCHEMA_PATTERN,
        "description": "A permission rule: Bash(rm *), Edit(src/**).",
    },
    "timeout": {
        "type": "number",
        "minimum": MIN_TIMEOUT_SECONDS,
        "description": "Seconds.",
    },
    "statusMessage": _ANY_TEXT,
    "once": _FLAG,
    "onFailure": {"enum": [CONTINUE, BLOCK], "description": "What a failure does."},
    "rewakeMessage": {},
    "rewakeSummary": {},
    "cloud": {},
    "command": {**_TEXT, "description": "Shell text; with args, a program."},
    "args": {"type": "array", "items": _ANY_TEXT},
    "shell": {"enum": list(SHELLS)},
    "async": _FLAG,
    "asyncRewake": _FLAG,
    "url": {"type": "string", "pattern": f"^{URL_PATTERN.pattern}$"},
    "headers": {"type": "object", "additionalProperties": _ANY_TEXT},
    "allowedEnvVars": {"type": "array", "items": _TEXT},
    "server": _TEXT,
    "tool": _TEXT,
    "input": {"type": "object"},
    "prompt": _TEXT,
    "model": _TEXT,
    "continueOnBlock": _FLAG,
}
_DESCRIPTIONS: Final = {
    "type": "What the hook is: a command, a request, a tool of an MCP server, a prompt or an agent.",
    "statusMessage": "What the terminal shows while the hook runs.",
    "once": "Runs once in a session.",
    "rewakeMessage": "Ignored by hookline.",
    "rewakeSummary": "Ignored by hookline.",
    "cloud": "Ignored by hookline.",
    "args": "The program's arguments; no shell is used.",
    "shell": "The shell that runs the command.",
    "async": "Runs in the background; its output decides nothing.",
    "asyncRewake": "Runs in the background; hookline does not wake the agent.",
    "url": "Receives the event as a POST request.",
    "headers": "Headers of the request.",
    "allowedEnvVars": "The variables that headers may name; others are empty.",
    "server": "The MCP server.",
    "tool": "The server's tool.",
    "input": "The tool's input.",
    "prompt": "What the model is asked about the event.",
    "model": "Ignored by hookline.",
    "continueOnBlock": "Ignored by hookline.",
}
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
    group = group_schema("Names as Edit|Write, a regular expression, or *.", handlers)
    schema = settings_schema("claude_code", EVENTS, group, _EXAMPLE)
    unsupported: Schema = {"type": "array", "items": {"type": "object"}}
    ignored = {"description": "hookline does not fire this event.", **nullable(unsupported)}
    schema["$defs"]["hooks"]["properties"] |= dict.fromkeys(UNSUPPORTED_EVENTS, ignored)
    schema["properties"]["disableAllHooks"] = {"description": "Disables every hook.", **nullable(_FLAG)}
    return schema


def _handler_schema(type_: str) -> Schema:
    required = ["type", *_REQUIRED_KEYS[type_]]
    properties = {"type": {"const": type_}, **{key: _PROPERTIES[key] for key in HANDLER_KEYS[type_] if key != "type"}}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": add_descriptions(optional_keys(properties, required), _DESCRIPTIONS),
    }
