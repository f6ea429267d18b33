"""Registered conditions and actions, as a document names them."""

from __future__ import annotations

import copy
from collections.abc import Awaitable
from typing import Any

from hookline.config.problem import nearest
from hookline.config.shape import Reader, hook_named
from hookline.hooks.actions import custom as actions
from hookline.hooks.conditions import computed as conditions
from hookline.hooks.event import Event
from hookline.hooks.host import Host
from hookline.hooks.outcome import Outcome
from hookline.register import ACTIONS, CONDITIONS, CannotImport, Entry, Register


def find(register: Register, name: str, at: Reader) -> Entry | None:
    """None also after a problem was noted: a package declares the name but cannot be imported."""
    try:
        return register.find(name)
    except CannotImport as bad:
        at.problem("cannot-import", f"{at.place}: {bad}.", "Mend or remove that package.")
        return None


def unknown(register: Register, name: str, at: Reader, known: tuple[str, ...] = ()) -> None:
    """Notes that there is no such name."""
    names = (*known, *register.names())
    guess = nearest(name, names)
    hint = f"Did you mean {guess}?" if guess else f"There are {', '.join(names) or 'none'}."
    at.problem(f"unknown-{register.what}", f"{at.place}: there is no {register.what} {name!r}.", hint)


def condition(entry: Entry, at: Reader, params: dict[str, Any]) -> conditions.Custom | None:
    """`at` is the mapping in which the params stand; None after a problem."""
    handed = _handed(entry, at, params)
    if handed is None:
        return None

    def test(_: Any, event: Event) -> bool:
        return bool(entry.function(copy.deepcopy(handed[0]), event))

    return conditions.Custom(entry.name, test, params, hook_named(at))


def action(entry: Entry, at: Reader, params: dict[str, Any]) -> actions.Custom | None:
    handed = _handed(entry, at, params)
    if handed is None:
        return None

    def act(_: Any, event: Event, host: Host) -> Awaitable[Outcome | None]:
        returned: Awaitable[Outcome | None] = entry.function(copy.deepcopy(handed[0]), event, host)
        return returned

    return actions.Custom(entry.name, act, params, entry.may)


def _handed(entry: Entry, at: Reader, params: dict[str, Any]) -> tuple[Any] | None:
    """The params as the function gets them: plain, or as an instance of its model."""
    if entry.params is None:
        return (copy.deepcopy(params),)
    from pydantic import ValidationError

    try:
        return (entry.params.model_validate(copy.deepcopy(params)),)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_context=False, include_input=False):
            _note(entry, at, each["loc"], each["msg"])
        return None


def _note(entry: Entry, at: Reader, loc: tuple[int | str, ...], message: str) -> None:
    place = Reader(at.document, (*at.path, *loc), at.problems, None)
    place.problem("bad-params", f"{place.place}: {entry.name}: {message}.")


__all__ = ["ACTIONS", "CONDITIONS", "action", "condition", "find", "unknown"]
