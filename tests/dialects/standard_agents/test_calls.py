"""What the twelve hooks receive, and what they may return."""

from __future__ import annotations

import asyncio
import json
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
from hookline.hooks.event import deep_equal
from hookline.hooks.outcome import SILENT, FailureKind
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


MESSAGES = [
    {"id": "1", "role": "user", "content": "Hello", "created_at": 1, "kept": True},
    {"id": "2", "role": "assistant", "content": None, "tool_calls": "[]", "created_at": 2, "files": [{"name": "a"}]},
    {"id": "3", "role": "tool", "content": "Hello", "tool_call_id": "c", "created_at": 3},
]


@pytest.mark.parametrize(
    "same",
    [
        lambda messages: messages,
        lambda messages: messages[-100:],
        lambda messages: [dict(each) for each in messages],
        lambda messages: json.loads(json.dumps(messages)),
        lambda messages: [dict(reversed(each.items())) for each in messages],
    ],
)
def test_messages_that_are_returned_as_they_were_are_no_change(same: Callable[[Any], Any]) -> None:
    async def keep(state: ThreadState, messages: list[Any]) -> Any:
        return same(messages)

    decision = decide_hook("filter_messages", keep, messages=MESSAGES)
    assert not decision.failures
    assert decision.event.facts["messages"] is MESSAGES
    assert decision.trace[0].outcome == SILENT


def _rename_key(message: dict[str, Any]) -> dict[str, Any]:
    return {"name" if key == "content" else key: value for key, value in message.items()}


@pytest.mark.parametrize(
    ("change", "left"),
    [
        (lambda messages: messages[1:], MESSAGES[1:]),
        (lambda messages: messages[::-1], MESSAGES[::-1]),
        (lambda messages: messages[:1] * 2, MESSAGES[:1] * 2),
        (lambda messages: [messages[0] | {"kept": 1}], [MESSAGES[0] | {"kept": 1}]),
        (lambda messages: [messages[0] | {"content": "Bye"}, *messages[1:]], [MESSAGES[0] | {"content": "Bye"}, *MESSAGES[1:]]),
        (lambda messages: messages[1]["files"].append({}) or messages, [MESSAGES[0], MESSAGES[1] | {"files": [{"name": "a"}, {}]}, MESSAGES[2]]),
        (lambda messages: [messages[2] | {"content": None}], [MESSAGES[2] | {"content": None}]),
    ],
)  # fmt: skip
def test_every_change_of_a_message_counts(change: Callable[[Any], Any], left: list[Any]) -> None:
    async def filter(state: ThreadState, messages: list[Any]) -> Any:
        return change(messages)

    decision = decide_hook("filter_messages", filter, messages=MESSAGES)
    assert not decision.failures
    assert deep_equal(decision.event.facts["messages"], left)


def test_a_message_whose_keys_were_renamed_is_another_one() -> None:
    async def rename(state: ThreadState, messages: list[Any]) -> Any:
        return [_rename_key(each) for each in messages]

    decision = decide_hook("filter_messages", rename, messages=MESSAGES)
    assert "without content" in decision.failures[0].text


def test_messages_that_are_left_are_not_those_that_the_hook_holds() -> None:
    held: list[Any] = []

    async def hold(state: ThreadState, messages: list[Any]) -> Any:
        held.extend(messages)
        return messages[1:]

    decision = decide_hook("filter_messages", hold, messages=MESSAGES)
    for message in held:
        message["content"] = "changed later"
        message.get("files", []).clear()
    assert decision.event.facts["messages"] == MESSAGES[1:]
    assert MESSAGES[1]["files"] == [{"name": "a"}]


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
