"""Conditions on text and values: patterns, equality, existence, keywords in recent messages."""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from hookline.hooks.event import EVERY_ITEM, MISSING, Event, FactPath, deep_equal, path_text, read_all
from hookline.hooks.invisible_characters import without_invisible
from hookline.hooks.match_deadline import NO_DEADLINE, SLOW, in_time
from hookline.hooks.protocols import Need, Readings, Subject, TextPattern
from hookline.hooks.readings import WRONG_GUESS, compute_once, ends_in_guess, texts_of, unanimous, value_readings
from hookline.hooks.tool_input import ToolField, holds_for_values, value_at
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_module

if TYPE_CHECKING:
    from hookline.shell import command_readings
else:  # few conditions read shell text
    command_readings = lazy_module("hookline.shell.command_readings")


@dataclass(frozen=True, slots=True)
class RecentMessagesContain:
    """One of the last messages contains the keyword, in any case, as it is written or as it looks."""

    keyword: str
    last: int = 5

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        messages = event.facts.get("messages")
        if not isinstance(messages, list):
            return False
        wanted = self.keyword.casefold()
        texts = [_message_text(message).casefold() for message in messages[-self.last :]]
        return any(wanted in text or wanted in without_invisible(text) for text in texts)

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return (("messages",),)

    def __str__(self) -> str:
        return f"one of the last {self.last} messages contains {self.keyword!r}"

    def why_not(self, event: Event) -> str:
        return f"none of the last {self.last} messages contains {self.keyword!r}"


def _message_text(message: Any) -> str:
    content = message.get("content") if isinstance(message, dict) else message
    if isinstance(content, list):
        return "\n".join(_part_text(part) for part in content)
    return content if isinstance(content, str) else ""


def _part_text(part: Any) -> str:
    """The text of a part. The result of a tool is a part with parts of its own."""
    if isinstance(part, dict) and isinstance(part.get("content"), str | list):
        inner = part["content"]
        return inner if isinstance(inner, str) else "\n".join(filter(None, map(_own_text, inner)))
    return _own_text(part)


def _own_text(part: Any) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else ""


_CACHE_SIZE = 64
_MANY_TEXTS = 64  # a short text is searched without a look at the clock
_MAX_SHOWN_CHARS = 60  # characters of a fact in an explanation
_MAX_SHOWN_PATTERN = 120
_SHORT_REPR = reprlib.Repr()  # safe for large and deep facts


@dataclass(frozen=True, slots=True)
class Fact:
    """The text at a path. A list is read item by item, and an object by the texts in it and as JSON.

    A text with invisible characters is read with them and without.
    """

    path: FactPath
    is_cacheable = False

    def texts(self, event: Event, deadline: float = NO_DEADLINE) -> tuple[str, ...]:
        value = event.read(self.path)
        if type(value) is str and (value.isascii() or without_invisible(value) is value):
            return (value,)
        if value is MISSING and EVERY_ITEM not in self.path:
            return ()
        return texts_of(self.readings(event, deadline), event, self)

    def readings(self, event: Event, deadline: float = NO_DEADLINE) -> Readings:
        return compute_once(event, self, self._read, deadline)

    def _read(self, event: Event, deadline: float) -> Readings:
        values = in_time(read_all(event.facts, self.path), deadline)
        found = [texts for value in values for texts in value_readings(value, deadline=deadline)]
        visible = [tuple(map(without_invisible, texts)) for texts in in_time(found, deadline)]
        return tuple(dict.fromkeys((*found, *visible))) or ((),)

    def reads(self) -> tuple[FactPath, ...]:
        return (self.path,)

    def __str__(self) -> str:
        return path_text(self.path)


@dataclass(frozen=True, slots=True)
class ShellCommands:
    """The commands in a shell text, each a reading of its own."""

    subject: Subject
    is_cacheable = False

    def texts(self, event: Event, deadline: float = NO_DEADLINE) -> tuple[str, ...]:
        texts = self.subject.texts(event, deadline)
        if len(texts) == 1 and command_readings.is_one_plain_command(texts[0]):
            return texts
        return texts_of(self.readings(event, deadline), event, self)

    def readings(self, event: Event, deadline: float = NO_DEADLINE) -> Readings:
        return compute_once(event, self, self._read, deadline)

    def _read(self, event: Event, deadline: float) -> Readings:
        lines = self.subject.readings(event, deadline) or (self.subject.texts(event, deadline),)
        texts = in_time((text for texts in lines for text in texts), deadline, SLOW)
        found = (reading for text in texts for reading in command_readings.command_readings(text))
        readings = tuple(dict.fromkeys(found)) or ((),)
        return (*readings, WRONG_GUESS) if ends_in_guess(lines) else readings

    def reads(self) -> tuple[FactPath, ...]:
        return self.subject.reads()

    def __str__(self) -> str:
        return f"a command in {self.subject}"


