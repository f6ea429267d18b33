"""Whether what a hook returned is what its type says; a copy of it, so that nobody holds a part of the event."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from hookline.hooks.actions.python import Malformed
from hookline.hooks.event import same

_DEEPEST: Final = 100
_MOST: Final = 1_000_000  # values
_WORDS: Final = {str: "text", float: "a number", int: "a whole number", NoneType: "None", bool: "true or false"}


def plain(value: Any, place: str) -> Any:
    """A copy of plain data: what JSON can say. Raises Malformed for anything else."""
    return _copied(value, place, 0, [_MOST])


def _copied(value: Any, place: str, depth: int, left: list[int]) -> Any:
    """`left` counts: a value that holds itself twice would never end otherwise."""
    left[0] -= 1
    if depth > _DEEPEST or left[0] < 0:
        raise Malformed("returned more than fits in an event: nested too deep, or too many values")
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise Malformed(f"returned {place} with a key that is not text")
        return {str.__str__(key): _copied(held, f"{place}.{key[:40]}", depth + 1, left) for key, held in value.items()}
    if isinstance(value, (list, tuple)):
        return [_copied(held, f"{place}[{at}]", depth + 1, left) for at, held in enumerate(value)]
    return _scalar(value, place)


def _scalar(value: Any, place: str) -> Any:
    """Of a kind of text or number, such as an enum's, the text or number itself."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float) and math.isfinite(value):
        return float.__float__(value)
    raise Malformed(f"returned {place} as {_word(value)}, which is not plain data")


def record(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Malformed(f"returned {place} as {_word(value)}, not as a mapping")
    copied: dict[str, Any] = plain(value, place)
    return copied


def messages(value: Any, kind: type, given: Sequence[Any]) -> list[dict[str, Any]]:
    """Each is of the kind, or exactly as it was given.

    A host may store more in a message than the kind has, and less: what was given may be returned, and what was not
    given cannot be asked for.
    """
    if not isinstance(value, list):
        raise Malformed(f"returned {_word(value)}, not a list of messages")
    had = [each for each in given if isinstance(each, dict)]
    more = frozenset(str(key) for each in had for key in each)
    lacking = frozenset(key for key in _required(kind) if any(key not in each for each in had))
    return [_message(each, f"messages[{at}]", kind, (more, lacking, given)) for at, each in enumerate(value)]


def _message(
    value: Any, place: str, kind: type, known: tuple[frozenset[str], frozenset[str], Sequence[Any]]
) -> dict[str, Any]:
    more, lacking, given = known
    copied = record(value, place)
    try:
        return mapping(copied, kind, place, more, lacking)
    except Malformed:
        if any(same(copied, each) for each in given):
            return copied
        raise


def mapping(
    value: dict[str, Any], kind: type, place: str, more: frozenset[str], lacking: frozenset[str] = frozenset()
) -> dict[str, Any]:
    hints, plainly = _hints(kind), _plainly(kind)
    missing = [key for key in _required(kind) - lacking if key not in value]
    if missing:
        raise Malformed(f"returned {place} without {min(missing)}")
    unknown = [key for key in value if key not in hints and key not in more]
    if unknown:
        raise Malformed(f"returned {place} with the unknown key {unknown[0][:40]!r}")
    for key, held in value.items():
        if key in hints and type(held) not in plainly[key] and not _fits(held, hints[key]):
            raise Malformed(f"returned {place}.{key} as {_word(held)}, not as {_said(hints[key])}")
    return value


def attachments(value: Any, place: str) -> None:
    """A list of files with data, or of references with a path."""
    if not isinstance(value, list):
        raise Malformed(f"returned {place} as {_word(value)}, not as a list")
    for at, each in enumerate(value):
        texts = each if isinstance(each, dict) else {}
        if not isinstance(texts.get("data"), str) and not isinstance(texts.get("path"), str):
            raise Malformed(f"returned {place}[{at}] with neither data nor the path of a file")


def _fits(value: Any, hint: Any) -> bool:
    if hint is Any:
        return True
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, each) for each in get_args(hint))
    if origin is Literal:
        return isinstance(value, str) and value in get_args(hint)
    if origin is list:
        return isinstance(value, list)
    if hint is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, hint) and (hint is bool or not isinstance(value, bool))


@lru_cache(maxsize=16)
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


@lru_cache(maxsize=16)
def _plainly(kind: type) -> dict[str, frozenset[type]]:
    """Of each key the types that surely fit: histories are long, and are checked in every turn."""
    return {key: frozenset(each for each in _either(hint) if each in _WORDS) for key, hint in _hints(kind).items()}


def _either(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def _required(kind: type) -> frozenset[str]:
    found: frozenset[str] = getattr(kind, "__required_keys__", frozenset())
    return found


def _said(hint: Any) -> str:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return " or ".join(_said(each) for each in get_args(hint))
    if origin is Literal:
        return " or ".join(get_args(hint))
    return _WORDS.get(hint, "a list" if origin is list else str(hint))


def _word(value: Any) -> str:
    if isinstance(value, (dict, list)):
        return "a mapping" if isinstance(value, dict) else "a list"
    return _WORDS.get(type(value), f"a {type(value).__name__}")
