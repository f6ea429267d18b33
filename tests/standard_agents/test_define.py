"""Definitions: what is refused where it is made, and where the others are kept."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from hookline.errors import HooklineError
from hookline.standard_agents import (
    HOOK_NAMES,
    DefinitionError,
    NotDefined,
    Side,
    collecting,
    current_definitions,
    define_agent,
    define_hook,
    define_model,
    define_prompt,
    define_tool,
)

define: Any = define_hook  # as it is called where mypy is not asked


async def nothing(*_: Any) -> None: ...


def test_an_unknown_hook_is_refused_and_the_twelve_are_listed() -> None:
    with collecting() as definitions, pytest.raises(DefinitionError) as refused:
        define(hook="filter_message", id="x", execute=nothing)
    assert all(name in str(refused.value) for name in HOOK_NAMES)
    assert len(HOOK_NAMES) == 12
    assert not definitions.hooks
    assert isinstance(refused.value, HooklineError)


@pytest.mark.parametrize("hook", [None, 3, ["filter_messages"], "", "Filter_messages", "filter_messages "])
def test_a_hook_is_one_of_the_names(hook: object) -> None:
    with collecting(), pytest.raises(DefinitionError, match="there is no hook"):
        define(hook=hook, id="x", execute=nothing)


@pytest.mark.parametrize(
    "id", ["LimitTo20", "limit-to-20", "", "_x", "x_", "a__b", "2x", "x y", "ä", "x\n", None, 7, "x" * 10 + "É"]
)
def test_an_id_is_snake_case(id: object) -> None:
    with collecting(), pytest.raises(DefinitionError, match="snake_case"):
        define(hook="filter_messages", id=id, execute=nothing)


@pytest.mark.parametrize("id", ["x", "limit_to_20_messages", "a1_b2", "redact"])
def test_snake_case_is_an_id(id: str) -> None:
    with collecting() as definitions:
        define(hook="filter_messages", id=id, execute=nothing)
    assert list(definitions.hooks) == [id]


@pytest.mark.parametrize("execute", [None, "return messages", 3])
def test_execute_can_be_called(execute: object) -> None:
    with collecting() as definitions, pytest.raises(DefinitionError, match="execute is missing or cannot be called"):
        define(hook="filter_messages", id="x", execute=execute)
    assert not definitions.hooks


def test_a_decorator_decorates_something_that_can_be_called() -> None:
    with collecting(), pytest.raises(DefinitionError, match="execute"):
        define(hook="filter_messages", id="x")(3)


def test_an_id_stands_once_and_the_first_is_kept() -> None:
    with collecting() as definitions:
        first = define(hook="filter_messages", id="x", execute=nothing)
        with pytest.raises(DefinitionError, match=r"the hook x is defined twice, first in .*test_define\.py:\d+"):
            define(hook="after_create_message", id="x", execute=nothing)
    assert definitions.hooks["x"] is first


def test_the_definition_is_what_was_written() -> None:
    with collecting():
        made = define(hook="filter_messages", id="x", execute=nothing)
    assert (made.hook, made.id, made.execute) == ("filter_messages", "x", nothing)
    assert made.place.file == __file__


def test_as_a_decorator_the_function_stays_as_it_was() -> None:
    with collecting() as definitions:
        assert define(hook="filter_messages", id="x")(nothing) is nothing
    assert definitions.hooks["x"].execute is nothing
    assert not definitions.unfinished


def test_a_decorator_that_decorates_nothing_is_known() -> None:
    with collecting() as definitions:
        define(hook="filter_messages", id="x")
    assert list(definitions.unfinished) == ["x"]


def test_sets_of_definitions_do_not_see_each_other() -> None:
    outside = current_definitions()
    with collecting() as one:
        define(hook="filter_messages", id="x", execute=nothing)
        with collecting() as other:
            define(hook="filter_messages", id="x", execute=nothing)
        define(hook="filter_messages", id="y", execute=nothing)
    assert (list(one.hooks), list(other.hooks)) == (["x", "y"], ["x"])
    assert current_definitions() is outside
    assert "x" not in outside.hooks


def test_agents_prompts_tools_and_models_keep_what_they_were_given() -> None:
    with collecting() as definitions:
        define_model(name="small", provider="local", model="small-1", fallbacks=["other"])
        define_prompt(name="careful", prompt="Be careful.", model="small", tools=["look"], hooks=[])
        define_prompt(name="plain")
        define_tool(name="look", description="Looks.", execute=nothing, args={"type": "object"})
        define_agent(
            name="both",
            type="dual_ai",
            side_a={"prompt": "careful", "max_steps": 5, "stop_on_response": False, "stop_tool": "look"},
            side_b=Side("plain"),
            hooks=["x"],
        )
    agent = definitions.agent("both")
    assert agent.side_a == Side("careful", stop_on_response=False, stop_tool="look", max_steps=5)
    assert agent.side_b == Side("plain")
    assert agent.hooks == ("x",)
    assert definitions.prompt("careful").hooks == ()
    assert definitions.prompt("plain").hooks is None
    assert definitions.model("small").fallbacks == ("other",)
    assert definitions.tools["look"].args == {"type": "object"}


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": "a", "type": "human"}, "there is no type"),
        ({"name": "a", "type": "dual_ai"}, "side_a and side_b"),
        ({"name": "a", "hooks": "x"}, "is not a list of names"),
        ({"name": "a", "hooks": ["x", 3]}, "3 is not a name"),
        ({"name": " "}, "is not a valid agent name"),
        ({"name": "a", "side_a": {"prompt": "p", "stop": 1}}, "has no 'stop'"),
        ({"name": "a", "side_a": {}}, "needs a prompt"),
        ({"name": "a", "side_a": 5}, "5 is not a side"),
        ({"name": "a", "side_a": {"prompt": 3}}, "prompt in side_a of the agent 'a': 3 is not text"),
        ({"name": "a", "side_a": {"prompt": "p", "stop_on_response": "no"}}, "is neither True nor False"),
        ({"name": "a", "side_a": {"prompt": "p", "stop_tool": ["done"]}}, "a list is not a tool's name"),
        ({"name": "a", "side_a": Side("p", session_fail="")}, "session_fail in side_a .*: '' is not a tool's name"),
        ({"name": "a", "description": None}, "description of the agent 'a': None is not text"),
    ],
)
def test_an_agent_that_cannot_be(given: dict[str, Any], message: str) -> None:
    untyped: Any = define_agent
    with collecting() as definitions, pytest.raises(DefinitionError, match=message):
        untyped(**given)
    assert not definitions.agents


@pytest.mark.parametrize(
    ("define_one", "wrong", "message"),
    [
        (define_prompt, {"prompt": 4}, "prompt of the prompt 'a': 4 is not text"),
        (define_prompt, {"model": 4}, "model of the prompt 'a': 4 is not text"),
        (define_tool, {"description": None, "execute": nothing}, "description of the tool 'a': None is not text"),
        (define_tool, {"description": "", "execute": nothing, "args": ["x"]}, "a list is not a JSON Schema"),
        (define_model, {"provider": None, "model": "m"}, "provider of the model 'a': None is not text"),
    ],
)
def test_every_field_has_its_type(define_one: Any, wrong: dict[str, Any], message: str) -> None:
    with collecting(), pytest.raises(DefinitionError, match=message):
        define_one(name="a", **wrong)


@pytest.mark.parametrize("count", [0, -1, 1.5, "3", True])
def test_a_limit_is_a_whole_number_from_1(count: Any) -> None:
    with collecting(), pytest.raises(DefinitionError, match="max_session_turns of the agent 'a'"):
        define_agent(name="a", max_session_turns=count)
    sides: tuple[Any, ...] = ({"prompt": "p", "max_steps": count}, Side("p", max_steps=count))
    for side in sides:
        with collecting(), pytest.raises(DefinitionError, match="max_steps in side_a of the agent 'a'"):
            define_agent(name="a", side_a=side)


def test_a_name_of_a_kind_stands_once() -> None:
    with collecting():
        define_prompt(name="same")
        define_agent(name="same")
        with pytest.raises(DefinitionError, match="the prompt same is defined twice"):
            define_prompt(name="same")


def test_what_was_not_defined_is_a_clear_error() -> None:
    with collecting() as definitions:
        define_agent(name="one")
    with pytest.raises(NotDefined, match=r"there is no agent 'two'\. Defined: one"):
        definitions.agent("two")
    with pytest.raises(NotDefined):
        definitions.prompt(["unhashable"])  # type: ignore[arg-type]


def _plain(state: Any, messages: Any) -> Any:
    return messages


class _Callable:
    async def __call__(self, state: Any, messages: Any) -> Any:
        return messages


async def _messages(state: Any, messages: Any) -> Any:
    return messages


@functools.wraps(_messages)
def _decorated(*args: Any) -> Any:
    return _messages(*args)


@pytest.mark.parametrize("execute", [_plain, lambda state, messages: messages, _Callable, print])
def test_a_hook_is_an_async_function(execute: Any) -> None:
    with collecting() as definitions, pytest.raises(DefinitionError, match="not an async function"):
        define(hook="filter_messages", id="x", execute=execute)
    with collecting(), pytest.raises(DefinitionError, match="not an async function"):
        define(hook="filter_messages", id="x")(execute)
    assert not definitions.hooks


@pytest.mark.parametrize("execute", [_messages, _decorated, _Callable(), functools.partial(_messages), nothing])
def test_any_form_of_an_async_function_is_one(execute: Any) -> None:
    with collecting() as definitions:
        define(hook="filter_messages", id="x", execute=execute)
    assert definitions.hooks["x"].execute is execute


async def _one(state: Any) -> None: ...


async def _three(state: Any, one: Any, two: Any) -> None: ...


async def _keyword(state: Any, *, messages: Any) -> None: ...


@pytest.mark.parametrize("execute", [_one, _three, _keyword, functools.partial(_messages, 1)])
def test_a_hook_takes_its_arguments(execute: Any) -> None:
    with (
        collecting(),
        pytest.raises(DefinitionError, match="filter_messages calls execute with state, messages, which"),
    ):
        define(hook="filter_messages", id="x", execute=execute)


@pytest.mark.parametrize("hook", HOOK_NAMES)
def test_each_hook_has_its_number_of_arguments(hook: str) -> None:
    async def none() -> None: ...

    async def many(state: Any, a: Any, b: Any, c: Any) -> None: ...

    for execute in (none, many):
        with collecting(), pytest.raises(DefinitionError, match=f"{hook} calls execute with state"):
            define(hook=hook, id="x", execute=execute)


def test_after_system_message_may_be_plain() -> None:
    with collecting() as definitions:
        define(hook="after_system_message", id="x", execute=_plain)
    assert definitions.hooks
