"""Registers your own conditions and actions.

    from hookline.register import register_action, register_condition

    @register_condition("business_hours")
    def business_hours(params, event): ...

    @register_action("open_ticket", may=May.NOTES)
    async def open_ticket(params, event, host): ...

A package can declare them as entry points `hookline.conditions` and `hookline.actions`. It is imported only when a
config names one of them.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable, Collection, Iterable
from functools import lru_cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar

from hookline.errors import HooklineError
from hookline.hooks.event import Event
from hookline.hooks.host import Host
from hookline.hooks.outcome import Outcome
from hookline.hooks.protocols import May
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import inspect

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["ANYTHING", "CannotImport", "Registration", "register_action", "register_condition"]

ANYTHING: Final = May.JUDGE | May.CHANGE | May.NOTES | May.HALT | May.COMPACT

ConditionFunction = TypeVar("ConditionFunction", bound=Callable[[Any, Event], bool])
ActionFunction = TypeVar("ActionFunction", bound=Callable[[Any, Event, Host], Awaitable[Outcome | None]])


class CannotImport(HooklineError):
    """A package declares the name that a config uses, but cannot be imported."""


@dataclass(frozen=True, slots=True)
class Registration:
    name: str
    function: Callable[..., Any]
    params: type[Any] | None = None  # a dataclass or a pydantic model; the function gets an instance
    may: May = ANYTHING  # for an action: what it may ask for


class Registry:
    """Functions by name: registered ones first, then built-in ones, then entry points of installed packages."""

    def __init__(self, what: str, built_in: dict[str, str]) -> None:
        self.what = what  # condition or action
        self._group = f"hookline.{what}s"
        self._built_in = built_in  # name → the module that registers it when it is imported
        self._entries: dict[str, Registration] = {}

    def add(self, entry: Registration) -> None:
        known = self._entries.get(entry.name)
        if known is not None and _qualified_name(known.function) != _qualified_name(entry.function):
            raise HooklineError(
                f"the {self.what} {entry.name} is already registered by {_qualified_name(known.function)}"
            )
        self._entries[entry.name] = entry

    def find(self, name: str) -> Registration | None:
        """Raises CannotImport."""
        if name not in self._entries:
            if name in self._built_in:
                import_module(self._built_in[name])
            else:
                self._load_entry_point(name)
        return self._entries.get(name)

    def names(self) -> Collection[str]:
        """Every name that `find` knows; imports nothing."""
        declared = _entry_points_by_name(self._group, tuple(sys.path))
        return sorted({*self._entries, *self._built_in, *declared})

    def _load_entry_point(self, name: str) -> None:
        point = _entry_points_by_name(self._group, tuple(sys.path)).get(name)
        if point is None:
            return
        try:
            found = point.load()
        except (Exception, SystemExit) as error:  # third-party code may raise anything
            why = f"{type(error).__name__}: {error}"[:300]
            raise CannotImport(f"the {self.what} {name} ({point.value}) cannot be imported: {why}") from error
        if name not in self._entries and callable(found):
            self.add(Registration(name, found))


CONDITION_REGISTRY: Final = Registry("condition", {})
ACTION_REGISTRY: Final = Registry(
    "action",
    dict.fromkeys(
        ("compile_yaml", "auto_test_deploy", "prefetch_ground_truth", "enforce_phase6", "enforce_compile_fix"),
        "hookline.dialects.digitorn.builder",
    ),
)


def register_condition(
    name: str, *, params: type[Any] | None = None
) -> Callable[[ConditionFunction], ConditionFunction]:
    """Decorates `def x(params, event) -> bool`. It gets copies. If it raises, a hook that guards fires."""

    def register(function: ConditionFunction) -> ConditionFunction:
        if not callable(function) or inspect.iscoroutinefunction(function):
            raise HooklineError(f"the condition {name} is not a plain function: conditions answer at once")
        CONDITION_REGISTRY.add(Registration(_check_name(name), function, params))
        return function

    return register


def register_action(
    name: str, *, params: type[Any] | None = None, may: May = ANYTHING
) -> Callable[[ActionFunction], ActionFunction]:
    """Decorates `async def x(params, event, host) -> Outcome | None`.

    Pass `may` if you know what the action may ask for: one that may deny runs again when a later hook changes the event.
    """

    def register(function: ActionFunction) -> ActionFunction:
        waits: bool = inspect.iscoroutinefunction(function)
        if not waits:
            raise HooklineError(f"the action {name} is not an async function: write async def")
        ACTION_REGISTRY.add(Registration(_check_name(name), function, params, may))
        return function

    return register


def _check_name(name: str) -> str:
    if not isinstance(name, str) or not name or name != name.strip():
        raise HooklineError(f"{name!r} is not a name that a config could use")
    return name


@lru_cache(maxsize=16)
def _entry_points_by_name(group: str, path: tuple[str, ...]) -> dict[str, EntryPoint]:
    """The entry points of a group, cached per import path. The first one with a name wins."""
    from importlib.metadata import entry_points  # costs 20 ms, and few configs name anything unknown

    found: Iterable[EntryPoint] = entry_points(group=group)
    declared: dict[str, EntryPoint] = {}
    for point in found:
        declared.setdefault(point.name, point)
    return declared


def _qualified_name(function: Callable[..., Any]) -> str:
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return f"{getattr(function, '__module__', '?')}.{name}"
