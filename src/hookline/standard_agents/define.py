"""`define_hook`, `define_prompt` and the others. A wrong definition raises DefinitionError where it is made."""

from __future__ import annotations

import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Literal, NoReturn, TypedDict, cast, overload

from hookline.standard_agents.definitions import (
    AgentDefinition,
    DefinitionError,
    HookDefinition,
    ModelDefinition,
    PromptDefinition,
    Side,
    SourceLocation,
    ToolDefinition,
    current_definitions,
)
from hookline.standard_agents.signatures import (
    HOOK_ARGUMENTS,
    HOOK_NAMES,
    AfterCreateMessage,
    AfterSubagentCreated,
    AfterSystemMessage,
    AfterThreadCreated,
    AfterToolCall,
    AfterUpdateMessage,
    BeforeCreateMessage,
    BeforeStoreToolResult,
    BeforeUpdateMessage,
    FilterMessages,
    HookName,
    PrefilterLLMHistory,
)


class _Unset:
    pass


_UNSET: Final = _Unset()
_SNAKE_CASE: Final = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*", re.ASCII)
_MAX_SHOWN_LENGTH: Final = 80


class SideOptions(TypedDict, total=False):
    prompt: str
    label: str
    stop_on_response: bool
    stop_tool: str | None
    max_steps: int | None
    session_stop: str | None
    session_fail: str | None


@overload
def define_hook(hook: Literal["after_thread_created"], id: str, execute: AfterThreadCreated) -> HookDefinition: ...
@overload
def define_hook(hook: Literal["after_subagent_created"], id: str, execute: AfterSubagentCreated) -> HookDefinition: ...
@overload
def define_hook(hook: Literal["after_system_message"], id: str, execute: AfterSystemMessage) -> HookDefinition: ...
@overload
def define_hook(hook: Literal["filter_messages"], id: str, execute: FilterMessages) -> HookDefinition: ...
@overload
def define_hook(hook: Literal["prefilter_llm_history"], id: str, execute: PrefilterLLMHistory) -> HookDefinition: ...
@overload
def define_hook(hook: Literal["before_create_message"], id: str, execute: BeforeCreateMessage) -> HookDefinition: ...
@overload
def define_hook(hook: Literal["after_create_message"], id: str, execute: AfterCreateMessage) -> HookDefinition: ...
@overload
def define_hook(hook: Literal["before_update_message"], id: str, execute: BeforeUpdateMessage) -> HookDefinition: ...
@overload
def define_hook(hook: Literal["after_update_message"], id: str, execute: AfterUpdateMessage) -> HookDefinition: ...
@overload
def define_hook(
    hook: Literal["before_store_tool_result"], id: str, execute: BeforeStoreToolResult
) -> HookDefinition: ...
@overload
def define_hook(
    hook: Literal["after_tool_call_success", "after_tool_call_failure"], id: str, execute: AfterToolCall
) -> HookDefinition: ...
@overload
def define_hook(
    hook: Literal["after_thread_created"], id: str
) -> Callable[[AfterThreadCreated], AfterThreadCreated]: ...
@overload
def define_hook(
    hook: Literal["after_subagent_created"], id: str
) -> Callable[[AfterSubagentCreated], AfterSubagentCreated]: ...
@overload
def define_hook(
    hook: Literal["after_system_message"], id: str
) -> Callable[[AfterSystemMessage], AfterSystemMessage]: ...
@overload
def define_hook(hook: Literal["filter_messages"], id: str) -> Callable[[FilterMessages], FilterMessages]: ...
@overload
def define_hook(
    hook: Literal["prefilter_llm_history"], id: str
) -> Callable[[PrefilterLLMHistory], PrefilterLLMHistory]: ...
@overload
def define_hook(
    hook: Literal["before_create_message"], id: str
) -> Callable[[BeforeCreateMessage], BeforeCreateMessage]: ...
@overload
def define_hook(
    hook: Literal["after_create_message"], id: str
) -> Callable[[AfterCreateMessage], AfterCreateMessage]: ...
@overload
def define_hook(
    hook: Literal["before_update_message"], id: str
) -> Callable[[BeforeUpdateMessage], BeforeUpdateMessage]: ...
@overload
def define_hook(
    hook: Literal["after_update_message"], id: str
) -> Callable[[AfterUpdateMessage], AfterUpdateMessage]: ...
@overload
def define_hook(
    hook: Literal["before_store_tool_result"], id: str
) -> Callable[[BeforeStoreToolResult], BeforeStoreToolResult]: ...
@overload
def define_hook(
    hook: Literal["after_tool_call_success", "after_tool_call_failure"], id: str
) -> Callable[[AfterToolCall], AfterToolCall]: ...


