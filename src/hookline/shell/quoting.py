"""Writes a value into shell text so that the shell reads back exactly that value, whatever quotes stand around it."""

from __future__ import annotations

from enum import Enum, auto
from typing import Final

from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern

_SPECIAL_IN_BACKTICKS: Final = lazy_pattern(r"[\\`$]")
_SPECIAL_IN_QUOTED_BACKTICKS: Final = lazy_pattern(r"[\\`$\"]")


class QuoteStyle(Enum):
    """The quotes around a placeholder."""

    NOTHING = auto()
    SINGLE = auto()
    DOUBLE = auto()


class Backticks(Enum):
    """The backticks around a placeholder. The shell removes one layer of backslashes before it parses the command."""

    NONE = auto()
    PLAIN = auto()
    IN_DOUBLE_QUOTES = auto()  # it also removes those before a double quote


@dataclass(frozen=True, slots=True)
class QuoteContext:
    style: QuoteStyle
    backticks: Backticks = Backticks.NONE


def quote_value(value: str, context: QuoteContext) -> str:
    word = "'" + _strip_unencodable(value).replace("'", "'\\''") + "'"
    if context.style is QuoteStyle.SINGLE:
        word = word[1:-1]
    elif context.style is QuoteStyle.DOUBLE:
        word = f'"{word}"'
    if context.backticks is Backticks.NONE:
        return word
    # Bash looks for brace expansions before it parses the backticks, so a quote in a value must not end theirs.
    quoted = context.backticks is Backticks.IN_DOUBLE_QUOTES
    return (_SPECIAL_IN_QUOTED_BACKTICKS if quoted else _SPECIAL_IN_BACKTICKS).sub(r"\\\g<0>", word)


def _strip_unencodable(value: str) -> str:
    """An argument cannot contain a NUL byte, and a lone surrogate has no UTF-8 bytes."""
    return value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
