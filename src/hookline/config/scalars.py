"""Parses scalars: numbers, the plain words of YAML 1.2's core schema, and durations such as `10s` or `1.5h`."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any, Final

from hookline.formatting import shorten
from hookline.lazy_imports import decimal, lazy_pattern

MAX_DURATION = timedelta(hours=24)

_MICROSECONDS = {"ms": 1_000, "s": 1_000_000, "m": 60_000_000, "h": 3_600_000_000}
_DURATION = lazy_pattern(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)(ms|s|m|h)")
_LONG_DIGITS = {"ms": 15, "s": 12, "m": 11, "h": 9}  # some ten thousand years
_LONG_DURATION = lazy_pattern(
    "|".join(rf"(?P<{unit}>[0-9]{{1,{digits}}}(?:\.[0-9]{{1,12}})?){unit}" for unit, digits in _LONG_DIGITS.items())
)
_BELOW_A_DAY = {
    "ms": "[0-9]{1,7}|[1-7][0-9]{7}|8[0-5][0-9]{6}|86[0-3][0-9]{5}",
    "s": "[0-9]{1,4}|[1-7][0-9]{4}|8[0-5][0-9]{3}|86[0-3][0-9]{2}",
    "m": "[0-9]{1,3}|1[0-3][0-9]{2}|14[0-3][0-9]",
    "h": "1?[0-9]|2[0-3]",
}
_ZEROS_TOO_MANY = {"ms": 3, "s": 6, "m": 8, "h": 10}  # a fraction with so many leading zeros is below a microsecond
_BARE_NUMBER = lazy_pattern(r"[0-9]+(?:\.[0-9]+)?")


def parse_duration(text: str, *, is_long: bool = False) -> timedelta:
    """To the microsecond, and at most 24 h unless it may be long. The ValueError says what to write instead."""
    found = (_LONG_DURATION if is_long else _DURATION).fullmatch(text)
    if found is None:
        raise ValueError(_describe_bad_duration(text))
    unit = found.lastgroup or found[2]
    microseconds = decimal.Decimal(found[found.lastgroup or 1]) * _MICROSECONDS[unit]
    if not is_long and microseconds > MAX_DURATION // timedelta(microseconds=1):
        raise ValueError(f"{text} is too long; write at most 24h")
    if 0 < microseconds < 1:
        raise ValueError(f"{text} is too short; write at least 0.001ms")
    return timedelta(microseconds=int(microseconds))


def duration_pattern() -> str:
    """A JSON Schema pattern for durations. It differs from `parse_duration` only between 0.6 and 1 microseconds."""
    one_of = "|".join(_unit_pattern(unit) for unit in _MICROSECONDS)
    return f"^(?=[0-9]{{1,12}}[^0-9])({one_of})(?![\\s\\S])"


def long_duration_pattern() -> str:
    """Like `duration_pattern`, for a duration that may be long."""
    one_of = "|".join(
        rf"(?!0+\.0{{{_ZEROS_TOO_MANY[unit]}}}0*[1-9])[0-9]{{1,{digits}}}(\.[0-9]{{1,12}})?{unit}"
        for unit, digits in _LONG_DIGITS.items()
    )
    return f"^({one_of})(?![\\s\\S])"


def _unit_pattern(unit: str) -> str:
    day = MAX_DURATION // timedelta(microseconds=_MICROSECONDS[unit])
    below = f"(?!0+\\.0{{{_ZEROS_TOO_MANY[unit]}}}0*[1-9])0*({_BELOW_A_DAY[unit]})(\\.[0-9]{{1,12}})?"
    return f"({below}|0*{day}(\\.0{{1,12}})?){unit}"


def format_duration(length: timedelta) -> str:
    """The shortest form in the largest unit that needs no fraction; `parse_duration` reads it back unchanged."""
    microseconds = length // timedelta(microseconds=1)
    if microseconds == 0:
        return "0s"
    for unit in ("h", "m", "s", "ms"):
        if microseconds % _MICROSECONDS[unit] == 0:
            return f"{microseconds // _MICROSECONDS[unit]}{unit}"
    return f"{decimal.Decimal(microseconds) / 1000:f}ms"


def _describe_bad_duration(text: str) -> str:
    shown = shorten(text)
    if text.startswith("-"):
        return f"{shown} is negative; write a duration such as 10s"
    if _BARE_NUMBER.fullmatch(text):
        return f"{shown} has no unit; write {shown}s for seconds or {shown}ms for milliseconds"
    return f"{shown!r} is not a duration; write a number and a unit: 500ms, 10s, 2m or 1h"


MAX_NUMBER_LENGTH = 300

NON_TEXT_FIRST_CHARACTERS = frozenset("0123456789+-.~nNtTfF")
"""A plain word that starts with any other character is text. The empty word is null."""

_CORE_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((sign + word for sign in ("", "+") for word in (".inf", ".Inf", ".INF")), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_NUMBER_STARTS: Final = frozenset("+-.0123456789")
_DECIMAL = lazy_pattern(r"[-+]?[0-9]++")
_OTHER_BASE = lazy_pattern(r"0o[0-7]++|0x[0-9a-fA-F]++")
_FLOAT = lazy_pattern(r"[-+]?(?:\.[0-9]++|[0-9]++(?:\.[0-9]*+)?)(?:[eE][-+]?[0-9]++)?")


class NumberTooLargeError(ValueError):
    """The number does not fit a float, or has too many digits."""


def parse_integer(text: str, base: int = 10) -> int:
    if len(text) > MAX_NUMBER_LENGTH:
        raise NumberTooLargeError
    return int(text, base)


def parse_float(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise NumberTooLargeError
    return number


def parse_core_scalar(word: str) -> Any:
    """The value of a plain word in YAML 1.2's core schema. `on`, `yes`, `12:30:00`, `2024-01-01` and `1_000` are text."""
    if word in _CORE_WORDS:
        return _CORE_WORDS[word]
    if word[:1] not in _NUMBER_STARTS:
        return word
    if _DECIMAL.fullmatch(word):
        return parse_integer(word)
    if _OTHER_BASE.fullmatch(word):
        return parse_integer(word, 0)
    if _FLOAT.fullmatch(word):
        return parse_float(word)
    return word
