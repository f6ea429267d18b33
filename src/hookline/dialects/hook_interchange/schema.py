"""JSON Schema of a manifest. As the format says, it ignores unknown keys."""

from __future__ import annotations

from typing import Any, Final

from hookline.dialects.hook_interchange.names import (
    ABSENT_EVENTS,
    DEFAULT_TIMEOUT,
    EVENTS,
    HANDLER_KEYS,
    PLATFORMS,
    SPEC,
    STRATEGIES,
    TIMEOUT_ACTIONS,
    TOOL_KINDS,
)
from hookline.dialects.json_schema import Schema, describe, optional_keys
from hookline.dialects.settings_json import MAX_TIMEOUT_SECONDS

_TEXT: Final[Schema] = {"type": "string", "minLength": 1}
_FLAG: Final[Schema] = {"type": "boolean", "default": False}
_HANDLER_EXAMPLE: Final[Schema] = {"type": "command", "command": "./check.sh"}
_MATCHER: Final[Schema] = {
    "anyOf": [
        {**_TEXT, "description": "A tool of the vocabulary.", "examples": list(TOOL_KINDS)},
        {
            "type": "object",
            "required": ["pattern"],
            "properties": {"pattern": describe("A regular expression for the agent's own name.", _TEXT, "^mcp__")},
        },
        {
            "type": "object",
            "required": ["mcp"],
            "properties": {
                "mcp": {
                    "type": "object",
                    "description": "A tool of an MCP server.",
                    "examples": [{"server": "github", "tool": "create_issue"}],
                    "required": ["server"],
                    "properties": optional_keys(
                        {
                            "server": {**_TEXT, "description": "The server's name.", "examples": ["github"]},
                            "tool": {**_TEXT, "description": "The tool; all if absent.", "examples": ["create_issue"]},
                        },
                        ("server",),
                    ),
                }
            },
        },
    ]
}
_HANDLER_PROPERTIES: Final[Schema] = {
    "type": {
        "enum": list(HANDLER_KEYS),
        "description": "What the hook is: a program, a URL, or a question for a model.",
    },
    "command": {
        **_TEXT,
        "description": "Shell text, or the path of a script relative to the manifest.",
        "examples": ["./check.sh"],
    },
    "platform": {
        "type": "object",
        "description": "Commands for other operating systems.",
        "properties": optional_keys(
            {name: describe(f"The command on {name}.", _TEXT, "./check.sh") for name in PLATFORMS}
        ),
        "examples": [{"windows": "./check.ps1"}],
    },
    "cwd": {
        **_TEXT,
        "description": "Where the program runs, relative to the project; default: the session's directory.",
        "examples": ["tools"],
    },
    "env": {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "description": "Environment variables for the program.",
        "examples": [{"AUDIT_LOG": "./audit.log"}],
    },
    "url": {
        **_TEXT,
        "description": "Receives the event as a POST request.",
        "examples": ["https://hooks.example.com/check"],
    },
    "headers": {
        "type": "object",
        "additionalProperties": {"type": "string"},
        "description": "Headers of the request.",
        "examples": [{"X-Team": "platform"}],
    },
    "prompt": {**_TEXT, "description": "What the model is asked about the event.", "examples": ["Is this safe?"]},
    "model": {**_TEXT, "description": "Ignored by hookline.", "examples": ["fast"]},
    "agent": {"description": "Ignored by hookline.", "examples": ["reviewer"]},
    "timeout": {
        "type": "number",
        "minimum": 0,
        "maximum": MAX_TIMEOUT_SECONDS,
        "description": "Seconds; 0 means the default.",
        "default": DEFAULT_TIMEOUT.seconds,
        "examples": [10],
    },
    "timeout_action": {
        "enum": list(TIMEOUT_ACTIONS),
        "description": "What a timeout of a blocking hook does.",
        "default": "warn",
        "examples": ["block"],
    },
    "async": {**_FLAG, "description": "Runs in the background; its output decides nothing.", "examples": [True]},
    "status_message": {
        "type": "string",
        "description": "What the user sees while it runs. Ignored by hookline.",
        "examples": ["Checking …"],
    },
}


def build_schema() -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:hookline:hook_interchange",
        "title": "Hook Interchange Format",
        "examples": [
            {
                "spec": SPEC,
                "hooks": [
                    {
                        "name": "safety-check",
                        "event": "before_tool_execute",
                        "matcher": "shell",
                        "handler": _HANDLER_EXAMPLE,
                        "blocking": True,
                    }
                ],
            }
        ],
        "type": "object",
        "required": ["spec", "hooks"],
        "properties": {
            "spec": {"const": SPEC, "description": "The version of the format.", "examples": [SPEC]},
            "hooks": {
                "type": "array",
                "minItems": 1,
                "items": {"$ref": "#/$defs/hook"},
                "description": "The hooks, in the order in which they run.",
                "examples": [[{"event": "before_tool_execute", "handler": _HANDLER_EXAMPLE, "blocking": True}]],
            },
        },
        "$defs": {"hook": _hook_schema(), "matcher": _MATCHER, "handler": _handler_schema()},
    }


def _hook_schema() -> Schema:
    required = ("event", "handler")
    properties: Schema = {
        "name": {"type": "string", "description": "For messages and logs.", "examples": ["safety-check"]},
        "event": {
            "enum": [*EVENTS, *ABSENT_EVENTS],
            "description": "When it runs.",
            "examples": ["before_tool_execute"],
        },
        "matcher": {
            "anyOf": [{"$ref": "#/$defs/matcher"}, {"type": "array", "items": {"$ref": "#/$defs/matcher"}}],
            "description": "Which tools; all if absent.",
            "examples": ["shell", ["file_write", "file_edit"], {"mcp": {"server": "github"}}],
        },
        "handler": describe("What it does.", {"$ref": "#/$defs/handler"}, _HANDLER_EXAMPLE),
        "blocking": {**_FLAG, "description": "Whether exit code 2 prevents the action.", "examples": [True]},
        "degradation": {
            "type": "object",
            "additionalProperties": {"enum": list(STRATEGIES)},
            "description": "What becomes of it where a capability is missing.",
            "examples": [{"input_rewrite": "block"}],
        },
        "provider_data": {
            "type": "object",
            "additionalProperties": {"type": "object"},
            "description": "Data of single agents. Ignored by hookline.",
            "examples": [{"devin": {"show_output": True}}],
        },
        "capabilities": {
            "type": "array",
            "items": {"type": "string"},
            "description": "For people; nothing depends on it.",
            "examples": [["structured_output"]],
        },
    }
    return {"type": "object", "required": list(required), "properties": optional_keys(properties, required)}


def _handler_schema() -> Schema:
    needs = {"command": "command", "http": "url", "prompt": "prompt", "agent": "prompt"}
    return {
        "type": "object",
        "required": ["type"],
        "properties": optional_keys(_HANDLER_PROPERTIES, ("type",)),
        "allOf": [
            {
                "if": {"properties": {"type": {"const": type_}}},
                "then": {"required": [key], "properties": {key: {"type": "string"}}},
            }
            for type_, key in needs.items()
        ],
    }
