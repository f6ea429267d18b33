"""JSON Schema of a settings file, as far as it is about hooks."""

from __future__ import annotations

from typing import Any, Final

from hookline.dialects.claude_code.matchers import RULE_SCHEMA_PATTERN
from hookline.dialects.claude_code.names import (
    BLOCK,
    CONTINUE,
    EVENTS,
    HANDLER_KEYS,
    MAX_TIMEOUT_SECONDS,
    MIN_TIMEOUT_SECONDS,
    SHELLS,
    UNSUPPORTED_EVENTS,
)
from hookline.hooks.actions.post import URL_PATTERN

Schema = dict[str, Any]

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
        "maximum": MAX_TIMEOUT_SECONDS,
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
    listed: Schema = {"type": "array", "items": {"$ref": "#/$defs/group"}}
    group: Schema = {
        "type": "object",
        "additionalProperties": False,
        "required": ["hooks"],
        "properties": {
            "matcher": {"type": "string", "description": "Names as Edit|Write, a regular expression, or *."},
            "hooks": {"type": "array", "items": {"anyOf": [_handler_schema(type_) for type_ in HANDLER_KEYS]}},
        },
    }
    unheard: Schema = {"type": "array", "items": {"type": "object"}}
    events = {**dict.fromkeys(EVENTS, listed), **dict.fromkeys(UNSUPPORTED_EVENTS, unheard)}
    hooks: Schema = {"type": "object", "additionalProperties": False, "properties": events}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Claude Code settings: the hooks",
        "type": "object",
        "properties": {"hooks": hooks, "disableAllHooks": _FLAG},
        "$defs": {"group": group},
    }


def _handler_schema(type_: str) -> Schema:
    keys = HANDLER_KEYS[type_]
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["type", *_REQUIRED_KEYS[type_]],
        "properties": {"type": {"const": type_}, **{key: _PROPERTIES[key] for key in keys if key != "type"}},
    }
