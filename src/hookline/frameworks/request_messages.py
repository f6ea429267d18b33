"""A framework's messages as plain data for hooks, and what hooks left of them as the framework's messages again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from hookline.lazy_dataclasses import dataclass

M = TypeVar("M")
PlainMessage = dict[str, Any]


class UnusableMessages(ValueError):
    """Hooks left messages that this framework cannot send. The message says which."""


@dataclass(frozen=True, slots=True)
class MessageFormat(Generic[M]):
    read: Callable[[M], PlainMessage]  # `role`, `content`, and `tool_calls`, `tool_call_id` or `name` where it has them
    with_text: Callable[[M, str], M]
    create: Callable[[str, str], M]  # from a role and a text


def messages_after_hooks(
    originals: Sequence[M], plain: Sequence[PlainMessage], left: Any, form: MessageFormat[M]
) -> list[M]:
    """The framework's messages after hooks changed texts, removed messages or added some. Raises UnusableMessages."""
    if not isinstance(left, list) or not all(isinstance(each, dict) for each in left):
        raise UnusableMessages("hooks did not leave a list of messages")
    sources = _sources(plain, left)
    calls = {id for each in left for id in _call_ids(each)}
    kept: list[M] = []
    for message, source in zip(left, sources, strict=True):
        if message.get("role") == "tool" and message.get("tool_call_id") not in calls:
            continue  # its call was removed
        kept.append(_write(originals, plain, message, source, form))
    _refuse_missing_results(plain, left)
    return kept


def _sources(plain: Sequence[PlainMessage], left: list[PlainMessage]) -> list[int | None]:
    """For each message that hooks left, the index of the one it was."""
    if len(plain) == len(left):
        return list(range(len(left)))
    sources: list[int | None] = []
    start = 0
    for message in left:
        found = next((at for at in range(start, len(plain)) if _is_same(plain[at], message)), None)
        sources.append(found)
        start = start if found is None else found + 1
    return sources


def _is_same(one: PlainMessage, other: PlainMessage) -> bool:
    if "id" in one and "id" in other:
        return bool(one["id"] == other["id"])
    return one == other


def _write(
    originals: Sequence[M],
    plain: Sequence[PlainMessage],
    message: PlainMessage,
    source: int | None,
    form: MessageFormat[M],
) -> M:
    text = message.get("content")
    if source is not None:
        if message == plain[source]:
            return originals[source]
        if {**message, "content": None} == {**plain[source], "content": None} and isinstance(text, str):
            return form.with_text(originals[source], text)
    if (
        message.get("role") in ("user", "system", "assistant")
        and isinstance(text, str)
        and not message.get("tool_calls")
    ):
        return form.create(message["role"], text)
    raise UnusableMessages("hooks changed more of a message than its text")


def _call_ids(message: PlainMessage) -> list[str]:
    calls = message.get("tool_calls")
    return [call["id"] for call in calls if isinstance(call, dict) and "id" in call] if isinstance(calls, list) else []


def _refuse_missing_results(plain: Sequence[PlainMessage], left: list[PlainMessage]) -> None:
    """No model accepts a call without its result."""
    had = {each.get("tool_call_id") for each in plain}
    has = {each.get("tool_call_id") for each in left}
    for message in left:
        if any(id in had and id not in has for id in _call_ids(message)):
            raise UnusableMessages("hooks removed the result of a tool call but not the call")
