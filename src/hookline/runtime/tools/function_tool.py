"""Python functions as tools: any typed function, and tools defined with `define_tool`."""

from __future__ import annotations

import base64
import copy
import functools
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import timedelta
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model
from pydantic.errors import PydanticUserError
from pydantic_core import to_jsonable_python

from hookline.errors import HooklineError
from hookline.hooks.actions.python_function import describe_exception
from hookline.hooks.attempt import CancelledItself, DeadlinePassed, run_until
from hookline.hooks.host import ToolResult
from hookline.hooks.tools import ToolKind
from hookline.lazy_dataclasses import dataclass, field
from hookline.runtime.tools.blocking import run_blocking
from hookline.runtime.tools.tool_definition import ToolContext, failed_result, find_input_error, raised_result
from hookline.standard_agents.definitions import Definitions, ToolDefinition
from hookline.standard_agents.state import AbortSignal, ExecutionState, ThreadState


async def call_function(
    function: Callable[..., Any], positional: list[Any], named: dict[str, Any], timeout: timedelta
) -> Any:
    """The function's return value, or a failed ToolResult if it raises or takes too long, whatever it catches."""
    try:
        return await run_until(timeout, _run_function(function, positional, named, timeout.total_seconds()))
    except DeadlinePassed:
        return failed_result(f"it did not answer within {timeout.total_seconds():g} s")
    except CancelledItself:
        return failed_result("CancelledError")


async def _run_function(
    function: Callable[..., Any], positional: list[Any], named: dict[str, Any], seconds: float
) -> Any:
    try:
        returned = (
            function(*positional, **named)
            if inspect.iscoroutinefunction(underlying_function(function))
            else await run_blocking(lambda _: _call_in_thread(function, positional, named), seconds, "functions")
        )
        return await returned if inspect.isawaitable(returned) else returned
    except HooklineError as error:
        return failed_result(str(error))
    except (Exception, SystemExit) as error:  # third-party code may raise anything
        return raised_result(error)


def _call_in_thread(function: Callable[..., Any], positional: list[Any], named: dict[str, Any]) -> Any:
    try:
        return function(*positional, **named)
    except StopIteration as error:  # a Future cannot store a StopIteration
        return raised_result(error)


def underlying_function(function: Callable[..., Any]) -> Any:
    """The inner function of a partial, the `__call__` of an object, otherwise the function itself."""
    while isinstance(function, functools.partial):
        function = function.func
    return function if inspect.isroutine(function) or inspect.isclass(function) else type(function).__call__


def to_tool_result(returned: Any) -> ToolResult:
    """Converts the value to JSON data. Bytes are text, so that hooks can read them; if some are not UTF-8, all are base64."""
    if returned is None or isinstance(returned, str):
        return ToolResult(returned or "")
    try:
        value = _with_lists(returned)
        with suppress(ValueError):
            return ToolResult(_to_json_data(value, "utf8"))
        return ToolResult(_to_json_data(value, "base64"))
    except (ValueError, TypeError, RecursionError) as error:
        return failed_result(f"the tool returned a value that is not JSON: {describe_exception(error)}")


def _with_lists(value: Any) -> Any:
    """An iterator can be read only once."""
    if isinstance(value, (list, tuple, Iterator)):
        return [_with_lists(each) for each in value]
    return {key: _with_lists(held) for key, held in value.items()} if type(value) is dict else value


def _to_json_data(value: Any, bytes_mode: Literal["utf8", "base64"]) -> Any:
    return to_jsonable_python(value, bytes_mode=bytes_mode, inf_nan_mode="null", fallback=str)


TIMEOUT: Final = timedelta(seconds=120)
_NO_FIELDS: Final = {"type": "object", "properties": {}, "additionalProperties": False}
_RESULT_KEYS: Final = frozenset({"status", "result", "error", "attachments"})
_MAX_SHOWN_ERRORS: Final = 5  # errors shown for one input

InputParser = Callable[[dict[str, Any], ToolContext], tuple[list[Any], dict[str, Any]]]


@dataclass(frozen=True, slots=True)
class FunctionTool:
    name: str
    description: str
    schema: dict[str, Any]
    kind: ToolKind
    function: Callable[..., Any] = field(repr=False)
    parse_input: InputParser = field(repr=False)  # the function's arguments; raises ValidationError
    timeout: timedelta = TIMEOUT

    async def perform(self, input: dict[str, Any], context: ToolContext) -> ToolResult:
        try:
            positional, named = self.parse_input(copy.deepcopy(input), context)
        except ValidationError as error:
            return failed_result(_format_validation_error(error))
        returned = await call_function(self.function, positional, named, self.timeout)
        return returned if isinstance(returned, ToolResult) else to_tool_result(returned)


@dataclass(frozen=True, slots=True)
class DefinedTool:
    definition: ToolDefinition
    definitions: Definitions = field(repr=False)
    kind: ToolKind = ToolKind.OTHER
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

    async def perform(self, input: dict[str, Any], context: ToolContext) -> ToolResult:
        problem = find_input_error(self.schema, input)
        if problem is not None:
            return failed_result(problem)
        arguments = [await _build_thread_state(context, self.definitions), copy.deepcopy(input)][
            : _argument_count(self.definition)
        ]
        returned = await call_function(self.definition.execute, arguments, {}, self.timeout)
        return returned if isinstance(returned, ToolResult) else _parse_defined_result(returned)


