"""What the twelve hooks receive, and what they may return."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

import hookline
from dialects.standard_agents.agent_folder import (
    compile_hook,
)
from hookline import Event
from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.hooks.outcome import FailureKind
from hookline.standard_agents import ThreadState
from hookline.testing import ScriptedHost


def decide_hook(kind: str, function: Callable[..., Any], host: Any = hookline.NO_HOST, **facts: Any) -> Decision:
    hooks = compile_hook(kind, function)
    return asyncio.run(
        Book([Layer("x", hooks)]).decide(Event(hooks[0].event, {"agent": {"name": "support"}, **facts}), host)
    )


def test_nobody_holds_a_part_of_the_event() -> None:
    kept: list[Any] = []

    async def keep(state: ThreadState, message: dict[str, Any]) -> dict[str, Any]:
        answer = {**message, "list": [1]}
        kept.extend([message, answer])
        return answer

    given = {"parts": {"a": 1}}
    decision = decide_hook("before_create_message", keep, message=given)
    kept[0]["parts"]["a"] = 2
    kept[1]["list"].append(2)
    assert given == {"parts": {"a": 1}}
    assert decision.event.facts["message"] == {"parts": {"a": 1}, "list": [1]}


def _loop() -> dict[str, Any]:
    value: dict[str, Any] = {}
    value["a"], value["b"] = value, value
    return value


@pytest.mark.parametrize("odd", [object(), {1: 2}, float("nan"), b"bytes", {"s": {1}}, _loop(), [[[object]]]])
def test_only_plain_data_becomes_a_fact(odd: Any) -> None:
    async def smuggle(state: ThreadState, message: dict[str, Any]) -> dict[str, Any]:
        return {"odd": odd}

    decision = decide_hook("before_create_message", smuggle, message={"role": "user"})
    assert decision.failures[0].kind is FailureKind.UNREADABLE_ANSWER
    assert decision.event.facts["message"] == {"role": "user"}


@pytest.mark.parametrize(
    "kind", ["filter_messages", "after_tool_call_success", "before_create_message", "after_update_message"]
)
@pytest.mark.parametrize("fact", [None, 3, "text", [], {}, [None], {"messages": 1}])
def test_odd_facts_are_no_traceback(kind: str, fact: Any) -> None:
    async def same(state: ThreadState, *given: Any) -> None:
        assert state.execution.current_side == "a"

    tool = fact if isinstance(fact, dict) else {}
    facts = {"messages": fact, "tool": tool, "message": fact, "thread": fact, "execution": fact, "user": fact}
    assert not decide_hook(kind, same, **facts).failures


def test_text_of_a_kind_is_text() -> None:
    from enum import IntEnum, StrEnum

    class Word(StrEnum):
        USER = "user"

    class Number(IntEnum):
        ONE = 1

    async def enums(state: ThreadState, message: dict[str, Any]) -> dict[str, Any]:
        return {"role": Word.USER, "n": Number.ONE}

    message = decide_hook("before_create_message", enums, message={}).event.facts["message"]
    assert message == {"role": "user", "n": 1}
    assert [type(value) for value in message.values()] == [str, int]


def test_a_host_says_that_it_is_over() -> None:
    host = ScriptedHost()
    host.thread("t1").abort.abort("the user left")

    async def wait(state: ThreadState, text: str) -> str:
        signal = state.execution.abort_signal
        await asyncio.wait_for(signal.wait(), 10)
        return f"{signal.aborted} {signal.reason}"

    decision = decide_hook("after_system_message", wait, host, thread={"id": "t1"}, system="x")
    assert decision.event.facts["system"] == "True the user left"


def test_without_threads_nothing_is_ever_aborted() -> None:
    async def look(state: ThreadState, text: str) -> str:
        signal = state.execution.abort_signal
        return f"{signal.aborted} {signal.reason}"

    assert decide_hook("after_system_message", look, system="x").event.facts["system"] == "False None"


def test_a_host_without_threads_is_unavailable() -> None:
    async def inject(state: ThreadState, message: dict[str, Any]) -> None:
        await state.inject_message({"content": "x"})

    assert decide_hook("after_create_message", inject, message={}).failures[0].kind is FailureKind.UNAVAILABLE


def test_a_hook_is_asked_about_its_own_message_once() -> None:
    stored: list[str] = []

    async def twice(state: ThreadState, message: dict[str, Any]) -> None:
        stored.append(message["content"])
        await state.inject_message({"content": message["content"] + "!"})

    hooks = compile_hook("after_create_message", twice)
    book = Book([Layer("x", hooks)])
    host = ScriptedHost(book=book)
    host.facts = {"agent": {"name": "support"}}
    asyncio.run(host.thread("t1").inject_message({"content": "a"}))
    assert stored == ["a", "a!"]
    assert [message["content"] for message in host.thread("t1").messages] == ["a", "a!"]
