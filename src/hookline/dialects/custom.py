"""Conditions and actions that other packages register, where a document names them."""

from __future__ import annotations

import copy
from collections.abc import Awaitable
from typing import Any, Final, get_origin, get_type_hints

from hookline.config.node import Node, format_value
from hookline.extensions import ACTION_REGISTRY, CONDITION_REGISTRY, CannotImport, Registration, Registry
from hookline.formatting import closest_match
from hookline.hooks.actions import python_function as actions
from hookline.hooks.conditions import numbers as conditions
from hookline.hooks.event import Event
from hookline.hooks.host import Host
from hookline.hooks.outcome import Outcome
from hookline.lazy_imports import dataclasses

_TYPE_NAMES: Final[dict[Any, str]] = {
    str: "text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    dict: "a mapping",
    list: "a list",
}


def find_registered(registry: Registry, name: str, at: Node) -> Registration | None:
    """None if nothing has this name, or after a problem: a package declares the name but cannot be imported."""
    try:
        return registry.find(name)
    except CannotImport as bad:
        at.add_problem("cannot-import", f"{at.location}: {bad}.", "Repair or remove that package.")
        return None


def find_or_report(registry: Registry, name: str, at: Node) -> Registration | None:
    """None after a problem, such as an unknown name."""
    before = len(at.problems)
    entry = find_registered(registry, name, at)
    if entry is None and len(at.problems) == before:
        report_unknown_name(registry, name, at)
    return entry


def report_unknown_name(registry: Registry, name: str, at: Node, known: tuple[str, ...] = ()) -> None:
    names = (*known, *registry.names())
    guess = closest_match(name, names)
    hint = f"Did you mean {guess}?" if guess else f"There are {', '.join(names) or 'none'}."
    at.add_problem(f"unknown-{registry.what}", f"{at.location}: there is no {registry.what} {name!r}.", hint)


def build_registered_condition(
    entry: Registration, at: Node, params: dict[str, Any]
) -> conditions.CustomCondition | None:
    """`at` is the mapping that contains the params. None after a problem."""
    checked = _validate_params(entry, at, params)
    if checked is None:
        return None

    def test(_: Any, event: Event) -> Any:
        return entry.function(copy.deepcopy(checked[0]), event)

    return conditions.CustomCondition(entry.name, test, params)


def build_registered_action(entry: Registration, at: Node, params: dict[str, Any]) -> actions.CustomAction | None:
    checked = _validate_params(entry, at, params)
    if checked is None:
        return None

    def act(_: Any, event: Event, host: Host) -> Awaitable[Outcome | None]:
        returned: Awaitable[Outcome | None] = entry.function(copy.deepcopy(checked[0]), event, host)
        return returned

    return actions.CustomAction(entry.name, act, params, entry.may)


def _validate_params(entry: Registration, at: Node, params: dict[str, Any]) -> tuple[Any] | None:
    """The params as the function gets them: a plain mapping, or an instance of its class. None after a problem."""
    given = copy.deepcopy(params)
    if entry.params is None:
        return (given,)
    if dataclasses.is_dataclass(entry.params):
        wrong = _dataclass_errors(entry.params, given)
        for name, message in wrong.items():
            _report_bad_params(entry, at, (name,), message)
        return None if wrong else (entry.params(**given),)
    from pydantic import ValidationError

    try:
        return (entry.params.model_validate(given),)
    except ValidationError as error:
        for each in error.errors(include_url=False, include_context=False, include_input=False):
            _report_bad_params(entry, at, each["loc"], each["msg"])
        return None


def _dataclass_errors(kind: type[Any], params: dict[str, Any]) -> dict[str, str]:
    """What is wrong with each param."""
    fields = {each.name: each for each in dataclasses.fields(kind)}
    hints = get_type_hints(kind)
    known = f"It takes {', '.join(fields)}" if fields else "It takes no parameters"
    wrong = {name: f"unknown parameter. {known}" for name in params if name not in fields}
    for name, field in fields.items():
        expected = get_origin(hints[name]) or hints[name]
        if name not in params:
            if field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
                wrong[name] = "this parameter is required"
        elif expected in _TYPE_NAMES and type(params[name]) not in ((int, float) if expected is float else (expected,)):
            wrong[name] = f"{format_value(params[name])} is not {_TYPE_NAMES[expected]}"
    return wrong


def _report_bad_params(entry: Registration, at: Node, loc: tuple[int | str, ...], message: str) -> None:
    place = Node(at.document, (*at.path, *loc), at.problems, None)
    place.add_problem("bad-params", f"{place.location}: {entry.name}: {message}.")


__all__ = [
    "ACTION_REGISTRY",
    "CONDITION_REGISTRY",
    "build_registered_action",
    "build_registered_condition",
    "find_or_report",
    "find_registered",
    "report_unknown_name",
]
