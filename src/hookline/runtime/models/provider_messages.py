"""Messages and tool names in the form that providers accept.

User and assistant alternate, and every tool call is followed by its result. Hooks, crashes and compaction can break
both. Tool names have letters, digits, `_` and `-`, at most 64 characters, and are unique.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from string import ascii_letters, digits
from typing import Any, Final, TypeAlias

from hookline.errors import HooklineError
from hookline.lazy_dataclasses import dataclass

MAX_NAME_LENGTH: Final = 64
_NAME_CHARACTERS: Final = frozenset(ascii_letters + digits + "_-")
_FIRST_CHARACTERS: Final = frozenset(ascii_letters + "_")


class ToolNameMap:
    """Maps tool names to the names in a request, and back."""

    def __init__(self, names: Iterable[str]) -> None:
        self._offered_by_name = offered_names(sorted(set(names)))
        self._name_by_offered = {offered: name for name, offered in self._offered_by_name.items()}

    def to_model(self, name: str) -> str:
        return self._offered_by_name[name]

    def from_model(self, offered: str) -> str:
        """Unknown names stay unchanged."""
        return self._name_by_offered.get(offered, offered)


def offered_names(own: Iterable[str]) -> dict[str, str]:
    """Own name → offered name. Valid names stay unchanged; other names become valid and unique."""
    names = tuple(own)
    taken = {name for name in names if _sanitize_name(name) == name}
    offered = {name: name for name in taken}
    for name in names:
        if name not in taken:
            plain = _sanitize_name(name)
            offered[name] = plain if plain not in taken else _add_hash(plain, name)
            taken.add(offered[name])
    return {name: offered[name] for name in names}


def _sanitize_name(name: str) -> str:
    safe = "".join(char if char in _NAME_CHARACTERS else "_" for char in name.replace(".", "__"))
    if safe[:1] not in _FIRST_CHARACTERS:
        safe = f"_{safe}"
    return safe if len(safe) <= MAX_NAME_LENGTH else _add_hash(safe, name)


def _add_hash(safe: str, name: str) -> str:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{safe[: MAX_NAME_LENGTH - len(digest) - 1]}_{digest}"


INTERRUPTED_RESULT: Final = "The call was interrupted; it has no result."
FILLER_PROMPT: Final = "Go on."


@dataclass(frozen=True, slots=True)
class SystemPart:
    text: str


@dataclass(frozen=True, slots=True)
class UserPart:
    text: str


@dataclass(frozen=True, slots=True)
class CallPart:
    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ResultPart:
    call: CallPart
    text: str


@dataclass(frozen=True, slots=True)
class RequestMessage:
    parts: tuple[SystemPart | UserPart | ResultPart, ...]


@dataclass(frozen=True, slots=True)
class ResponseMessage:
    text: str
    calls: tuple[CallPart, ...] = ()


Conversation: TypeAlias = tuple[RequestMessage | ResponseMessage, ...]


def build_conversation(messages: Sequence[dict[str, Any]]) -> Conversation:
    """Starts with a RequestMessage; then both kinds alternate. Drops results without a call, adds missing results."""
    parts: list[SystemPart | UserPart | ResultPart] = []
    turns: list[RequestMessage | ResponseMessage] = []
    for answer, rest in _split_at_answers(messages):
        if answer is not None and (answer.text or answer.calls):
            _append_request(turns, parts)
            _append_response(turns, answer)
            parts = []
        parts += _request_parts(answer.calls if answer else (), rest)
    if parts or not turns:
        _append_request(turns, parts)
    return tuple(turns)


def _split_at_answers(
    messages: Iterable[dict[str, Any]],
) -> Iterator[tuple[ResponseMessage | None, list[dict[str, Any]]]]:
    """Each answer with the messages up to the next one."""
    answer: ResponseMessage | None = None
    rest: list[dict[str, Any]] = []
    for message in messages:
        if message.get("role") == "assistant":
            yield answer, rest
            answer, rest = ResponseMessage(_content_text(message), tuple(_parse_calls(message))), []
        else:
            rest.append(message)
    yield answer, rest


def _append_request(
    turns: list[RequestMessage | ResponseMessage], parts: list[SystemPart | UserPart | ResultPart]
) -> None:
    if not turns and not any(isinstance(part, UserPart) for part in parts):
        parts = [*parts, UserPart(FILLER_PROMPT)]
    if parts:
        turns.append(RequestMessage(tuple(parts)))


def _append_response(turns: list[RequestMessage | ResponseMessage], answer: ResponseMessage) -> None:
    last = turns[-1]
    if isinstance(last, ResponseMessage):
        turns[-1] = ResponseMessage("\n\n".join(filter(None, (last.text, answer.text))), (*last.calls, *answer.calls))
    else:
        turns.append(answer)


def _request_parts(
    calls: Sequence[CallPart], rest: Iterable[dict[str, Any]]
) -> list[SystemPart | UserPart | ResultPart]:
    results: dict[str, str] = {}
    others: list[SystemPart | UserPart | ResultPart] = []
    for message in rest:
        text, role = _content_text(message), message.get("role")
        if role == "tool":
            results[str(message.get("tool_call_id"))] = text
        elif text:
            others.append(SystemPart(text) if role == "system" else UserPart(text))
    return [*(ResultPart(call, results.get(call.id, INTERRUPTED_RESULT)) for call in calls), *others]


def _content_text(message: dict[str, Any]) -> str:
    content = message.get("content")
    if content is None or isinstance(content, str):
        return content or ""
    return json.dumps(content, ensure_ascii=False, default=str)


def _parse_calls(message: dict[str, Any]) -> Iterator[CallPart]:
    calls = message.get("tool_calls") or ()
    try:
        for call in json.loads(calls) if isinstance(calls, str) else calls:
            function = call["function"]
            yield CallPart(str(call["id"]), str(function["name"]), str(function.get("arguments") or "{}"))
    except (ValueError, TypeError, KeyError, AttributeError):
        raise HooklineError("tool_calls of a message is not a list of calls") from None
