"""Any value as compact JSON, however deep it is.

What an agent gives a tool must not keep a guard from being told of it, so neither nesting nor numbers that JSON does
not have make this fail.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final


class _Raw(str):
    """A piece of the text that is written as it stands."""


class _Left(int):
    """The id of a list or mapping whose end is reached."""


_COMMA: Final = _Raw(",")


def json_text(value: Any, default: Callable[[Any], Any] | None = None) -> str:
    """Characters as themselves; `default` as of json.dumps.

    NaN, infinity, a number of thousands of digits and a value inside of itself are null.
    """
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=default)
    except (RecursionError, ValueError):
        return "".join(_pieces(value, default))


def _pieces(value: Any, default: Callable[[Any], Any] | None) -> Iterator[str]:
    todo: list[Any] = [value]
    inside: set[int] = set()
    while todo:
        part = todo.pop()
        if isinstance(part, _Raw):
            yield part
        elif isinstance(part, _Left):
            inside.discard(part)
        elif isinstance(part, (dict, list, tuple)):
            if id(part) in inside:
                yield "null"
                continue
            inside.add(id(part))
            todo.append(_Left(id(part)))
            todo += reversed(_members(part) if isinstance(part, dict) else _elements(part))
        else:
            yield _scalar(part, default)


def _scalar(value: Any, default: Callable[[Any], Any] | None) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False, default=default)
    except ValueError:  # not finite, or longer than Python writes a number
        return "null"


def _members(value: dict[Any, Any]) -> list[Any]:
    parts: list[Any] = []
    for key, held in value.items():
        parts += [_COMMA, _Raw(json.dumps(str(key), ensure_ascii=False) + ":"), held]
    return [_Raw("{"), *parts[1:], _Raw("}")]


def _elements(value: list[Any] | tuple[Any, ...]) -> list[Any]:
    parts = [part for held in value for part in (_COMMA, held)]
    return [_Raw("["), *parts[1:], _Raw("]")]
