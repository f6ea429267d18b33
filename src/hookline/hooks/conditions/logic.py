"""And, or, not; always, never."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Any, Final

from hookline.errors import AmbiguousField, ConditionError, UndecidedError
from hookline.hooks.event import Event, FactPath
from hookline.hooks.match_deadline import NO_DEADLINE
from hookline.hooks.protocols import Condition, Need
from hookline.hooks.readings import find_reading
from hookline.lazy_dataclasses import dataclass

_Unknown = AmbiguousField | ConditionError | UndecidedError
_UNKNOWN: Final = (AmbiguousField, ConditionError, UndecidedError)
_SHOWN_REASONS: Final = 3
_SHOWN_WORDS: Final = 6
_OTHERS: Final = "others"


@dataclass(frozen=True, slots=True)
class Always:
    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        return True

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> Iterable[FactPath]:
        return ()

    def __str__(self) -> str:
        return "it is always true"

    def why_not(self, event: Event) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class Never:
    because: str = "it is switched off (never)"
    is_mistake: bool = False  # it stands for a condition that cannot be read

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        return False

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> Iterable[FactPath]:
        return ()

    def __str__(self) -> str:
        return "it is never true"

    def why_not(self, event: Event) -> str:
        return self.because


@dataclass(frozen=True, slots=True)
class All:
    """Stops at the first part that does not hold. An ambiguous or undecided part counts only if all others hold."""

    parts: tuple[Condition, ...]

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        unknown: _Unknown | None = None
        for part in self.parts:
            try:
                if not part.holds(event, deadline):
                    return False
            except _UNKNOWN as raised:
                unknown = _more_serious(unknown, raised)
        if unknown is not None:
            raise unknown
        return True

    def needs(self) -> tuple[Need, ...]:
        return tuple(need for part in self.parts for need in part.needs())

    def reads(self) -> Iterable[FactPath]:
        return (path for part in self.parts for path in part.reads())

    def __str__(self) -> str:
        return " and ".join(str(part) for part in self.parts) or "it is always true"

    def why_not(self, event: Event) -> str:
        return next((part.why_not(event) for part in self.parts if _is_certainly_false(part, event)), "")


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Stops at the first part that holds; without parts it never holds.

    An ambiguous or undecided part counts only if no other holds.
    """

    parts: tuple[Condition, ...]

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        unknown: _Unknown | None = None
        for part in self.parts:
            try:
                if part.holds(event, deadline):
                    return True
            except _UNKNOWN as raised:
                unknown = _more_serious(unknown, raised)
        if unknown is not None:
            raise unknown
        return False

    def needs(self) -> tuple[Need, ...]:
        return self.parts[0].needs() if len(self.parts) == 1 else ()

    def reads(self) -> Iterable[FactPath]:
        return (path for part in self.parts for path in part.reads())

    def __str__(self) -> str:
        return "(" + " or ".join(str(part) for part in self.parts) + ")"

    def why_not(self, event: Event) -> str:
        return _join_reasons(part.why_not(event) for part in self.parts) or "there is no condition that could be true"


def _join_reasons(reasons: Iterable[str]) -> str:
    """Each once; those that differ only in what they miss ("a is 1, not 2") together, and of many the first few."""
    missing: dict[str, list[str]] = {}
    for reason in dict.fromkeys(reasons):
        found, separator, missed = reason.partition(", not ")
        missing.setdefault(found + separator, []).append(missed)
    joined = [
        found + (missed[0] if len(missed) == 1 else any_word(word for each in missed for word in each.split(" or ")))
        for found, missed in missing.items()
    ]
    rest = len(joined) - _SHOWN_REASONS
    more = f"{rest} more of its conditions do" if rest > 1 else "one more of its conditions does"
    return "; ".join(joined[:_SHOWN_REASONS]) + (f"; and {more} not hold" if rest > 0 else "")


def first_words(words: Sequence[str]) -> str:
    """The first few of them, since a list of build directories hides what else is said."""
    shown = ", ".join(words[:_SHOWN_WORDS])
    return shown if len(words) <= _SHOWN_WORDS else f"{shown} and {len(words) - _SHOWN_WORDS} more"


def any_word(words: Iterable[str]) -> str:
    """The same for words of which any will do; they may come from such lists."""
    known = list(dict.fromkeys(words))
    shown = [word for word in known if word != _OTHERS][:_SHOWN_WORDS]
    return " or ".join(shown if len(shown) == len(known) else [*shown, _OTHERS])


@dataclass(frozen=True, slots=True)
class Not:
    part: Condition

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        return not self.part.holds(event, deadline)

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> Iterable[FactPath]:
        return self.part.reads()

    def __str__(self) -> str:
        return f"not ({self.part})"

    def why_not(self, event: Event) -> str:
        return f"{self.part} is true, but must not be"


def _is_certainly_false(part: Condition, event: Event) -> bool:
    try:
        return not part.holds(event)
    except _UNKNOWN:
        return False


def _more_serious(first: _Unknown | None, second: _Unknown) -> _Unknown:
    """A failure of a condition must be seen."""
    return second if first is None or isinstance(first, AmbiguousField) else first


def describe_match(condition: Condition, event: Event, deadline: float) -> str:
    """Why the condition holds for the event, in words: of several alternatives, the first that holds."""
    try:
        reading = find_reading(condition, event, deadline, holds=True)
        return str(condition) if reading is None else _describe_part(condition, reading, deadline)
    except Exception:  # it may be third-party code, and what it counts may have changed since
        return str(condition)


def _describe_part(condition: Condition, event: Event, deadline: float) -> str:
    if isinstance(condition, All) and condition.parts:
        return " and ".join(_describe_part(part, event, deadline) for part in condition.parts)
    if isinstance(condition, AnyOf):
        for part in condition.parts:
            with suppress(*_UNKNOWN):
                if part.holds(event, deadline):
                    return _describe_part(part, event, deadline)
    return str(condition)


def all_of(parts: Iterable[Condition]) -> Condition:
    """The simplest condition that holds if all parts hold."""
    flat: list[Condition] = []
    for part in parts:
        if type(part) is All:  # as `input: {…}` in `when`: flat, thousands of hooks take less memory
            flat += part.parts
        elif type(part) is not Always:
            flat.append(part)
    if not flat:
        return ALWAYS
    return flat[0] if len(flat) == 1 else All(tuple(flat))


ALWAYS = Always()
NEVER_HOLDS = Never()


def find_conditions(condition: Condition, kind: type[Any]) -> Iterator[Any]:
    """The conditions of this class, at any depth."""
    parts: list[Condition] = [condition]
    while parts:  # without recursion: it is asked several times about every hook that is loaded
        part = parts.pop()
        if isinstance(part, (All, AnyOf)):  # `All | AnyOf` would be made each time
            parts += reversed(part.parts)
        elif isinstance(part, Not):
            parts.append(part.part)
        elif isinstance(part, kind):
            yield part
