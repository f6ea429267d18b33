"""Placeholders that name facts, in a vocabulary's words for tools and their fields.

A placeholder's value in another shape: `{{result | json}}`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from hookline.hooks.event import MISSING, Event, FactPath, parse_path
from hookline.hooks.json_text import json_text
from hookline.hooks.session_facts import format_utc
from hookline.hooks.templates import OPEN_BRACES, Placeholder
from hookline.hooks.tool_input import field_value, to_vocabulary
from hookline.hooks.tools import NATIVE, Vocabulary, tool_name_in


@dataclass(frozen=True, slots=True)
class Filtered:
    placeholder: Placeholder
    filter_name: str  # a key of SHAPES

    @property
    def paths(self) -> tuple[FactPath, ...]:
        return self.placeholder.paths

    def __call__(self, event: Event) -> Any:
        return FILTERS[self.filter_name](self.placeholder(event))


@dataclass(frozen=True, slots=True)
class WithDefault:
    """The value, or this where it is absent."""

    placeholder: Placeholder
    default: Any

    @property
    def paths(self) -> tuple[FactPath, ...]:
        return self.placeholder.paths

    def __call__(self, event: Event) -> Any:
        value = self.placeholder(event)
        return self.default if value is MISSING else value


def _to_json(value: Any) -> Any:
    """Its JSON, also where it is text; what is absent stays so."""
    if value is MISSING:
        return MISSING
    return json_text(value, default=str)


def _text_only(value: Any) -> Any:
    """Absent unless it is text."""
    return value if isinstance(value, str) else MISSING


def _as_message(value: Any) -> Any:
    """A tool's answer that is only text, as an object; any other as it is."""
    return {"success": True, "message": value} if isinstance(value, str) else value


def _to_utc(value: Any) -> Any:
    """A moment as `2025-12-31T10:30:00Z`; the present one where it is absent or no moment."""
    return format_utc(_parse_time(value))


def _count_items(value: Any) -> Any:
    """How many there are, where it is a list or a mapping; a number is itself."""
    if isinstance(value, (list, dict)):
        return len(value)
    return value if isinstance(value, (int, float)) else MISSING


def _or_empty(value: Any) -> Any:
    """Empty text where it is absent."""
    return "" if value is MISSING else value


def _tool_answer(value: Any) -> Any:
    """A tool as what it answered: `{content, is_error}`, of which `is_error` is there only after a failure."""
    if not isinstance(value, dict):
        return MISSING
    error = value.get("error")
    if value.get("ok") is False or (error and value.get("ok") is not True):
        return {"content": error or value.get("result"), "is_error": True}
    return {"content": value.get("result")}


def _tool_content(value: Any) -> Any:
    """What a tool answered, or the error that it ended with."""
    answer = _tool_answer(value)
    return answer["content"] if isinstance(answer, dict) else MISSING


def _parse_time(value: Any) -> datetime:
    try:
        if isinstance(value, str):
            found = datetime.fromisoformat(value)
            return found.astimezone(UTC) if found.tzinfo is not None else found.replace(tzinfo=UTC)
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            return datetime.fromtimestamp(value, UTC)
    except (ValueError, OverflowError, OSError):
        pass
    return datetime.now(UTC)


def parse_filter(reader: Placeholder, shape: str) -> Filtered | WithDefault | None:
    """A key of SHAPES, or `or` and what stands for an absent value: JSON, else text. None if it is neither."""
    word, _, instead = shape.partition(" ")
    if word == "or" and instead.strip():
        return WithDefault(reader, _parse_default(instead.strip()))
    return Filtered(reader, shape) if shape in FILTERS else None


def _parse_default(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


FILTERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "json": _to_json,
    "text": _text_only,
    "message": _as_message,
    "utc": _to_utc,
    "count": _count_items,
    "or_empty": _or_empty,
    "answer": _tool_answer,
    "content": _tool_content,
}


