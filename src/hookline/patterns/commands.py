"""Which programs a shell line starts, as a permission rule asks it: `rm *`, `npm test`, `git:*`."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from hookline.patterns.emit import escaped
from hookline.patterns.pattern import BadPattern, Pattern, Undecided, pattern

_BEGIN: Final = r"(?:\A|[;&|\n(){}`!]|\b(?:then|do|else|elif|if|while|until)\s)\s*"
_SET_BEFORE: Final = r"""(?:[A-Za-z_]\w*\+?=(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\;&|])*\s+)*"""
_STARTED_BY: Final = r"(?:(?:timeout|time|nice|nohup|stdbuf|xargs)\s+(?:-\S+\s+|\d\S*\s+)*)*"
_END: Final = r"\s*(?:\d?[<>;&|\n(){}`]|\z)"
_WORD_END: Final = r"(?:[\s<>;&|(){}`]|\z)"
_ANY: Final = r"(?s:.*)"
_LONGEST: Final = 2_000


def started(text: str) -> Pattern:
    """Some command of the line is this one; `*` stands for any text, and after a space, at the end, also for none.

    It hears commands after `;`, `&&` or `|` and in `$(…)`, also behind variables that are set for them and behind
    `timeout` and its like. It does not know quotes, so it rather hears too much.
    """
    if len(text) > _LONGEST:
        raise BadPattern(f"it is longer than {_LONGEST} characters")
    text = f"{text[:-2]} *" if text.endswith(":*") else text
    if text.strip() in ("", "*"):
        return pattern("")
    begins = text.endswith(" *")
    body = (text[:-2] if begins else text.removesuffix("*")).strip()
    end = _WORD_END if begins else "" if text.endswith("*") else _END
    parts = [
        r"\s+".join("".join(map(_letter, word)) for word in part.split(" ") if word or part) for part in body.split("*")
    ]
    return pattern(_BEGIN + _SET_BEFORE + _STARTED_BY + _ANY.join(parts) + end)


def heard_in_doubt(search: Callable[..., bool]) -> Callable[..., bool]:
    """A line that is too long to be decided counts as one that starts the command: no length may silence a rule."""

    def leaning(text: str, deadline: float = math.inf) -> bool:
        try:
            return search(text, deadline)
        except Undecided:
            return True

    return leaning


def _letter(character: str) -> str:
    return escaped(ord(character))
