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
from hookline.dialects.json_schema import nullable, optional_keys
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
_REQUIRED_KEYS: Final = {
    "command": ["command"],
    "http": ["url"],
    "mcp_tool": ["server", "tool"],
    "prompt": ["prompt"],
    "agent": ["prompt"],
}


def build_schema() -> Schema:
    handlers: Schema = {"anyOf": [_handler_schema(type_) for type_ in HANDLER_KEYS]}
    group = group_schema("Names as Edit|Write, a regular expression, or *.", handlers)
    schema = settings_schema("Claude Code settings: the hooks", EVENTS, group)
    unsupported: Schema = {"type": "array", "items": {"type": "object"}}
    schema["$defs"]["hooks"]["properties"] |= dict.fromkeys(UNSUPPORTED_EVENTS, nullable(unsupported))
    schema["properties"]["disableAllHooks"] = nullable(_FLAG)
    return schema


def _handler_schema(type_: str) -> Schema:
    required = ["type", *_REQUIRED_KEYS[type_]]
    properties = {"type": {"const": type_}, **{key: _PROPERTIES[key] for key in HANDLER_KEYS[type_] if key != "type"}}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required,
        "properties": optional_keys(properties, required),
    }
