"""Registered conditions and actions, as a document names them."""

from __future__ import annotations

import copy
from collections.abc import Awaitable
from typing import Any

from hookline.config.node import Node, enclosing_hook_id
from hookline.extensions import ACTION_REGISTRY, CONDITION_REGISTRY, CannotImport, Registration, Registry
from hookline.formatting import closest_match
from hookline.hooks.actions import python_function as actions
from hookline.hooks.conditions import numbers as conditions
from hookline.hooks.event import Event
from hookline.hooks.host import Host
from hookline.hooks.outcome import Outcome


def find_registered(register: Registry, name: str, at: Node) -> Registration | None:
    """None also after a problem was noted: a package declares the name but cannot be imported."""
    try:
        return register.find(name)
    except CannotImport as bad:
        at.add_problem("cannot-import", f"{at.location}: {bad}.", "Mend or remove that package.")
        return None


def report_unknown_name(register: Registry, name: str, at: Node, known: tuple[str, ...] = ()) -> None:
    """Notes that there is no such name."""
    names = (*known, *register.names())
    guess = closest_match(name, names)
    hint = f"Did you mean {guess}?" if guess else f"There are {', '.join(names) or 'none'}."
    at.add_problem(f"unknown-{register.what}", f"{at.location}: there is no {register.what} {name!r}.", hint)


def build_registered_condition(
    entry: Registration, at: Node, params: dict[str, Any]
) -> conditions.CustomCondition | None:
    """`at` is the mapping in which the params stand; None after a problem."""
    handed = _validate_params(entry, at, params)
    if handed is None:
        return None

    def test(_: Any, event: Event) -> bool:
        return bool(entry.function(copy.deepcopy(handed[0]), event))

    return conditions.CustomCondition(entry.name, test, params, enclosing_hook_id(at))


def build_registered_action(entry: Registration, at: Node, params: dict[str, Any]) -> actions.CustomAction | None:
    handed = _validate_params(entry, at, params)
    if handed is None:
        return None

    def act(_: Any, event: Event, host: Host) -> Awaitable[Outcome | None]:
        returned: Awaitable[Outcome | None] = entry.function(copy.deepcopy(handed[0]), event, host)
        return returned

    return actions.CustomAction(entry.name, act, params, entry.may)


def _validate_params(entry: Registration, at: Node, params: dict[str, Any]) -> tuple[Any] | None:
    """The params as the function gets them: plain, or as an instance of its model."""
    if entry.params is None:
        return (copy.deepcopy(params),)
    from pydantic import ValidationError

    try:
        return (entry.params.model_validate(copy.deepcopy(params)),)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_context=False, include_input=False):
            _report_bad_params(entry, at, each["loc"], each["msg"])
        return None


def _report_bad_params(entry: Registration, at: Node, loc: tuple[int | str, ...], message: str) -> None:
    place = Node(at.document, (*at.path, *loc), at.problems, None)
    place.add_problem("bad-params", f"{place.location}: {entry.name}: {message}.")


__all__ = [
    "ACTION_REGISTRY",
    "CONDITION_REGISTRY",
    "build_registered_action",
    "build_registered_condition",
    "find_registered",
    "report_unknown_name",
]
