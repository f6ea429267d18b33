"""The Tool protocol, built-in tools, and the check of an input against a tool's schema.

Only `runtime/gate.py` may call `perform`: it requires a decision for exactly that call.
"""

from __future__ import annotations

import difflib
import functools
import json
import traceback
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, cast

from hookline.errors import HooklineError
from hookline.formatting import shorten
from hookline.hooks.actions.python_function import exception_text
from hookline.hooks.host import Thread, ToolResult
from hookline.hooks.masking import mask
from hookline.hooks.outcome import ActionError
from hookline.hooks.tools import ToolKind
from hookline.lazy_dataclasses import dataclass, field, replace
from hookline.runners.process import ProcessLimit
from hookline.runtime.storage.store import Store
from hookline.runtime.tools.workspace import Workspace

if TYPE_CHECKING:
    from jsonschema import ValidationError
    from jsonschema.protocols import Validator

_MAX_STACK_CHARS: Final = 10_000
_MAX_NESTING: Final = 40  # levels of an input that any schema can be checked against
_BOUNDS: Final = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "minLength": "at least {} characters",
    "maxLength": "at most {} characters",
    "minItems": "at least {} entries",
    "maxItems": "at most {} entries",
}


@dataclass(frozen=True, slots=True)
class ToolContext:
    """The workspace, session and agent of a tool call."""

    workspace: Path
    session: str
    agent: str
    thread: Thread
    thread_id: str  # its id in the store
    store: Store
    slots: ProcessLimit = field(default_factory=ProcessLimit)
    execution: dict[str, Any] = field(default_factory=dict)  # flow, side and step of the thread
    env: Mapping[str, str] = field(default_factory=dict, repr=False)  # the user's
    call: str = ""  # id of the current call
    shell_prefix: str = ""  # shell text with which every shell command starts
    judged_paths: Mapping[str, str | None] = field(default_factory=dict, repr=False)
    """Where paths led when hooks decided about the call."""

    @property
    def files(self) -> Workspace:
        return Workspace(self.workspace, self.judged_paths)


class Tool(Protocol):
    @property
    def name(self) -> str:
        """The name that hooks match: `bash`, `mcp.git.status`, `memory.remember`."""

    @property
    def description(self) -> str: ...
    @property
    def schema(self) -> dict[str, Any]:
        """JSON Schema of its input."""

    @property
    def kind(self) -> ToolKind: ...
    async def perform(self, input: dict[str, Any], context: ToolContext) -> ToolResult:
        """Returns errors as failed results. Cancelling it stops everything it started."""


ToolBody = Callable[[dict[str, Any], ToolContext], Awaitable[Any]]
"""Returns a ToolResult or its content. HooklineError and ActionError become a failed result."""


@dataclass(frozen=True, slots=True)
class BuiltInTool:
    name: str
    description: str
    schema: dict[str, Any]
    kind: ToolKind
    body: ToolBody = field(repr=False)

    async def perform(self, input: dict[str, Any], context: ToolContext) -> ToolResult:
        problem = None if has_plain_texts(self.schema, input) else find_input_error(self.schema, input)
        if problem is not None:
            return failed_result(problem)
        try:
            answer = await self.body(input, context)
        except (HooklineError, ActionError) as error:
            return failed_result(str(error))
        return answer if isinstance(answer, ToolResult) else ToolResult(answer)

    def with_name(self, name: str) -> BuiltInTool:
        """The same tool with another name."""
        return replace(self, name=name)


def failed_result(error: str, content: Any = None) -> ToolResult:
    return ToolResult(content, ok=False, error=error)


def raised_result(error: BaseException) -> ToolResult:
    """The result of a tool that raised: the exception's own text, and its traceback as `stack`."""
    stack = mask("".join(traceback.format_exception(error))[-_MAX_STACK_CHARS:])
    return ToolResult(None, ok=False, error=exception_text(error), more={"stack": stack})


def object_schema(*required: str, **fields: dict[str, Any]) -> dict[str, Any]:
    """The schema of an object with exactly these fields."""
    return {"type": "object", "properties": fields, "required": list(required), "additionalProperties": False}


