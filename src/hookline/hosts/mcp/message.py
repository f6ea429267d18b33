"""One line of JSON-RPC ↔ messages. What is not ours to judge is passed on as it came, byte for byte."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

CONNECTION_CLOSED: Final = -32000
PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
INVALID_PARAMS: Final = -32602
DEEPEST: Final = 100  # levels of nesting in what a hook is to judge


class Malformed(ValueError):
    """A line that is not a message."""


@dataclass(frozen=True, slots=True)
class Message:
    value: dict[str, Any]
    line: bytes | None = None  # as it came, without its end; None where it could be read in more than one way

    def wire(self) -> bytes:
        return self.line if self.line is not None else written(self.value)

    @property
    def method(self) -> str | None:
        method = self.value.get("method")
        return method if isinstance(method, str) else None

    @property
    def id(self) -> Any:
        return self.value.get("id")

    @property
    def key(self) -> str:
        """The id as a key: 1, "1", true and 1.0 are four ids."""
        return json.dumps(self.id)

    @property
    def is_request(self) -> bool:
        return "method" in self.value and self.id is not None

    @property
    def is_answer(self) -> bool:
        return "method" not in self.value and ("result" in self.value or "error" in self.value)

    @property
    def params(self) -> Mapping[str, Any]:
        return object_in(self.value, "params")

    @property
    def result(self) -> Mapping[str, Any]:
        return object_in(self.value, "result")


def object_in(held: Any, *names: str) -> Mapping[str, Any]:
    """The object at this place, or an empty one."""
    for name in names:
        held = held.get(name) if isinstance(held, Mapping) else None
    return held if isinstance(held, Mapping) else {}


def written(value: Any) -> bytes:
    """ASCII, so it is one line for every reader. Raises ValueError or TypeError for what JSON cannot say."""
    return json.dumps(value, separators=(",", ":")).encode()


def sayable(value: Any) -> bool:
    try:
        json.dumps(value, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def messages_in(line: bytes) -> tuple[Message, ...]:
    """The messages of one line: one, or those of a batch. Raises Malformed."""
    line = line.strip(b" \t\r\n")
    found = _Found()
    try:
        text = line.decode("utf-8")
        value = json.loads(text, object_pairs_hook=found.object)
    except RecursionError:
        raise Malformed("its values are nested too deep") from None
    except ValueError as error:  # not UTF-8, not JSON, or a number with too many digits
        raise Malformed(str(error).partition(";")[0]) from None
    if isinstance(value, dict):
        plain = not found.twice and len(text.splitlines()) == 1
        return (Message(value, line if plain else None),)
    if not isinstance(value, list) or not value or not all(isinstance(each, dict) for each in value):
        raise Malformed("a message is an object")
    return tuple(Message(each) for each in value)


class _Found:
    """Notes a name that stands twice in an object: readers differ on which of the two counts."""

    twice = False

    def object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        held = dict(pairs)
        self.twice = self.twice or len(held) != len(pairs)
        return held


def answer_to(id: Any, result: Mapping[str, Any]) -> Message:
    return Message({"jsonrpc": "2.0", "id": id, "result": dict(result)})


def error_to(id: Any, code: int, text: str) -> Message:
    return Message({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": text}})


def is_deep(value: Any, most: int = DEEPEST) -> bool:
    """True if objects and lists are nested more than `most` deep."""
    level = [value]
    for _ in range(most):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return False
    return True


def _inside(value: Any) -> list[Any]:
    held = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [each for each in held if isinstance(each, (dict, list))]
