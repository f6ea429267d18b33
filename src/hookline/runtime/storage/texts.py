"""Any text and any JSON value in a column, and back unchanged.

PostgreSQL's text holds no NUL and neither database a lone surrogate, and agents write both: such a text is stored
escaped, behind a mark. It is equal to itself in that form, so it works as a key too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Dialect, Text, type_coerce
from sqlalchemy.types import TypeDecorator

from hookline.errors import HooklineError

DEEPEST: Final = 500
"""Levels of lists and mappings. Reading is recursive, and Python stops at a thousand calls."""

LONGEST_KEY: Final = 1000
"""Bytes. PostgreSQL refuses an index entry of more than 2,704, and entries have up to two keys."""

_LARGEST: Final = 200_000_000
_WEIGHT: Final = 100
_ESCAPED: Final = "\x01"


class AnyText(TypeDecorator[str]):
    impl = Text
    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else written(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else read(value)


class Key(AnyText):
    """Text that is looked up: an id, a path, a name."""

    cache_ok = True

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        stored = super().process_bind_param(value, dialect)
        if stored is not None and len(stored.encode()) > LONGEST_KEY:
            raise HooklineError(f"{_cut(stored)!r} is too long for an id, a path or a key: {LONGEST_KEY} bytes at most")
        return stored


class Json(AnyText):
    """Written as `encoded` made it, in the caller's own thread, for the value may change afterwards; read as the value."""

    cache_ok = True

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else json.loads(read(value))


def written(text: str) -> str:
    return text if _is_plain(text) else _ESCAPED + text.encode("unicode_escape").decode("ascii")


def read(stored: str) -> str:
    if not stored.startswith(_ESCAPED):
        return stored
    return stored.removeprefix(_ESCAPED).encode("ascii").decode("unicode_escape")


def encoded(value: Any) -> str:
    """JSON that gives back what went in; a value for which there is none raises HooklineError."""
    _check(value)
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as failed:
        raise HooklineError(f"cannot be stored as JSON: {failed}") from failed


def copied(value: Any) -> Any:
    """As it will be read again; raises as `encoded` does."""
    return json.loads(encoded(value))


def as_stored(column: Column[Any]) -> ColumnElement[Any]:
    """A column that comes without `read`."""
    return type_coerce(column, Text) if isinstance(column.type, AnyText) else column


def _is_plain(text: str) -> bool:
    if "\0" in text or text.startswith(_ESCAPED):
        return False
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check(value: Any) -> None:
    """What json.dumps would write, but differently or without end, and what it could not read again."""
    level, left = [value], _LARGEST
    for _ in range(DEEPEST):
        deeper: list[Any] = []
        for held in level:
            left -= _weight(held)
            if left < 0:
                raise HooklineError("cannot be stored as JSON: it is too large, or inside of itself")
            deeper += _parts(held)
        if not deeper:
            return
        level = deeper
    raise HooklineError(f"cannot be stored as JSON: nested more than {DEEPEST} levels deep, or inside of itself")


def _weight(held: Any) -> int:
    """Roughly what it takes in memory, without what is inside."""
    if isinstance(held, str):
        return len(held)
    return _WEIGHT * len(held) if isinstance(held, (dict, list, tuple)) else 0


def _parts(held: Any) -> Iterable[Any]:
    if isinstance(held, (list, tuple)):
        return held
    if not isinstance(held, dict):
        return ()
    if not all(isinstance(key, str) for key in held):
        raise HooklineError("cannot be stored as JSON: a key is not text")
    return held.values()


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}…"
