"""Calls within the input of a call: those of a `batch` tool, or the one that `use_mcp_tool` passes on.

An agent does not ask about them, so each is judged with the call around it. Each, and what it is called with, may stand as
JSON text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import product
from typing import Any, Final

from hookline.errors import ConditionError
from hookline.hooks.readings import as_plain_collection
from hookline.hooks.tools import ToolKind, tool_kind

InnerCall = tuple[str, Any]  # the tool's name, and its input

_LISTS: Final = (
    "tool_calls", "toolCalls", "tool_uses", "toolUses", "calls", "invocations", "function_calls", "functionCalls",
    "tool_call", "toolCall", "tool_use", "toolUse", "call", "invocation", "function_call", "functionCall", "batch",
    "requests", "operations", "actions", "steps", "tasks", "commands", "tools", "items", "parallel", "sequence",
)  # fmt: skip
_NAMES: Final = (
    "tool", "name", "tool_name", "toolName", "recipient_name", "recipientName", "function", "function_name", "functionName",
    "method",
)  # fmt: skip
_INPUTS: Final = (
    "parameters", "input", "arguments", "args", "params", "tool_input", "toolInput", "kwargs", "payload", "tool_args",
    "toolArgs", "tool_arguments", "toolArguments", "function_args", "inputs", "arguments_json", "input_json",
)  # fmt: skip
_OWN_NAMES: Final = (
    "tool_name",
    "toolName",
    "recipient_name",
    "recipientName",
    "function_name",
    "functionName",
    "tool",
)
_FUNCTION_KEYS: Final = ("function", "functionCall", "function_call", "tool_use", "params")
_SERVERS: Final = ("server", "server_name", "serverName")
INNER_CALL_KEYS: Final = frozenset((*_OWN_NAMES, "name", *_LISTS))  # an input without any of these has no calls in it
PATCH_TOOLS: Final = frozenset(("apply_patch", "ApplyPatch", "applyPatch", "patch"))
PART_LISTS: Final = ("edits", "replacements", "operations", "files", "requests")
PART_KEYS: Final = frozenset((*PART_LISTS, "commands"))
_SCHEMA_KEYS: Final = frozenset(("$schema", "type", "properties", "required", "additionalProperties", "strict"))
_FIELD_KEYS: Final = frozenset(("type", "description", "title", "enum", "minLength", "maxLength", "minimum", "maximum"))
_FIELD_TYPES: Final = ("string", "integer", "number", "boolean")
_PREFIXES: Final = ("functions.", "tools.", "default_api.", "functions:", "default_api:")
_MAX_JSON_CHARS: Final = 1_000_000
_TOO_LARGE: Final = "a text that may have calls in it is too large or nested too deeply to read"


def has_inner_calls(tool: Any) -> bool:
    """Whether a tool that is neither a shell nor a file tool makes calls itself."""
    if not isinstance(tool, dict) or tool_kind(tool) is not ToolKind.OTHER:
        return False
    try:
        return next(find_inner_calls(tool.get("input")), None) is not None
    except ConditionError:  # whatever they are
        return True


def may_have_parts(tool: Mapping[str, Any]) -> bool:
    """False, almost always, for a call that is about one thing."""
    input = tool.get("input")
    return tool.get("name") in PATCH_TOOLS or (isinstance(input, dict) and not PART_KEYS.isdisjoint(input))


def find_inner_calls(input: Any) -> Iterator[InnerCall]:
    """The calls of one level. If a call has several names or inputs, only the tool around it knows which one counts.

    Raises ConditionError if they cannot be read.
    """
    input = as_plain_collection(input)
    if not isinstance(input, dict) or INNER_CALL_KEYS.isdisjoint(input):  # as almost every input
        return
    if any(isinstance(input.get(name), str) for name in _OWN_NAMES) or (
        isinstance(input.get("name"), str) and ("arguments" in input or "tool_input" in input)
    ):
        yield from _calls_of(input)
    for listed in _LISTS:
        if listed not in input:
            continue
        given = decode_container(input[listed])
        for each in given if isinstance(given, (list, tuple)) else (given,):
            call = decode_container(each)
            if isinstance(call, dict):
                yield from _calls_of(call)
                functions = (decode_container(call.get(key)) for key in _FUNCTION_KEYS)
                for function in functions:
                    if isinstance(function, dict):
                        yield from _calls_of(function)


def _calls_of(call: Mapping[str, Any]) -> Iterator[InnerCall]:
    """Without an input, it is something else: `calls: [{name: Ann}]`."""
    names = dict.fromkeys(_bare_name(each) for key in _NAMES if isinstance(each := call.get(key), str) and each.strip())
    servers = [each for key in _SERVERS if isinstance(each := call.get(key), str) and each.strip()]
    known = (*names, *(f"mcp__{server.strip()}__{name}" for server in servers for name in names))
    yield from product(known, [decode_container(call[key]) for key in _INPUTS if key in call])


def is_input_schema(input: Any) -> bool:
    """Whether this is the JSON Schema of a tool's input, as in a list of tools, and not an input."""
    properties = input.get("properties") if isinstance(input, dict) and input.keys() <= _SCHEMA_KEYS else None
    return (
        isinstance(properties, dict)
        and input.get("type", "object") == "object"
        and all(map(_is_field, properties.values()))
    )


def _is_field(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") in _FIELD_TYPES and value.keys() <= _FIELD_KEYS


def _bare_name(name: str) -> str:
    name = name.strip()
    return next((name.removeprefix(each) for each in _PREFIXES if name.startswith(each)), name)


def decode_container(value: Any) -> Any:
    """Decodes an object or a list that the agent sent as JSON text, also twice. Any other value is returned unchanged.

    Raises ConditionError for one that is too large to decode.
    """
    value = as_plain_collection(value)
    found = bytes(value).decode("utf-8", "replace") if isinstance(value, (bytes, bytearray)) else value
    for _ in range(2):
        if not isinstance(found, str) or found.lstrip()[:1] not in ("{", "[", '"'):
            break
        if len(found) > _MAX_JSON_CHARS:
            raise ConditionError(_TOO_LARGE)
        try:
            found = json.loads(found)
        except RecursionError:
            raise ConditionError(_TOO_LARGE) from None
        except ValueError:
            return value
    return found if isinstance(found, (dict, list, tuple)) else value
