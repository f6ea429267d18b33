"""A request's messages as providers want them: told and answered in turns, and each tool call with its result at once.

Histories are not always so: hooks put messages between a call and its result, a crash leaves a call without one,
compaction leaves a result without its call or an answer at the beginning.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from hookline.errors import HooklineError

NO_RESULT: Final = "The call was interrupted; it has no result."
GO_ON: Final = "Go on."


@dataclass(frozen=True, slots=True)
class System:
    text: str


@dataclass(frozen=True, slots=True)
class User:
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Result:
    call: Call
    text: str


@dataclass(frozen=True, slots=True)
class Told:
    parts: tuple[System | User | Result, ...]


@dataclass(frozen=True, slots=True)
class Answered:
    text: str
    calls: tuple[Call, ...] = ()


Turns: TypeAlias = tuple[Told | Answered, ...]


def turns(messages: Sequence[dict[str, Any]]) -> Turns:
    """Begins with Told, then both in turn. Results without a call are left out, calls without a result get one."""
    told: list[System | User | Result] = []
    taken: list[Told | Answered] = []
    for answer, rest in _stretches(messages):
        if answer is not None and (answer.text or answer.calls):
            _take_told(taken, told)
            _take_answer(taken, answer)
            told = []
        told += _told(answer.calls if answer else (), rest)
    if told or not taken:
        _take_told(taken, told)
    return tuple(taken)


def _stretches(messages: Iterable[dict[str, Any]]) -> Iterator[tuple[Answered | None, list[dict[str, Any]]]]:
    """Each answer with what came between it and the next one."""
    answer: Answered | None = None
    rest: list[dict[str, Any]] = []
    for message in messages:
        if message.get("role") == "assistant":
            yield answer, rest
            answer, rest = Answered(_text(message), tuple(_calls(message))), []
        else:
            rest.append(message)
    yield answer, rest


def _take_told(taken: list[Told | Answered], told: list[System | User | Result]) -> None:
    if not taken and not any(isinstance(part, User) for part in told):
        told = [*told, User(GO_ON)]
    if told:
        taken.append(Told(tuple(told)))


def _take_answer(taken: list[Told | Answered], answer: Answered) -> None:
    last = taken[-1]
    if isinstance(last, Answered):
        taken[-1] = Answered("\n\n".join(filter(None, (last.text, answer.text))), (*last.calls, *answer.calls))
    else:
        taken.append(answer)


def _told(calls: Sequence[Call], rest: Iterable[dict[str, Any]]) -> list[System | User | Result]:
    results: dict[str, str] = {}
    others: list[System | User | Result] = []
    for message in rest:
        text, role = _text(message), message.get("role")
        if role == "tool":
            results[str(message.get("tool_call_id"))] = text
        elif text:
            others.append(System(text) if role == "system" else User(text))
    return [*(Result(call, results.get(call.id, NO_RESULT)) for call in calls), *others]


def _text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    return json.dumps(content, ensure_ascii=False, default=str)


def _calls(message: dict[str, Any]) -> Iterator[Call]:
    calls = message.get("tool_calls") or ()
    try:
        for call in json.loads(calls) if isinstance(calls, str) else calls:
            function = call["function"]
            yield Call(str(call["id"]), str(function["name"]), str(function.get("arguments") or "{}"))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise HooklineError("a message has tool_calls that are no list of calls") from None
