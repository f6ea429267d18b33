"""What actions have in common that take the place of another action."""

from __future__ import annotations

from collections.abc import Iterator

from hookline.hooks.event import FactPath
from hookline.hooks.protocols import Action, May


class ActionWrapper:
    """Speaks for the wrapped action in everything but running it."""

    __slots__ = ()
    action: Action
    constant = None

    @property
    def label(self) -> str:
        return self.action.label

    @property
    def may(self) -> May:
        return self.action.may

    def changes(self) -> tuple[FactPath, ...]:
        return tuple(self.action.changes())

    def reads(self) -> tuple[FactPath, ...]:
        return tuple(self.action.reads())

    def describe(self) -> Iterator[tuple[str, str]]:
        yield from self.action.describe()
