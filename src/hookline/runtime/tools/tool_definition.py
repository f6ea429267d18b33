"""A tool of ours: what it is called, what it takes, and what it does.

Whether an input fits a JSON Schema, as far as tools need it. What a schema says in other words is not looked at.

What a tool is. Only `runtime/gate.py` may call `perform`: it wants a decision for exactly that call.
"""

from __future__ import annotations

import difflib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, Protocol

from hookline.errors import HooklineError
from hookline.hooks.host import Thread, ToolResult
from hookline.hooks.outcome import ActionError
from hookline.hooks.tools import ToolKind
from hookline.runners.process import ProcessLimit
from hookline.runtime.storage.store import Store

_MAX_SCHEMA_DEPTH: Final = 32
_JSON_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list, tuple),
    "object": (dict,),
    "null": (type(None),),
}


def find_input_error(schema: Mapping[str, Any], input: object) -> str | None:
    """What is wrong, naming the field; None if nothing is."""
    return _find_schema_error(schema, input, "", 0)


def _find_schema_error(schema: Any, value: object, where: str, depth: int) -> str | None:
    if not isinstance(schema, Mapping) or depth > _MAX_SCHEMA_DEPTH:
        return None
    options = schema.get("anyOf")
    if (
        isinstance(options, list)
        and options
        and all(_find_schema_error(each, value, where, depth + 1) for each in options)
    ):
        return f"{where or 'the input'} is none of what it may be"
    return (
        _find_type_error(schema.get("type"), value, where)
        or _find_enum_error(schema, value, where)
        or _find_bounds_error(schema, value, where)
        or _find_property_error(schema, value, where, depth)
        or _find_item_error(schema, value, where, depth)
    )


def _find_type_error(type: Any, value: object, where: str) -> str | None:
    known = [each for each in (type if isinstance(type, list) else [type]) if each in _JSON_TYPES]
    if not known or any(_has_json_type(value, each) for each in known):
        return None
    article = "an" if known[0][0] in "aeiou" else "a"
    return f"{where or 'the input'} is not {article} {' or '.join(known)}"


def _has_json_type(value: object, type: str) -> bool:
    if isinstance(value, bool):
        return type == "boolean"
    if type == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _JSON_TYPES[type])


def _find_enum_error(schema: Mapping[str, Any], value: object, where: str) -> str | None:
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(choices, list) or any(value == each and _agree_on_bool(value, each) for each in choices):
        return None
    return f"{where or 'the input'} is not one of {', '.join(map(str, choices))}"


def _agree_on_bool(one: object, other: object) -> bool:
    return isinstance(one, bool) == isinstance(other, bool)


def _find_bounds_error(schema: Mapping[str, Any], value: object, where: str) -> str | None:
    size = value if isinstance(value, int | float) else len(value) if isinstance(value, str | list) else None
    if size is None or isinstance(value, bool):
        return None
    kind = "Length" if isinstance(value, str) else "Items" if isinstance(value, list) else ""
    least, most = (schema.get(f"min{kind}" if kind else "minimum"), schema.get(f"max{kind}" if kind else "maximum"))
    unit = {"Length": " characters", "Items": " entries"}.get(kind, "")
    if isinstance(least, int | float) and not size >= least:
        return f"{where} must be at least {least}{unit}"
    if isinstance(most, int | float) and not size <= most:
        return f"{where} must be at most {most}{unit}"
    return None


def _find_property_error(schema: Mapping[str, Any], value: object, where: str, depth: int) -> str | None:
    known = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(known, Mapping):
        return None
    start = f"{where}." if where else ""
    missing = [name for name in schema.get("required") or () if name not in value]
    unknown = [name for name in value if name not in known] if schema.get("additionalProperties") is False else []
    if unknown:
        return f"there is no field {start}{unknown[0]}{_suggest_field(unknown[0], [*missing, *known])}"
    if missing:
        return f"{start}{missing[0]} is missing"
    return next(
        (
            wrong
            for name, held in value.items()
            if name in known and (wrong := _find_schema_error(known[name], held, start + str(name), depth + 1))
        ),
        None,
    )


def _suggest_field(name: object, known: list[str]) -> str:
    near = difflib.get_close_matches(str(name)[:100], known, 1, 0.5)
    return f"; did you mean {near[0]}?" if near else f"; it has {', '.join(dict.fromkeys(known)) or 'none'}"


def _find_item_error(schema: Mapping[str, Any], value: object, where: str, depth: int) -> str | None:
    if not isinstance(value, list) or "items" not in schema:
        return None
    checks = (_find_schema_error(schema["items"], each, f"{where}[{at}]", depth + 1) for at, each in enumerate(value))
    return next((wrong for wrong in checks if wrong), None)


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Where a tool works, and for whom."""

    workspace: Path
    session: str
    agent: str
    thread: Thread
    thread_id: str  # as the store knows it
    store: Store
    slots: ProcessLimit = field(default_factory=ProcessLimit)
    execution: dict[str, Any] = field(default_factory=dict)  # flow, side and step of the thread
    env: Mapping[str, str] = field(default_factory=dict, repr=False)  # the user's
    call: str = ""  # the id of the one that is performed


class Tool(Protocol):
    @property
    def name(self) -> str:
        """As hooks match it: `bash`, `mcp.git.status`, `memory.remember`."""

    @property
    def description(self) -> str: ...
    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of its input."""

    @property
    def kind(self) -> ToolKind: ...
    async def perform(self, input: dict[str, Any], place: ToolContext) -> ToolResult:
        """What goes wrong is a result that is not ok; cancelling it ends whatever it started."""


ToolBody = Callable[[dict[str, Any], ToolContext], Awaitable[Any]]
"""Returns a ToolResult, or the content of one; a HooklineError or Failed that it raises is a result that is not ok."""


@dataclass(frozen=True, slots=True)
class BuiltInTool:
    name: str
    description: str
    schema: dict[str, Any]
    kind: ToolKind
    body: ToolBody = field(repr=False)

    async def perform(self, input: dict[str, Any], place: ToolContext) -> ToolResult:
        wrong = find_input_error(self.schema, input)
        if wrong is not None:
            return failed_result(wrong)
        try:
            answer = await self.body(input, place)
        except (HooklineError, ActionError) as error:
            return failed_result(str(error))
        return answer if isinstance(answer, ToolResult) else ToolResult(answer)

    def with_name(self, name: str) -> BuiltInTool:
        """The same tool by another name."""
        return replace(self, name=name)


def failed_result(why: str, content: Any = None) -> ToolResult:
    return ToolResult(content, ok=False, error=why)


def object_schema(*required: str, **fields: dict[str, Any]) -> dict[str, Any]:
    """The schema of an input with these fields and no others."""
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


def string_schema(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def integer_schema(description: str, least: int, most: int) -> dict[str, Any]:
    return {"type": "integer", "description": description, "minimum": least, "maximum": most}
