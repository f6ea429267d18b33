"""A placeholder in somebody's text: where it stands, what it is called, and its value as text."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final, Protocol

from hookline.hooks.event import MISSING, Event, Path
from hookline.hooks.json_text import json_text


class Reader(Protocol):
    """How a placeholder is read from an event, and which facts that takes."""

    @property
    def paths(self) -> tuple[Path, ...]: ...
    def __call__(self, event: Event, /) -> Any: ...


Resolve = Callable[[str], Reader | None]  # a placeholder's name → how to read it; None: there is no such name

DOUBLE: Final = re.compile(r"\{\{([^{}\n]*)\}\}")
SINGLE_OR_DOUBLE: Final = re.compile(r"\{\{([^{}\n]*)\}\}|\{([^{}\n]*)\}")


class BadTemplate(ValueError):
    """A text that cannot be rendered safely; `what` and `hint` are words for its author."""

    def __init__(self, what: str, hint: str, position: int) -> None:
        super().__init__(f"{what}. {hint}" if hint else what)
        self.what = what
        self.hint = hint
        self.position = position


def as_text(value: Any) -> str:
    """Text as it is, nothing for what is missing or cannot be told, compact JSON for the rest."""
    if isinstance(value, str):
        return value
    if value is None or value is MISSING:
        return ""
    try:
        return json_text(value)
    except TypeError:
        return ""


def unknown_name(name: str, position: int) -> BadTemplate:
    return BadTemplate(f"{{{{{name}}}}} is not a name that this hook knows", "", position)
