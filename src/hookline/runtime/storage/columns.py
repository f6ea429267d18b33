"""Column types that store any text and any JSON value without loss.

PostgreSQL text cannot contain NUL, and neither database can store a lone surrogate, but agents write both. Such text is
stored escaped, after a mark. The escaped form is unique, so it also works as a key.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Final

from sqlalchemy import Column, ColumnElement, Dialect, Text, type_coerce
from sqlalchemy.types import TypeDecorator

from hookline.errors import HooklineError

MAX_JSON_DEPTH: Final = 500
"""Maximum nesting. Parsing is recursive, and Python stops at a thousand calls."""

MAX_KEY_BYTES: Final = 1000
"""PostgreSQL rejects index entries of more than 2,704 bytes, and an entry has up to two keys."""

_MAX_JSON_SIZE: Final = 200_000_000
_ITEM_SIZE: Final = 100
_ESCAPE_MARK: Final = "\x01"


class AnyText(TypeDecorator[str]):
    impl = Text
    cache_ok = True

    def encode(self, value: str) -> str:
        return escape_text(value)

    def process_bind_param(self, value: str | None, dialect: Dialect) -> str | None:
        return None if value is None else self.encode(value)

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else unescape_text(value)


class KeyText(AnyText):
    """Text used as a key: an id, a path, a name."""

    cache_ok = True

    def encode(self, value: str) -> str:
        stored = escape_text(value)
        if len(stored) * 4 > MAX_KEY_BYTES and len(stored.encode()) > MAX_KEY_BYTES:
            raise HooklineError(
                f"{_shorten_text(stored)!r} is too long for an id, a path or a key: {MAX_KEY_BYTES} bytes at most"
            )
        return stored


class JsonText(AnyText):
    """Takes JSON from `encode_json` and returns the value. The caller encodes it, because the value may change later."""

    cache_ok = True

    def process_result_value(self, value: str | None, dialect: Dialect) -> Any:
        return None if value is None else decode_json(value)


def escape_text(text: str) -> str:
    if text.isascii() and "\0" not in text and not text.startswith(_ESCAPE_MARK):  # nearly all
        return text
    return text if _is_plain(text) else _ESCAPE_MARK + text.encode("unicode_escape").decode("ascii")


def unescape_text(stored: str) -> str:
    if not stored.startswith(_ESCAPE_MARK):
        return stored
    return stored.removeprefix(_ESCAPE_MARK).encode("ascii").decode("unicode_escape")


def encode_json(value: Any) -> str:
    """Raises HooklineError if the value cannot be stored as JSON without loss."""
    _check_storable(value)
    try:
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError) as failed:
        raise HooklineError(f"cannot be stored as JSON: {failed}") from failed


def decode_json(stored: str) -> Any:
    """The inverse of `encode_json`, for a value that is read as stored."""
    return json.loads(unescape_text(stored))


def copy_json(value: Any) -> Any:
    """The value as it will be read back. Raises the same errors as `encode_json`."""
    return json.loads(encode_json(value))


def raw_column(column: Column[Any]) -> ColumnElement[Any]:
    """The column as stored, not decoded."""
    return type_coerce(column, Text) if isinstance(column.type, AnyText) else column


def _is_plain(text: str) -> bool:
    if "\0" in text or text.startswith(_ESCAPE_MARK):
        return False
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_storable(value: Any) -> None:
    """Rejects values that json.dumps would change or never finish, and values that could not be read back."""
    level, remaining = [value], _MAX_JSON_SIZE
    for _ in range(MAX_JSON_DEPTH):
        deeper: list[Any] = []
        for item in level:
            remaining -= _estimate_size(item)
            if remaining < 0:
                raise HooklineError("cannot be stored as JSON: it is too large, or contains itself")
            deeper += _child_values(item)
        if not deeper:
            return
        level = deeper
    raise HooklineError(f"cannot be stored as JSON: nested more than {MAX_JSON_DEPTH} levels deep, or contains itself")


def _estimate_size(value: Any) -> int:
    """Approximate memory of the value, without its contents."""
    if isinstance(value, str):
        return len(value)
    return _ITEM_SIZE * len(value) if isinstance(value, (dict, list, tuple)) else 0


def _child_values(value: Any) -> Iterable[Any]:
    if isinstance(value, (list, tuple)):
        return value
    if not isinstance(value, dict):
        return ()
    if not all(isinstance(key, str) for key in value):
        raise HooklineError("cannot be stored as JSON: a key is not text")
    return value.values()


def _shorten_text(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:40]}…"
