"""Builds the model's request from the stored messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, Final

from hookline.engine.decision import Decision
from hookline.hooks.outcome import NotePlace
from hookline.runtime.models.model import CompletionRequest, RequestedCall
from hookline.runtime.storage.tables import Injection
from hookline.runtime.thread import StoredThread

Message = dict[str, Any]

CONTINUE_PROMPT: Final = "Please continue."
_MAX_CACHED_CHARS: Final = 2_000  # of the text of calls
MISSING_RESULT: Final = "There is no result: the call was interrupted, or its result was not stored."


async def build_model_request(thread: StoredThread, messages: list[Message]) -> CompletionRequest:
    """The request of a turn after the history hooks."""
    session, injections = thread.session, await thread.injections()
    system = await _build_system_prompt(thread, injections)
    filtered = await session.decide(thread, "history.filter", {"messages": messages})
    kept = messages_after_hooks(thread, filtered, messages, "messages")
    sent = [
        *([{"role": "system", "content": system}] if system else []),
        *to_model_messages(kept, injections, _speaking_side(thread)),
    ]
    complete = await session.decide(thread, "history.request", {"request": {"messages": sent}})
    final = messages_after_hooks(thread, complete, sent, "request", "messages")
    return CompletionRequest(tuple(final), thread.toolbox.offered_tools(thread.tools))


async def _build_system_prompt(thread: StoredThread, injections: Sequence[Injection]) -> str:
    added = [injection.text for injection in injections if injection.anchor is None]
    parts = (thread.side.prompt.text, thread.session.runtime.skills.prompt_text(), *added)
    text = "\n\n".join(part for part in parts if part)
    rendered = await thread.session.decide(thread, "history.system", {"system": text})
    left = rendered.event.facts.get("system")
    return left if isinstance(left, str) else text


def messages_after_hooks(
    thread: StoredThread, decision: Decision, otherwise: list[Message], *place: str
) -> list[Message]:
    """The messages after hooks. If hooks left something else, warns and returns `otherwise`."""
    left: list[Message] = decision.event.read(place)
    if left is otherwise or (isinstance(left, list) and all(isinstance(message, dict) for message in left)):
        return left
    thread.session.emit_status(
        thread,
        f"hooks on {decision.event.name} did not leave a list of messages; the original messages are used",
        "warning",
    )
    return otherwise


def _speaking_side(thread: StoredThread) -> str | None:
    """None if the other side is a person."""
    return thread.progress.side if thread.agent.side_b is not None else None


def to_model_messages(
    messages: Sequence[Message], injections: Iterable[Injection], side: str | None = None
) -> list[Message]:
    """Messages as a model expects them: every tool call has its result, and notes of hooks are in their places."""
    injected: dict[str, list[Injection]] = {}
    sent: list[Message] = []
    for injection in injections:
        if injection.place == NotePlace.MESSAGE and injection.position == "start" and injection.anchor is not None:
            sent.append(_injected_message(injection))
        elif injection.anchor is not None:
            injected.setdefault(injection.anchor, []).append(injection)
    seen = messages if side is None else [_view_from_side(side, message) for message in messages]
    for group in _group_calls(seen):
        sent += _group_with_injections(group, injected) if injected else group
    if side is not None and sent and sent[-1].get("role") == "assistant":  # the other side ended its turn without text
        sent.append({"role": "user", "content": CONTINUE_PROMPT})
    return [_strip_message(message) for message in sent]


def calls_of(message: Message) -> list[Message]:
    """The calls of an assistant message; malformed calls are left out."""
    given = message.get("tool_calls")
    if given is None:
        return []
    if isinstance(given, str):
        return list(_parse_calls(given) if len(given) <= _MAX_CACHED_CHARS else _parse_calls.__wrapped__(given))
    return [call for call in given if _is_call(call)] if isinstance(given, list) else []


@lru_cache(maxsize=1024)
def _parse_calls(text: str) -> tuple[Message, ...]:
    """Every request has the calls of all earlier turns. Nobody modifies a message, so they can share them."""
    try:
        listed = json.loads(text)
    except ValueError:
        return ()
    return tuple(call for call in listed if _is_call(call)) if isinstance(listed, list) else ()


def _is_call(value: Any) -> bool:
    function = value.get("function") if isinstance(value, dict) else None
    if not isinstance(function, dict) or not isinstance(value.get("id"), str):
        return False
    return isinstance(function.get("name"), str) and isinstance(function.get("arguments", ""), str)


def format_calls(calls: Iterable[RequestedCall]) -> str:
    """The inverse of `calls_of`."""
    listed = [
        {"id": requested.id, "type": "function", "function": {"name": requested.name, "arguments": requested.arguments}}
        for requested in calls
    ]
    return json.dumps(listed, ensure_ascii=False)


def _view_from_side(side: str, message: Message) -> Message:
    """Each of two AIs sees the other one as the user, without its tool calls."""
    if message.get("role") != "assistant" or message.get("side", "a") == side:
        return message
    return {**message, "role": "user", "tool_calls": None}


def _group_calls(messages: Sequence[Message]) -> Iterator[list[Message]]:
    """Each message alone, but an assistant message together with the results of its calls.

    Drops results without a call, and adds a placeholder result to calls without one.
    """
    results = {str(m.get("tool_call_id")): m for m in messages if m.get("role") == "tool"}
    for message in messages:
        role = message.get("role")
        if role == "tool":
            continue
        calls = calls_of(message) if role == "assistant" else ()
        if calls:
            yield [message, *(results.get(call["id"]) or _missing_result(call["id"]) for call in calls)]
        elif message.get("content") is not None or role == "system":
            yield [message]


def _missing_result(call: str) -> Message:
    return {"role": "tool", "tool_call_id": call, "content": MISSING_RESULT}


def _group_with_injections(group: list[Message], injected: dict[str, list[Injection]]) -> list[Message]:
    """Nothing stands between a call and its result: what belongs there comes before or after the whole group."""
    if injected.keys().isdisjoint([message.get("id") for message in group]):
        return group
    parts = [_with_injections(message, injected.get(message.get("id", ""), [])) for message in group]
    before, messages, after = ([each for part in parts for each in part[at]] for at in range(3))
    return [*before, *messages, *after]


def _with_injections(
    message: Message, injections: list[Injection]
) -> tuple[list[Message], list[Message], list[Message]]:
    """What comes before the message, the message itself, and what comes after it."""
    before = [_injected_message(i) for i in injections if i.place == NotePlace.MESSAGE and i.position == "before_last"]
    after = [_injected_message(i) for i in injections if i.place == NotePlace.MESSAGE and i.position != "before_last"]
    texts = [i.text for i in injections if i.place != NotePlace.MESSAGE]
    if not texts:
        return before, [message], after
    if message.get("role") in ("user", "tool"):
        said = "\n\n".join([*filter(None, [message.get("content")]), *texts])
        return before, [{**message, "content": said}], after
    return before, [message], [{"role": "user", "content": "\n\n".join(texts)}, *after]


def _injected_message(injection: Injection) -> Message:
    return {"role": injection.role, "content": injection.text}


def _strip_message(message: Message) -> Message:
    """Every message of the history comes here in every turn."""
    get = message.get
    plain = {"role": get("role", "user"), "content": get("content")}
    if get("tool_calls") is not None and (calls := calls_of(message)):
        plain["tool_calls"] = calls
    if (call := get("tool_call_id")) is not None:
        plain["tool_call_id"] = call
    if (name := get("name")) is not None:
        plain["name"] = name
    return plain
