"""The texts in a value, and what follows if a value can be read in several ways.

A *reading* is one way to understand a value: one of several paths, the command inside `bash -c`, one item of a list. It
has the texts that a pattern is matched against. A hook holds if its whole condition holds for one reading; a hook that
only allows, if it holds for all of them.
"""

from __future__ import annotations

from collections import UserString
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from contextlib import suppress
from time import perf_counter
from typing import Any, Final, TypeVar

from hookline.errors import AmbiguousField, ConditionError, UndecidedError
from hookline.hooks.event import MISSING, Event
from hookline.hooks.json_text import NOT_JSON, json_text, to_json_value
from hookline.hooks.match_deadline import NO_DEADLINE, SLOW, in_time, pop_in_time
from hookline.hooks.protocols import AmbiguousTexts, Condition, Readings

_NO_TEXT: Final[Readings] = ((),)
_MAX_TRIES: Final = 256
_FAILED: Final = "cannot be computed"
_PLAIN: Final = (str, dict, list, tuple, bool, int, float, bytes, bytearray, memoryview, set, frozenset)


class _WrongGuess(tuple[str, ...]):
    __slots__ = ()


WRONG_GUESS: Final = _WrongGuess()
"""The last reading of a field that was found by a guess about the tool: the guess is wrong, and there is no text."""

_T = TypeVar("_T")


class EventReading(Event):
    """An event of which some fields are read in one way only."""

    __slots__ = ("choices",)

    def __init__(self, event: Event, choices: Mapping[Hashable, int]) -> None:
        object.__setattr__(self, "name", event.name)
        object.__setattr__(self, "facts", event.facts)
        object.__setattr__(self, "cache", _cache_of(event))
        object.__setattr__(self, "choices", choices)


def holds_in_readings(condition: Condition, event: Event, deadline: float = NO_DEADLINE, *, every: bool) -> bool:
    """Whether the whole condition holds for one reading of the event; with `every`, for all of them.

    If there are too many readings to try, it is true for one and false for all.
    """
    found = find_reading(condition, event, deadline, holds=not every)
    return (found is None) if every else (found is not None)


def find_reading(condition: Condition, event: Event, deadline: float = NO_DEADLINE, *, holds: bool) -> Event | None:
    """The first reading for which the whole condition holds, or does not; the last one tried if there are too many."""
    tries = 0

    def find_with(choices: Mapping[Hashable, int]) -> Event | None:
        nonlocal tries
        tries += 1
        reading = EventReading(event, choices)
        if tries > _MAX_TRIES:
            return reading
        if tries % SLOW == 0 and perf_counter() > deadline:
            raise UndecidedError
        try:
            return reading if bool(condition.holds(reading, deadline)) is holds else None
        except AmbiguousField as ambiguous:
            source, count = ambiguous.source, ambiguous.count
            if holds:
                count -= ambiguous.doubts
        if source in choices:
            return reading
        found = (find_with({**choices, source: choice}) for choice in range(count))
        return next((each for each in found if each is not None), None)

    return find_with({})


def texts_of(readings: Readings, event: Event, source: Hashable) -> tuple[str, ...]:
    """The texts of the reading that counts; of all readings, as AmbiguousTexts, if none was chosen."""
    if len(readings) == 1:
        return readings[0]
    choice = event.choices.get(source)
    if choice is not None and choice < len(readings):
        return readings[choice]
    return AmbiguousTexts(dict.fromkeys(text for reading in readings for text in reading))


def unanimous(
    what: str,
    answers: Iterable[bool],
    source: Hashable,
    event: Event,
    *,
    doubts: int = 0,
    unsure: tuple[str, str] | None = None,
) -> bool:
    """The answer, if it is the same for all readings, or that of the reading that counts. Raises AmbiguousField.

    The last `doubts` answers count for an allow only.
    """
    found = tuple(answers)
    choice = event.choices.get(source)
    if choice is not None and choice < len(found):
        return found[choice]
    if True in found and False in found:
        why = f"{what} can be read in several ways, and not all of them match"
        raise AmbiguousField(why, source, len(found), doubts=doubts, unsure=unsure)
    return True in found