def define_hook(hook: Any, id: Any, execute: Any = _UNSET) -> Any:
    """Defines a hook for the prompts and agents that list its id.

        define_hook(hook="filter_messages", id="last_20", execute=last_20)

        @define_hook(hook="filter_messages", id="last_20")
        async def last_20(state, messages):
            return messages[-20:]

    Returns the definition; as a decorator, returns the function unchanged. Raises DefinitionError.
    """
    place = _caller_location()
    check_hook(hook, id)
    definitions = current_definitions()
    if not isinstance(execute, _Unset):
        definition = HookDefinition(hook, id, _check_execute(execute, hook, id), place)
        definitions.add(definition)
        return definition
    definitions.unfinished[id] = place

    def decorate(function: Any) -> Any:
        definitions.unfinished.pop(id, None)
        definitions.add(HookDefinition(hook, id, _check_execute(function, hook, id), place))
        return function

    return decorate


def check_hook(hook: object, id: object) -> None:
    """Raises DefinitionError if there is no such hook, or if the id is not snake_case."""
    if not isinstance(hook, str) or hook not in HOOK_NAMES:
        _refuse(f"there is no hook {_format_value(hook)}. The hooks are {', '.join(HOOK_NAMES)}.")
    if not isinstance(id, str) or not _SNAKE_CASE.fullmatch(id):
        _refuse(f"the id {_format_value(id)} is not snake_case. Write it like limit_to_20_messages.")


def define_prompt(
    *,
    name: str,
    prompt: str = "",
    model: str | None = None,
    tools: Iterable[str] = (),
    hooks: Iterable[str] | None = None,
    tool_description: str = "",
) -> PromptDefinition:
    """Defines a system prompt. With `hooks`, even an empty list, exactly those run while it is active."""
    what = f"the prompt {_format_value(name)}"
    definition = PromptDefinition(
        _check_name(name, "prompt"),
        _check_text(prompt, f"prompt of {what}"),
        None if model is None else _check_text(model, f"model of {what}"),
        _check_names(tools, f"tools of {what}"),
        None if hooks is None else _check_names(hooks, f"hooks of {what}"),
        _check_text(tool_description, f"tool_description of {what}"),
        _caller_location(),
    )
    current_definitions().add(definition)
    return definition


def define_agent(
    *,
    name: str,
    type: Literal["ai_human", "dual_ai"] = "ai_human",
    side_a: SideOptions | Side | None = None,
    side_b: SideOptions | Side | None = None,
    hooks: Iterable[str] | None = None,
    max_session_turns: int | None = None,
    description: str = "",
) -> AgentDefinition:
    """Defines an agent. Its `hooks` run while the active prompt declares none."""
    what = f"the agent {_format_value(name)}"
    if type not in ("ai_human", "dual_ai"):
        _refuse(f"{what}: there is no type {_format_value(type)}. Write ai_human or dual_ai.")
    if type == "dual_ai" and (side_a is None or side_b is None):
        _refuse(f"{what}: the type dual_ai needs side_a and side_b.")
    definition = AgentDefinition(
        _check_name(name, "agent"),
        type,
        _parse_side(side_a, f"side_a of {what}"),
        _parse_side(side_b, f"side_b of {what}"),
        None if hooks is None else _check_names(hooks, f"hooks of {what}"),
        _check_count(max_session_turns, f"max_session_turns of {what}"),
        _check_text(description, f"description of {what}"),
        _caller_location(),
    )
    current_definitions().add(definition)
    return definition


def define_tool(
    *, name: str, description: str, execute: Callable[..., Any], args: Mapping[str, Any] | None = None
) -> ToolDefinition:
    """Defines a tool that agents may call; `args` is the JSON Schema of its input."""
    what = f"the tool {_format_value(name)}"
    _check_callable(execute, what)
    if args is not None and not isinstance(args, Mapping):
        _refuse(f"args of {what}: {_format_value(args)} is not a JSON Schema. Write a dict.")
    text = _check_text(description, f"description of {what}")
    definition = ToolDefinition(_check_name(name, "tool"), text, execute, args, _caller_location())
    current_definitions().add(definition)
    return definition


