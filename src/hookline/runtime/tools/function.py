"""Python functions as tools: any function with types, and what `define_tool` defines."""

from __future__ import annotations

import base64
import copy
import inspect
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError

from hookline.errors import HooklineError
from hookline.hooks.host import ToolResult
from hookline.hooks.tools import Kind
from hookline.runtime.tools.built_in import failed
from hookline.runtime.tools.calling import body_of, called, plain
from hookline.runtime.tools.checked import wrong_input
from hookline.runtime.tools.tool import Place
from hookline.standard_agents.definitions import Definitions, ToolDefinition
from hookline.standard_agents.state import AbortSignal, ExecutionState, ThreadState

TIMEOUT: Final = timedelta(seconds=120)
_NO_FIELDS: Final = {"type": "object", "properties": {}, "additionalProperties": False}
_OF_A_RESULT: Final = frozenset({"status", "result", "error", "stack", "attachments"})
_MOST_SHOWN: Final = 5  # mistakes of one input

Inputs = Callable[[dict[str, Any], Place], tuple[list[Any], dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class FunctionTool:
    name: str
    description: str
    schema: dict[str, Any]
    kind: Kind
    function: Callable[..., Any] = field(repr=False)
    inputs: Inputs = field(repr=False)  # the function's arguments; raises ValidationError
    timeout: timedelta = TIMEOUT

    async def perform(self, input: dict[str, Any], place: Place) -> ToolResult:
        try:
            positional, named = self.inputs(copy.deepcopy(input), place)
        except ValidationError as error:
            return failed(_mistakes(error))
        returned = await called(self.function, positional, named, self.timeout)
        return returned if isinstance(returned, ToolResult) else plain(returned)


@dataclass(frozen=True, slots=True)
class DefinedTool:
    definition: ToolDefinition
    definitions: Definitions = field(repr=False)
    kind: Kind = Kind.OTHER
    timeout: timedelta = TIMEOUT

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def description(self) -> str:
        return self.definition.description

    @property
    def schema(self) -> dict[str, Any]:
        return dict(_NO_FIELDS if self.definition.args is None else self.definition.args)

    async def perform(self, input: dict[str, Any], place: Place) -> ToolResult:
        wrong = wrong_input(self.schema, input)
        if wrong is not None:
            return failed(wrong)
        given = [await _state(place, self.definitions), copy.deepcopy(input)][: _taken(self.definition)]
        returned = await called(self.definition.execute, given, {}, self.timeout)
        return returned if isinstance(returned, ToolResult) else _defined_result(returned)


def function_tool(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    kind: Kind = Kind.OTHER,
    timeout: timedelta = TIMEOUT,
) -> FunctionTool:
    """A tool whose schema is the function's types and whose description is its docstring.

    A parameter of the type Place is not the model's to give. A plain function runs on a thread. Raises HooklineError.
    """
    own = name or str(getattr(function, "__name__", ""))
    if not callable(function) or not own:
        raise HooklineError("a tool is a function, and has a name")
    try:
        parameters, model = _model_of(function, own)
        schema = model.model_json_schema(by_alias=True)
    except (PydanticUserError, NameError, TypeError, ValueError) as error:
        raise HooklineError(f"the types of {own} cannot be read: {str(error).partition(chr(10))[0]}") from None
    schema.pop("title", None)
    said = description if description is not None else inspect.getdoc(function) or ""
    return FunctionTool(own, said, schema, kind, function, _reader(parameters, model), timeout)


def defined(definition: ToolDefinition, definitions: Definitions | None = None) -> DefinedTool:
    """What `define_tool` defined. `execute` is called with the thread's state and the input, or as many as it takes.

    definitions: what `state.load_agent` and its like find. Raises HooklineError.
    """
    _taken(definition)
    return DefinedTool(definition, Definitions() if definitions is None else definitions)


def _model_of(function: Callable[..., Any], name: str) -> tuple[list[inspect.Parameter], type[BaseModel]]:
    """Fields go by neutral names, with the parameter's as alias: a parameter may be called like a part of the model."""
    parameters = list(inspect.signature(function).parameters.values())
    hints = typing.get_type_hints(body_of(function), include_extras=True)
    fields: dict[str, Any] = {}
    for at, parameter in enumerate(parameters):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise HooklineError(f"{name} takes *{parameter.name}; a tool names each of its fields")
        if hints.get(parameter.name) is not Place:
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[f"field_{at}"] = (hints.get(parameter.name, Any), Field(default, alias=parameter.name))
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    return parameters, create_model("Input", __config__=config, **fields)


def _reader(parameters: list[inspect.Parameter], model: type[BaseModel]) -> Inputs:
    def inputs(input: dict[str, Any], place: Place) -> tuple[list[Any], dict[str, Any]]:
        held = model.model_validate(input)
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for at, parameter in enumerate(parameters):
            value = getattr(held, f"field_{at}", place)
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(value)
            else:
                named[parameter.name] = value
        return positional, named

    return inputs


def _mistakes(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"{'.'.join(map(str, each['loc'])) or 'the input'}: {each['msg']}" for each in found[:_MOST_SHOWN]]
    return "; ".join(lines)


def _taken(definition: ToolDefinition) -> int:
    """How many of the state and the input its `execute` takes."""
    try:
        signature = inspect.signature(definition.execute)
    except (TypeError, ValueError):  # a built-in function that does not say
        return 2
    for count in (2, 1, 0):
        try:
            signature.bind(*[None] * count)
        except TypeError:
            continue
        return count
    raise HooklineError(f"the tool {definition.name}: execute takes the thread's state and the input")


async def _state(place: Place, definitions: Definitions) -> ThreadState:
    session, now = await place.store.session(place.session), place.execution
    side: Literal["a", "b"] = "b" if now.get("side") == "b" else "a"
    execution = ExecutionState(
        now.get("flow") or f"flow_{place.thread_id}",
        side,
        now.get("step", 0),
        place.thread.abort.aborted,
        AbortSignal(lambda: place.thread.abort),
    )
    user = session.user if session is not None else ""
    return ThreadState(place.thread_id, place.agent, user or None, execution, lambda: place.thread, definitions)


def _defined_result(returned: Any) -> ToolResult:
    """Text or any JSON is the result; so is `{status, result, error, attachments}` with what it says."""
    if not isinstance(returned, Mapping) or returned.get("status") not in ("success", "error"):
        return plain(returned)
    if not _OF_A_RESULT.issuperset(returned):
        return plain(returned)
    try:
        attachments = tuple(_attachment(each) for each in returned.get("attachments") or ())
    except (TypeError, KeyError):
        return failed("the tool returned attachments without their name, mimeType and data, or their path")
    content = plain(returned.get("result"))
    if not content.ok:
        return content
    ok = returned["status"] == "success"
    error = "" if ok else str(returned.get("error") or content.content or "the tool failed")
    return ToolResult(content.content, ok, error, attachments)


def _attachment(given: Mapping[str, Any]) -> dict[str, Any]:
    if "data" not in given:
        return {**given, "path": given["path"]}
    data = given["data"]
    if isinstance(data, bytes | bytearray):
        data = base64.b64encode(data).decode("ascii")
    if not isinstance(data, str):
        raise TypeError("data is base64 or bytes")
    return {**given, "name": given["name"], "mimeType": given["mimeType"], "data": data}
