"""Patterns and values on any fact."""

from __future__ import annotations

import reprlib
from dataclasses import dataclass, field
from typing import Any

from hookline.hooks.condition import NEVER, Need, Subject, TextPattern
from hookline.hooks.event import MISSING, Event, Path, path_text, same
from hookline.hooks.fields import agreed, value_at, values_at

_REMEMBERED = 64
_SHOWN = 60  # characters of a fact that an explanation repeats
_SHORTLY = reprlib.Repr()  # however large or deep a fact is


@dataclass(frozen=True, slots=True)
class Fact:
    """The text at a path; anything but text is no subject for a pattern."""

    path: Path
    few = False

    def texts(self, event: Event) -> tuple[str, ...]:
        value = event.read(self.path)
        return (value,) if isinstance(value, str) else ()

    def readings(self, event: Event) -> tuple[tuple[str, ...], ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return (self.path,)

    def __str__(self) -> str:
        return path_text(self.path)


@dataclass(frozen=True, slots=True)
class Matches:
    """One of the subject's texts matches."""

    subject: Subject
    pattern: TextPattern
    _known: dict[tuple[str, ...], bool] = field(default_factory=dict, init=False, repr=False, compare=False)

    def holds(self, event: Event, deadline: float = NEVER) -> bool:
        texts = self.subject.texts(event)
        if self.subject.few:
            return self._remembered(texts, deadline)
        if not self._found(texts, deadline):
            return False
        return type(texts) is tuple or self._found_in_each(self.subject.readings(event), deadline)

    def _found_in_each(self, readings: tuple[tuple[str, ...], ...], deadline: float) -> bool:
        return not readings or agreed(str(self.subject), (self._found(texts, deadline) for texts in readings))

    def _remembered(self, texts: tuple[str, ...], deadline: float) -> bool:
        known = self._known.get(texts)
        if known is None:
            known = self._found(texts, deadline)
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[texts] = known
        return known

    def _found(self, texts: tuple[str, ...], deadline: float) -> bool:
        search = self.pattern.search
        for text in texts:  # noqa: SIM110 - a generator costs more than most searches
            if search(text, deadline):
                return True
        return False

    def needs(self) -> tuple[Need, ...]:
        return (Need(self.subject, self.pattern),)

    def reads(self) -> tuple[Path, ...]:
        return self.subject.reads()

    def __str__(self) -> str:
        return f"{self.subject} matches {self.pattern.source}"

    def why_not(self, event: Event) -> str:
        texts = self.subject.texts(event)
        if not texts:
            return f"{self.subject} is absent or not text"
        return f"{self.subject} {shown(texts[0])} does not match {self.pattern.source}"


@dataclass(frozen=True, slots=True)
class Is:
    """The fact at a path is exactly this value; `True` is not `1`, wherever in it."""

    path: Path
    value: Any

    def holds(self, event: Event, deadline: float = NEVER) -> bool:
        return agreed(path_text(self.path), (same(value, self.value) for value in values_at(event, self.path)))

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return (self.path,)

    def __str__(self) -> str:
        return f"{path_text(self.path)} is {shown(self.value)}"

    def why_not(self, event: Event) -> str:
        return f"{path_text(self.path)} is {shown(value_at(event, self.path))}, not {shown(self.value)}"


@dataclass(frozen=True, slots=True)
class Exists:
    path: Path

    def holds(self, event: Event, deadline: float = NEVER) -> bool:
        return agreed(path_text(self.path), (value is not MISSING for value in values_at(event, self.path)))

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return (self.path,)

    def __str__(self) -> str:
        return f"{path_text(self.path)} is there"

    def why_not(self, event: Event) -> str:
        return f"{path_text(self.path)} is absent"


def shown(value: Any) -> str:
    if value is MISSING:
        return "absent"
    try:
        text = repr(value[: _SHOWN + 1]) if isinstance(value, str) else _SHORTLY.repr(value)
    except ValueError:  # Python does not write out a number with thousands of digits
        text = "a very long number"
    return text if len(text) <= _SHOWN + 2 else text[:_SHOWN] + "…"