def function_tool(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    kind: ToolKind = ToolKind.OTHER,
    timeout: timedelta = TIMEOUT,
) -> FunctionTool:
    """A tool whose schema comes from the function's types and whose description is its docstring.

    A parameter of type ToolContext is passed in and hidden from the model. A function that is not async runs on a thread.
    Raises HooklineError.
    """
    tool_name = name or str(getattr(function, "__name__", ""))
    if not callable(function) or not tool_name:
        raise HooklineError("a tool needs a function and a name")
    try:
        parameters, model = _build_input_model(function, tool_name)
        schema = model.model_json_schema(by_alias=True)
    except (PydanticUserError, NameError, TypeError, ValueError) as error:
        raise HooklineError(f"the types of {tool_name} cannot be read: {str(error).partition(chr(10))[0]}") from None
    schema.pop("title", None)
    text = description if description is not None else inspect.getdoc(function) or ""
    return FunctionTool(tool_name, text, schema, kind, function, _build_input_parser(parameters, model), timeout)


def defined_tool(definition: ToolDefinition, definitions: Definitions | None = None) -> DefinedTool:
    """A tool from `define_tool`. `execute` gets the thread's state and the input, or only as many arguments as it takes.

    definitions: where `state.load_agent` and similar methods look. Raises HooklineError.
    """
    _argument_count(definition)
    return DefinedTool(definition, Definitions() if definitions is None else definitions)


def _build_input_model(function: Callable[..., Any], name: str) -> tuple[list[inspect.Parameter], type[BaseModel]]:
    """Fields have neutral names and the parameter as alias, because a parameter may be named like a model attribute."""
    parameters = list(inspect.signature(function).parameters.values())
    hints = typing.get_type_hints(underlying_function(function), include_extras=True)
    fields: dict[str, Any] = {}
    for index, parameter in enumerate(parameters):
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise HooklineError(f"{name} takes *{parameter.name}; a tool must name each of its fields")
        if hints.get(parameter.name) is not ToolContext:
            default = ... if parameter.default is parameter.empty else parameter.default
            fields[f"field_{index}"] = (hints.get(parameter.name, Any), Field(default, alias=parameter.name))
    config = ConfigDict(extra="forbid", arbitrary_types_allowed=False)
    return parameters, create_model("Input", __config__=config, **fields)


def _build_input_parser(parameters: list[inspect.Parameter], model: type[BaseModel]) -> InputParser:
    def parse(input: dict[str, Any], context: ToolContext) -> tuple[list[Any], dict[str, Any]]:
        values = model.model_validate(input)
        positional: list[Any] = []
        named: dict[str, Any] = {}
        for index, parameter in enumerate(parameters):
            value = getattr(values, f"field_{index}", context)
            if parameter.kind is parameter.POSITIONAL_ONLY:
                positional.append(value)
            else:
                named[parameter.name] = value
        return positional, named

    return parse


def _format_validation_error(error: ValidationError) -> str:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    lines = [f"{'.'.join(map(str, each['loc'])) or 'the input'}: {each['msg']}" for each in found[:_MAX_SHOWN_ERRORS]]
    return "; ".join(lines)


def _argument_count(definition: ToolDefinition) -> int:
    """How many of the two arguments, state and input, `execute` takes."""
    try:
        signature = inspect.signature(definition.execute)
    except (TypeError, ValueError):  # a built-in function without a signature
        return 2
    for count in (2, 1, 0):
        try:
            signature.bind(*[None] * count)
        except TypeError:
            continue
        return count
    raise HooklineError(f"the tool {definition.name}: execute must take the thread's state and the input")


async def _build_thread_state(context: ToolContext, definitions: Definitions) -> ThreadState:
    session, progress = await context.store.session(context.session), context.execution
    side: Literal["a", "b"] = "b" if progress.get("side") == "b" else "a"
    execution = ExecutionState(
        progress.get("flow") or f"flow_{context.thread_id}",
        side,
        progress.get("step", 0),
        context.thread.abort.aborted,
        AbortSignal(lambda: context.thread.abort),
    )
    user = session.user if session is not None else ""
    return ThreadState(context.thread_id, context.agent, user or None, execution, lambda: context.thread, definitions)


def _parse_defined_result(returned: Any) -> ToolResult:
    """Reads `{status, result, error, attachments, …}`; any other value is the result itself."""
    if returned is None:
        return ToolResult(None)
    if not isinstance(returned, Mapping) or not _is_defined_result(returned):
        return to_tool_result(returned)
    try:
        attachments = tuple(_parse_attachment(each) for each in returned.get("attachments") or ())
    except (TypeError, KeyError):
        return failed_result("the tool returned an attachment without name, mimeType and data, or without path")
    except ValueError:
        return failed_result("the tool returned an attachment whose data is not base64")
    given = returned.get("result")
    content = ToolResult(None) if given is None else to_tool_result(given)
    more = to_tool_result({str(key): value for key, value in returned.items() if key not in _RESULT_KEYS})
    if not content.ok or not more.ok:
        return content if not content.ok else more
    ok = returned["status"] == "success"
    error = "" if ok else str(returned.get("error") or content.content or "the tool failed")
    return ToolResult(content.content, ok, error, attachments, more=more.content)


def _is_defined_result(returned: Mapping[str, Any]) -> bool:
    """A success with other keys and no `result` is an ordinary value; whatever says that it failed has failed."""
    if returned.get("status") == "error":
        return True
    return returned.get("status") == "success" and ("result" in returned or _RESULT_KEYS.issuperset(returned))


def _parse_attachment(given: Mapping[str, Any]) -> dict[str, Any]:
    if "data" not in given:
        return {**given, "path": given["path"]}
    data = given["data"]
    if isinstance(data, bytes | bytearray):
        data = base64.b64encode(data).decode("ascii")
    if not isinstance(data, str):
        raise TypeError("data must be base64 text or bytes")
    base64.b64decode(data, validate=True)
    return {**given, "name": given["name"], "mimeType": given["mimeType"], "data": data}
