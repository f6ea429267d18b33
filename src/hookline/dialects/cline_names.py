"""The names of Cline's hooks: each is a program that is named after its event."""

from __future__ import annotations

from pathlib import PurePath
from typing import Final

from hookline.formatting import closest_match
from hookline.hooks.events import events_by_name

ONLY_IN_CLINE: Final = ("TaskCancel", "TaskError")
"""Events that no other agent has."""

_CLOSE: Final = 0.85


def named_event(file: str) -> str | None:
    """The event after which a program is named, or was meant to be: Cline ignores the case of a name, and nothing else."""
    return closest_match(PurePath(file).stem, (*events_by_name("cline"), *ONLY_IN_CLINE), cutoff=_CLOSE)


def is_hook(file: str) -> bool:
    """Also with a mistyped name, so that somebody is told. Other files in the folder help the hooks."""
    return named_event(file) is not None