_SHORT_PATHS: Final[dict[str, FactPath]] = {
    "input": ("tool", "input"),
    "result": ("tool", "result"),
    "error": ("tool", "error"),
}
_ROOTS: Final = {
    "host", "session", "agent", "thread", "user", "execution", "cwd", "workspace", "time", "tool", "prompt", "stop",
    "turn", "context", "messages", "message", "metadata", "system", "request", "error", "approval", "subagent",
    "trigger",
}  # fmt: skip
FACT_ROOTS: Final = frozenset((*_SHORT_PATHS, *_ROOTS))
"""What the name of a fact begins with."""


def fact_path(name: str) -> FactPath | None:
    """`input.path` and `tool.input.path` are one place; None if no event has such a fact."""
    path = parse_path(name)
    if not path or not isinstance(path[0], str):
        return None
    if path[0] == "error" and path[1:2] in (("code",), ("message",)):
        return path
    if path[0] in _SHORT_PATHS:
        return (*_SHORT_PATHS[path[0]], *path[1:])
    return path if path[0] in _ROOTS else None


@dataclass(frozen=True, slots=True)
class FactPlaceholder:
    """A fact, with a tool's name and input as the vocabulary says them."""

    path: FactPath
    vocabulary: Vocabulary = NATIVE

    @property
    def paths(self) -> tuple[FactPath, ...]:
        return (self.path,)

    def __call__(self, event: Event) -> Any:
        if self.path == ("tool", "name"):
            return tool_name_in(event, self.vocabulary) or MISSING
        if self.path == ("tool", "input"):
            return to_vocabulary(event, self.vocabulary)
        if self.path[:2] == ("tool", "input"):
            return field_value(event, self.path[2:])
        return event.read(self.path)


@dataclass(frozen=True, slots=True)
class EventPlaceholder:
    """All facts and the event's name, as one object."""

    vocabulary: Vocabulary = NATIVE
    paths: tuple[FactPath, ...] = ((),)

    def __call__(self, event: Event) -> Any:
        facts = dict(event.facts)
        tool = facts.get("tool")
        if isinstance(tool, dict):
            said = {
                "name": tool_name_in(event, self.vocabulary) or MISSING,
                "input": to_vocabulary(event, self.vocabulary),
            }
            facts["tool"] = {**tool, **{key: value for key, value in said.items() if value is not MISSING}}
        return {"event": event.name} | {**facts, "event": event.name}


@dataclass(frozen=True, slots=True)
class ResultTextPlaceholder:
    """A tool's result as text: the text itself, or its JSON."""

    paths: tuple[FactPath, ...] = (("tool", "result"),)

    def __call__(self, event: Event) -> Any:
        value = event.read(("tool", "result"))
        if value is MISSING or isinstance(value, str):
            return value
        return json_text(value, default=str)


@dataclass(frozen=True, slots=True)
class OpenBracesPlaceholder:
    """Two braces as themselves: `{{open_braces}}.State}}` is the text `{{.State}}`, not a placeholder."""

    paths: tuple[FactPath, ...] = ()

    def __call__(self, event: Event) -> Any:
        return "{{"


@dataclass(frozen=True, slots=True)
class PlaceholderResolver:
    """Resolves placeholders to facts, and `fact | shape` to a fact in another shape."""

    vocabulary: Vocabulary = NATIVE

    def __call__(
        self, name: str
    ) -> (
        FactPlaceholder
        | EventPlaceholder
        | ResultTextPlaceholder
        | OpenBracesPlaceholder
        | Filtered
        | WithDefault
        | None
    ):
        fact, bar, shape = name.partition("|")
        if bar:
            reader = self(fact.strip())
            return None if reader is None else parse_filter(reader, shape.strip())
        if name == "event":
            return EventPlaceholder(self.vocabulary)
        if name == "result.text":
            return ResultTextPlaceholder()
        if name == OPEN_BRACES:
            return OpenBracesPlaceholder()
        path = fact_path(name)
        return None if path is None else FactPlaceholder(path, self.vocabulary)