def any_match(search: Callable[[str, float], bool], texts: Sequence[str], deadline: float) -> bool:
    for text in texts if len(texts) < _MANY_TEXTS else in_time(texts, deadline):  # noqa: SIM110 - a generator costs more
        if search(text, deadline):
            return True
    return False


@dataclass(frozen=True, slots=True)
class Matches:
    """One of the subject's texts matches."""

    subject: Subject
    pattern: TextPattern
    _cache: dict[tuple[str, ...], bool] | None = field(default=None, init=False, repr=False, compare=False)

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        texts = self.subject.texts(event, deadline)
        if not (self.match_cached if self.subject.is_cacheable else self._any_match)(texts, deadline):
            return False
        return type(texts) is tuple or self._matches_all_readings(event, deadline)

    @property
    def cached_matches(self) -> Mapping[tuple[str, ...], bool] | None:
        """The answers of `match_cached` so far; None if the subject's texts are too many to cache."""
        return self._answers() if self.subject.is_cacheable else None

    def _answers(self) -> dict[tuple[str, ...], bool]:
        known = self._cache
        if known is None:  # most conditions never need one
            known = {}
            object.__setattr__(self, "_cache", known)
        return known

    def _matches_all_readings(self, event: Event, deadline: float) -> bool:
        readings = self.subject.readings(event, deadline)
        answers = [self._any_match(texts, deadline) for texts in in_time(readings, deadline)]
        return unanimous(str(self.subject), answers, self.subject, event, doubts=ends_in_guess(readings))

    def match_cached(self, texts: tuple[str, ...], deadline: float) -> bool:
        answers = self._answers()
        known = answers.get(texts)
        if known is None:
            known = self._any_match(texts, deadline)
            if len(answers) >= _CACHE_SIZE:
                answers.clear()
            answers[texts] = known
        return known

    def _any_match(self, texts: tuple[str, ...], deadline: float) -> bool:
        return any_match(self.pattern.search, texts, deadline)

    def needs(self) -> tuple[Need, ...]:
        return (Need(self.subject, self.pattern),)

    def reads(self) -> tuple[FactPath, ...]:
        return self.subject.reads()

    def __str__(self) -> str:
        return f"{self.subject} matches {self.pattern.source}"

    def why_not(self, event: Event) -> str:
        texts = self.subject.texts(event)
        if not texts:
            return f"{self.subject} is absent or not text"
        source = self.pattern.source
        shown = source if len(source) <= _MAX_SHOWN_PATTERN else source[:_MAX_SHOWN_PATTERN] + "…"
        return f"{self.subject} {format_fact(texts[0])} does not match {shown}"


@dataclass(frozen=True, slots=True)
class Equals:
    """The fact at a path is exactly this value. `True` is not `1`, at any depth."""

    path: FactPath
    value: Any

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        if isinstance(self.value, str) and self.path[:2] == ("tool", "input"):
            field = ToolField(self.path[2:])
            if field.has_spellings:
                readings = field.readings(event, deadline)
                answers = [self.value in texts for texts in readings]
                return unanimous(str(field), answers, field, event, doubts=ends_in_guess(readings))
        return holds_for_values(event, self.path, lambda value: deep_equal(value, self.value), deadline)

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return (self.path,)

    def __str__(self) -> str:
        return f"{path_text(self.path)} is {format_fact(self.value)}"

    def why_not(self, event: Event) -> str:
        return f"{path_text(self.path)} is {format_fact(value_at(event, self.path))}, not {format_fact(self.value)}"


@dataclass(frozen=True, slots=True)
class Exists:
    path: FactPath

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        return holds_for_values(event, self.path, lambda value: value is not MISSING, deadline)

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return (self.path,)

    def __str__(self) -> str:
        return f"{path_text(self.path)} is there"

    def why_not(self, event: Event) -> str:
        return f"{path_text(self.path)} is absent"


_JSON_WORDS: Final = {True: "true", False: "false", None: "null"}


def format_fact(value: Any) -> str:
    if value is MISSING:
        return "absent"
    if value is None or isinstance(value, bool):
        return _JSON_WORDS[value]
    try:
        text = repr(value[: _MAX_SHOWN_CHARS + 1]) if isinstance(value, str) else _SHORT_REPR.repr(value)
    except ValueError:  # Python does not write out a number with thousands of digits
        text = "a very long number"
    return text if len(text) <= _MAX_SHOWN_CHARS + 2 else text[:_MAX_SHOWN_CHARS] + "…"
