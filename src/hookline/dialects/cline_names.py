"""The names of Cline's hooks: each is a program that is named after its event."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from hookline.formatting import closest_match
from hookline.hooks.events import events_by_name

ONLY_IN_CLINE: Final = ("TaskCancel", "TaskError")
"""Events that no other agent has."""

_MIN_SIMILARITY: Final = 0.85


def named_event(file: str) -> str | None:
    """The event after which a program is named, typing errors aside. Cline itself ignores only the case of a name."""
    return closest_match(PurePath(file).stem, (*events_by_name("cline"), *ONLY_IN_CLINE), cutoff=_MIN_SIMILARITY)


def is_hook(file: str) -> bool:
    """Whether a file in the folder is a hook, or one with a mistyped name, which `check` reports. Hooks may use the others."""
    return named_event(file) is not None
