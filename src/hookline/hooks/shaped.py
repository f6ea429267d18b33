"""A placeholder's value in another shape: `{{result | json}}`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from hookline.hooks.event import MISSING, Event, Path
from hookline.hooks.json_text import json_text
from hookline.hooks.placeholder import Reader


@dataclass(frozen=True, slots=True)
class Shaped:
    reader: Reader
    shape: str  # a key of SHAPES

    @property
    def paths(self) -> tuple[Path, ...]:
        return self.reader.paths

    def __call__(self, event: Event) -> Any:
        return SHAPES[self.shape](self.reader(event))


@dataclass(frozen=True, slots=True)
class Otherwise:
    """The value, or this where it is absent."""

    reader: Reader
    instead: Any

    @property
    def paths(self) -> tuple[Path, ...]:
        return self.reader.paths

    def __call__(self, event: Event) -> Any:
        value = self.reader(event)
        return self.instead if value is MISSING else value


def _json(value: Any) -> Any:
    """Its JSON, also where it is text; what is absent stays so."""
    if value is MISSING:
        return MISSING
    return json_text(value, default=str)


def _text(value: Any) -> Any:
    """Absent unless it is text."""
    return value if isinstance(value, str) else MISSING


def _message(value: Any) -> Any:
    """A tool's answer that is only text, as an object; any other as it is."""
    return {"success": True, "message": value} if isinstance(value, str) else value


def _utc(value: Any) -> Any:
    """A moment as `2025-12-31T10:30:00Z`; the present one where it is absent or no moment."""
    return _moment(value).isoformat(timespec="seconds").replace("+00:00", "Z")


def _count(value: Any) -> Any:
    """How many there are, where it is a list or a mapping; a number is itself."""
    if isinstance(value, (list, dict)):
        return len(value)
    return value if isinstance(value, (int, float)) else MISSING


def _or_empty(value: Any) -> Any:
    """Empty text where it is absent."""
    return "" if value is MISSING else value


def _answer(value: Any) -> Any:
    """A tool as what it answered: `{content, is_error}`, of which `is_error` is there only after a failure."""
    if not isinstance(value, dict):
        return MISSING
    error = value.get("error")
    if value.get("ok") is False or (error and value.get("ok") is not True):
        return {"content": error or value.get("result"), "is_error": True}
    return {"content": value.get("result")}


def _content(value: Any) -> Any:
    """What a tool answered, or the error that it ended with."""
    answer = _answer(value)
    return answer["content"] if isinstance(answer, dict) else MISSING


def _moment(value: Any) -> datetime:
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found.astimezone(UTC) if found.tzinfo is not None else found.replace(tzinfo=UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return datetime.now(UTC)


def shaped(reader: Reader, shape: str) -> Shaped | Otherwise | None:
    """A key of SHAPES, or `or` and what stands for an absent value: JSON, else text. None if it is neither."""
    word, _, instead = shape.partition(" ")
    if word == "or" and instead.strip():
        return Otherwise(reader, _value(instead.strip()))
    return Shaped(reader, shape) if shape in SHAPES else None


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


SHAPES: Final[Mapping[str, Callable[[Any], Any]]] = {
    "json": _json,
    "text": _text,
    "message": _message,
    "utc": _utc,
    "count": _count,
    "or_empty": _or_empty,
    "answer": _answer,
    "content": _content,
}