def ends_in_guess(readings: Readings) -> bool:
    return bool(readings) and readings[-1] is WRONG_GUESS


def compute_once(
    event: Event, key: Hashable, compute: Callable[[Event, float], _T], deadline: float = NO_DEADLINE
) -> _T:
    """Computes the result once for each event. A ConditionError is remembered too, and raised again.

    Nothing is kept if the deadline passes.
    """
    cache = _cache_of(event)
    found: _T | None = cache.get(key)
    if found is not None:
        return found
    failed: str | None = cache.get((_FAILED, key))
    if failed is not None:
        raise ConditionError(failed)
    try:
        found = cache[key] = compute(event, deadline)
    except ConditionError as error:
        cache[_FAILED, key] = str(error)
        raise
    return found


def _cache_of(event: Event) -> dict[Hashable, Any]:
    try:
        return event.cache
    except AttributeError:
        made: dict[Hashable, Any] = {}
        object.__setattr__(event, "cache", made)
        return made


def as_plain_collection(value: Any) -> Any:
    """A list, set or mapping of any class as a plain one. Other values unchanged.

    Raises ConditionError for an iterator: after a guard has read it, it is empty for the tool.
    """
    if value is None or isinstance(value, _PLAIN):
        return value
    if isinstance(value, UserString):
        return str(value)
    if isinstance(value, Iterator):
        raise ConditionError("an iterator can be read only once")
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, Collection) else value


def value_readings(value: Any, *, only_text: bool = False, deadline: float = NO_DEADLINE) -> Readings:
    """Each way to read the value as text.

    A list of plain values is read item by item. Any other list, or a mapping, by the texts inside and as JSON.
    `only_text` leaves out everything that was not text when the host had it.
    """
    value = as_plain_collection(value)
    if isinstance(value, (list, tuple, set, frozenset)):
        items = [_plain_text(item, only_text) for item in in_time(value, deadline)]
        if only_text or not any(isinstance(item, (list, tuple, set, frozenset, dict)) for item in value):
            return tuple((text,) for text in dict.fromkeys(items) if text is not None) or _NO_TEXT
        return _structure_readings(value, deadline)
    if isinstance(value, dict):
        return _NO_TEXT if only_text else _structure_readings(value, deadline)
    text = _plain_text(value, only_text)
    return _NO_TEXT if text is None else ((text,),)


def _structure_readings(value: Any, deadline: float) -> Readings:
    texts = [*_leaf_texts(value, deadline)]
    with suppress(TypeError):  # a key that JSON does not have
        texts.append(json_text(value, default=_json_default, deadline=deadline))
    return tuple((text,) for text in dict.fromkeys(texts)) or _NO_TEXT


def _leaf_texts(value: Any, deadline: float) -> Iterator[str]:
    """The texts inside of lists and mappings, at any depth."""
    todo, seen = [value], set[int]()
    for part in pop_in_time(todo, deadline):
        if isinstance(part, (dict, list, tuple, set, frozenset)):
            if id(part) not in seen:
                seen.add(id(part))
                todo += reversed(list(part.values() if isinstance(part, dict) else part))
                todo += _keys_without_json(part) if isinstance(part, dict) else ()
        elif (text := _plain_text(part, only_text=True)) is not None:
            yield text


def _keys_without_json(mapping: Mapping[Any, Any]) -> list[Any]:
    return [key for key in reversed(mapping) if not isinstance(key, str)]


def _plain_text(value: Any, only_text: bool) -> str | None:
    """The text of a value without parts; None if it has none."""
    if isinstance(value, str):
        return value
    if value is None or value is MISSING or isinstance(value, (list, tuple, set, frozenset, dict)):
        return None
    if isinstance(value, NOT_JSON):
        return _plain_text(to_json_value(value), only_text)
    if only_text:
        return None
    return json_text(value) if isinstance(value, (bool, int, float)) else _describe_object(value)


def _json_default(value: Any) -> Any:
    return to_json_value(value) if isinstance(value, NOT_JSON) else _describe_object(value)


def _describe_object(value: Any) -> str | None:
    try:
        return str(value)
    except Exception:  # any class may have any __str__
        return None