def string_schema(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def integer_schema(description: str, minimum: int, maximum: int) -> dict[str, Any]:
    return {"type": "integer", "description": description, "minimum": minimum, "maximum": maximum}


_OBJECT_KEYS: Final = object_schema().keys()
_TEXT_KEYS: Final = frozenset(("type", "description", "enum", "maxLength"))


def has_plain_texts(schema: dict[str, Any], input: Any) -> bool:
    """Whether the input is certainly valid: it has the right fields, and each of them is a text, or may be any JSON.

    Most calls are like that, and jsonschema takes longer for them than most tools run. For schemas of `object_schema`.
    """
    if schema.keys() != _OBJECT_KEYS or type(input) is not dict:
        return False
    fields = schema["properties"]
    if not input.keys() <= fields.keys() or not input.keys() >= set(schema["required"]):
        return False
    for name, value in input.items():
        field = fields[name]
        if type(value) is not str or field.get("type", "string") != "string" or not field.keys() <= _TEXT_KEYS:
            return False
        if "enum" in field and value not in field["enum"]:
            return False
        if "maxLength" in field and len(value) > field["maxLength"]:
            return False
    return True


def find_input_error(schema: dict[str, Any], input: Any) -> str | None:
    """The first error in the input, with its field; None if the input is valid.

    Nothing is checked against a schema that refers to another document, because nothing is fetched, or only to itself.
    """
    import jsonschema
    import referencing.exceptions

    try:
        errors = list(_validator_of(schema).iter_errors(input))
    except jsonschema.SchemaError as invalid:
        return f"cannot be checked, because the tool's schema is invalid: {shorten(invalid.message)}"
    except (referencing.exceptions.Unresolvable, ValueError):  # the last: a malformed URI
        return None
    except RecursionError:  # `{"$ref": "#"}` never ends, whatever the input
        return "the input is nested too deeply" if _nesting(input) > _MAX_NESTING else None
    return _describe_schema_error(min(errors, key=_error_rank)) if errors else None


def _nesting(value: Any) -> int:
    """How many levels of lists and objects it has; counts no further than one more than allowed."""
    level, depth = [value], 0
    while depth <= _MAX_NESTING:
        inner = [each for each in level if isinstance(each, dict | list | tuple)]
        if not inner:
            return depth
        level = [part for each in inner for part in (each.values() if isinstance(each, dict) else each)]
        depth += 1
    return depth


def _validator_of(schema: dict[str, Any]) -> Validator:
    """Checking the schema takes longer than most tools run, so it is done once. Raises jsonschema.SchemaError."""
    try:
        text = json.dumps(schema)
    except (TypeError, ValueError, RecursionError):  # written in Python, with values that JSON does not have
        return _build_validator(schema)
    return _cached_validator(text)


@functools.lru_cache(maxsize=512)
def _cached_validator(schema: str) -> Validator:
    return _build_validator(json.loads(schema))


def _build_validator(schema: dict[str, Any]) -> Validator:
    import referencing

    validator = _validator_class(str(schema.get("$schema", "")))
    validator.check_schema(schema)
    return validator(schema, registry=referencing.Registry())


@functools.lru_cache(maxsize=16)
def _validator_class(draft: str) -> type[Validator]:
    from jsonschema.validators import Draft202012Validator, extend, validator_for

    validator = validator_for({"$schema": draft}, Draft202012Validator)
    is_number = validator.TYPE_CHECKER.is_type
    checks = {  # for inputs from Python code instead of JSON
        "array": lambda _, value: isinstance(value, list | tuple),
        "number": lambda _, value: (
            is_number(value, "number") and value == value
        ),  # rejects NaN, which passes every bound
    }
    type_checker = validator.TYPE_CHECKER.redefine_many(checks)
    return cast("type[Validator]", extend(validator, type_checker=type_checker))  # type: ignore[no-untyped-call]


def _error_rank(error: ValidationError) -> tuple[int, bool]:
    """Outer errors first, and an unknown field before a missing one: it is often the same field, misspelt."""
    return len(error.absolute_path), error.validator != "additionalProperties"


def _describe_schema_error(error: ValidationError) -> str:
    path = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)
    where = path.removeprefix(".") or "the input"
    value: Any = error.validator_value
    match error.validator:
        case "type":
            types = [value] if isinstance(value, str) else value
            return f"{where} is not {'an' if types[0][0] in 'aeiou' else 'a'} {' or '.join(types)}"
        case "enum" | "const":
            choices = [value] if error.validator == "const" else value
            return f"{where} is not one of {', '.join(map(str, choices))}"
        case "anyOf":
            return f"{where} does not match any allowed form"
        case "additionalProperties" | "required":
            return _describe_field_error(error, f"{path}.".removeprefix("."))
    if error.validator in _BOUNDS:
        return f"{where} must be {_BOUNDS[error.validator].format(value)}"
    return f"{where}: {shorten(error.message)}"


def _describe_field_error(error: ValidationError, prefix: str) -> str:
    schema: Any = error.schema
    input: Any = error.instance
    known = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in input]
    if error.validator == "required":
        return f"{prefix}{missing[0]} is missing"
    name = next((str(name) for name in input if name not in known), "")
    return f"there is no field {prefix}{name}; {_suggest_field(name, [*missing, *known])}"


def _suggest_field(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name[:100], known, 1, 0.5)
    return f"did you mean {near[0]}?" if near else f"the fields are {', '.join(dict.fromkeys(known)) or 'none'}"
