"""Whose action is being read, and what reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

from hookline.config.shape import Reader
from hookline.hooks.action import Action
from hookline.hooks.tools import Tongue


@dataclass(frozen=True, slots=True)
class Doing:
    event: str
    tongue: Tongue
    timeout: timedelta
    hook: str  # its id


Maker = Callable[[Reader, Reader, Doing], Action | None]  # the action's mapping, the main key's value
