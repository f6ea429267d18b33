"""How a value is written into shell text, so that the shell reads back exactly that value."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto

_SPECIAL_IN_BACKTICKS = re.compile(r"[\\`$]")


class Around(Enum):
    """The quotes that a placeholder stands in."""

    NOTHING = auto()
    SINGLE = auto()
    DOUBLE = auto()


@dataclass(frozen=True, slots=True)
class Quote:
    around: Around
    in_backticks: bool = False  # the shell takes one layer of backslashes away before it reads the command


def quoted(value: str, quote: Quote) -> str:
    word = "'" + _clean(value).replace("'", "'\\''") + "'"
    if quote.around is Around.SINGLE:
        word = word[1:-1]
    elif quote.around is Around.DOUBLE:
        word = f'"{word}"'
    return _SPECIAL_IN_BACKTICKS.sub(r"\\\g<0>", word) if quote.in_backticks else word


def _clean(value: str) -> str:
    """No program can be given a NUL byte; a lone surrogate has no bytes of its own."""
    return value.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
