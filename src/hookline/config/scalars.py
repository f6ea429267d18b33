"""What a word means: numbers in JSON and YAML, and the plain words of YAML 1.2's core schema."""

from __future__ import annotations

import math
import re
from typing import Any

LONGEST_NUMBER = 300

FIRST_OF_NON_TEXT = frozenset("0123456789+-.~nNtTfF")
"""No plain word that begins otherwise is anything but text; the empty word is null."""

_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((sign + word for sign in ("", "+") for word in (".inf", ".Inf", ".INF")), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
_DECIMAL = re.compile(r"[-+]?[0-9]++")
_OTHER_BASE = re.compile(r"0o[0-7]++|0x[0-9a-fA-F]++")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]++|[0-9]++(?:\.[0-9]*+)?)(?:[eE][-+]?[0-9]++)?")


class TooLarge(ValueError):
    """A number that neither fits a float nor can be printed in reasonable space."""


def whole_number(text: str, base: int = 10) -> int:
    if len(text) > LONGEST_NUMBER:
        raise TooLarge
    return int(text, base)


def real_number(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise TooLarge
    return number


def core_value(word: str) -> Any:
    """A plain word's value by YAML 1.2's core schema. `on`, `yes`, `12:30:00`, `2024-01-01` and `1_000` are text."""
    if word in _WORDS:
        return _WORDS[word]
    if _DECIMAL.fullmatch(word):
        return whole_number(word)
    if _OTHER_BASE.fullmatch(word):
        return whole_number(word, 0)
    if _FLOAT.fullmatch(word):
        return real_number(word)
    return word