def define_model(*, name: str, provider: str, model: str, fallbacks: Iterable[str] = ()) -> ModelDefinition:
    """Defines a model under a name, and the models to try if it fails."""
    what = f"the model {_format_value(name)}"
    definition = ModelDefinition(
        _check_name(name, "model"),
        _check_text(provider, f"provider of {what}"),
        _check_text(model, f"model of {what}"),
        _check_names(fallbacks, f"fallbacks of {what}"),
        _caller_location(),
    )
    current_definitions().add(definition)
    return definition


def _parse_side(given: SideOptions | Side | None, what: str) -> Side | None:
    if given is None:
        return None
    if not isinstance(given, Side):
        if not isinstance(given, Mapping):
            _refuse(f"{what}: {_format_value(given)} is not a side. Write a dict with a prompt.")
        unknown = [key for key in given if key not in SideOptions.__annotations__]
        if unknown:
            _refuse(f"{what} has no {_format_value(unknown[0])}. It may have {', '.join(SideOptions.__annotations__)}.")
        if "prompt" not in given:
            _refuse(f"{what} needs a prompt.")
        given = Side(**given)
    for key in ("prompt", "label"):
        _check_text(getattr(given, key), f"{key} in {what}")
    for key in ("stop_tool", "session_stop", "session_fail"):
        tool = getattr(given, key)
        if tool is not None and (not isinstance(tool, str) or not tool):
            _refuse(f"{key} in {what}: {_format_value(tool)} is not a tool's name.")
    if not isinstance(given.stop_on_response, bool):
        _refuse(f"stop_on_response in {what}: {_format_value(given.stop_on_response)} is neither True nor False.")
    _check_count(given.max_steps, f"max_steps in {what}")
    return given


def _check_count(given: object, what: str) -> int | None:
    if given is not None and (type(given) is not int or given < 1):
        _refuse(f"{what}: {_format_value(given)} is not a whole number of at least 1.")
    return given


def _check_name(name: object, kind: str) -> str:
    if not isinstance(name, str) or not name.strip():
        _refuse(f"{_format_value(name)} is not a valid {kind} name.")
    return name


def _check_text(given: object, what: str) -> str:
    if not isinstance(given, str):
        _refuse(f"{what}: {_format_value(given)} is not text.")
    return given


def _check_names(given: object, what: str) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        _refuse(f"{what}: {_format_value(given)} is not a list of names.")
    found = tuple(given)
    wrong = [each for each in found if not isinstance(each, str)]
    if wrong:
        _refuse(f"{what}: {_format_value(wrong[0])} is not a name.")
    return cast("tuple[str, ...]", found)


def _check_callable(execute: object, what: str) -> Callable[..., Any]:
    if not callable(execute):
        _refuse(f"{what}: execute is missing or cannot be called. Write execute=an async function.")
    return execute


def _check_execute(execute: object, hook: HookName, id: str) -> Callable[..., Any]:
    what = f"the hook {id}"
    function = _check_callable(execute, what)
    if hook != "after_system_message" and not _is_async(function):
        _refuse(f"{what}: execute is not an async function. Write async def.")
    arguments = HOOK_ARGUMENTS[hook]
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        _refuse(f"{what}: {hook} calls execute with {', '.join(arguments)}, which it does not accept.")
    except ValueError:  # a built-in function without a signature
        pass
    return function


def _is_async(function: Callable[..., Any]) -> bool:
    """True for `async def`, also behind a partial, a decorator that sets __wrapped__, or an object's __call__."""
    while isinstance(function, functools.partial):
        function = function.func
    inner = inspect.unwrap(function)
    called = type(inner).__call__
    return any(map(inspect.iscoroutinefunction, (function, inner, called)))


def _caller_location() -> SourceLocation:
    """Where the define function that calls this was called."""
    frame = sys._getframe(2)
    return SourceLocation(frame.f_code.co_filename, frame.f_lineno)


def _refuse(what: str) -> NoReturn:
    raise DefinitionError(what)


def _format_value(value: object) -> str:
    text = repr(value) if isinstance(value, (str, int, float, bool, type(None))) else f"a {type(value).__name__}"
    return text if len(text) <= _MAX_SHOWN_LENGTH else text[: _MAX_SHOWN_LENGTH - 1] + "…"
