"""Any value as compact JSON, at any nesting depth.

It never fails on deep nesting or on numbers that JSON does not have: otherwise an agent could keep a guard from seeing
a tool's input.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, Final

from hookline.hooks.match_deadline import NO_DEADLINE, pop_in_time
from hookline.lazy_imports import json


class _RawText(str):
    """A piece of text that is written unchanged."""


class _ContainerEnd(int):
    """The id of a list or mapping that ends here."""


_COMMA: Final = _RawText(",")
_BYTES: Final = (bytes, bytearray, memoryview)
NOT_JSON: Final = (*_BYTES, os.PathLike, Enum, set, frozenset)
"""What Python code may put into an event although JSON does not have it."""


def to_json_value(value: Any) -> Any:
    """What JSON has in the place of bytes, a path, an enum member or a set. Raises TypeError for anything else."""
    if isinstance(value, _BYTES):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, (set, frozenset)):
        return list(value)
    raise TypeError(type(value).__name__)


def json_text(value: Any, default: Callable[[Any], Any] | None = None, deadline: float = NO_DEADLINE) -> str:
    """Non-ASCII characters are not escaped; `default` is that of json.dumps.

    NaN, infinity, a number with thousands of digits and a value inside itself become null. Raises UndecidedError if the
    deadline passes while it writes a deeply nested value.
    """
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=default)
    except (RecursionError, ValueError):
        return "".join(_encode_pieces(value, default, deadline))


def _encode_pieces(value: Any, default: Callable[[Any], Any] | None, deadline: float) -> Iterator[str]:
    todo: list[Any] = [value]
    inside: set[int] = set()
    for part in pop_in_time(todo, deadline):
        if isinstance(part, _RawText):
            yield part
        elif isinstance(part, _ContainerEnd):
            inside.discard(part)
        elif isinstance(part, (dict, list, tuple)):
            if id(part) in inside:
                yield "null"
                continue
            inside.add(id(part))
            todo.append(_ContainerEnd(id(part)))
            todo += reversed(_object_parts(part) if isinstance(part, dict) else _array_parts(part))
        else:
            yield _encode_scalar(part, default)


def _encode_scalar(value: Any, default: Callable[[Any], Any] | None) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=default)
    except ValueError:  # not finite, or longer than Python writes a number
        return "null"


def _object_parts(value: dict[Any, Any]) -> list[Any]:
    parts: list[Any] = []
    for key, held in value.items():
        parts += [_COMMA, _RawText(json.dumps(str(key), ensure_ascii=False) + ":"), held]
    return [_RawText("{"), *parts[1:], _RawText("}")]


def _array_parts(value: list[Any] | tuple[Any, ...]) -> list[Any]:
    parts = [part for held in value for part in (_COMMA, held)]
    return [_RawText("["), *parts[1:], _RawText("]")]
