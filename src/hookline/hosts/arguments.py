"""What a Python function is called with, as facts by the names of its parameters, and back."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from inspect import Parameter
from pathlib import PurePath
from typing import Any

from hookline.errors import Denied
from hookline.hooks.event import MISSING, same
from hookline.hosts.plain import plain

_OWNERS = ("self", "cls")


@dataclass(frozen=True)
class Arguments:
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    input: dict[str, Any]
    bound: inspect.BoundArguments | None  # None: the function does not tell its parameters

    def changed(self, left: Any) -> Arguments:
        """Only what hooks changed is new; everything else is the very value that was given. Raises Denied."""
        if self.bound is None or not isinstance(left, dict):
            raise Denied("a hook changed the input to what the tool cannot be called with")
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        rest = dict(left)
        for parameter in self.bound.signature.parameters.values():
            if parameter.kind is Parameter.VAR_POSITIONAL:
                args += self._value(parameter.name, rest.pop(parameter.name, []))
            elif parameter.kind is Parameter.VAR_KEYWORD:
                kwargs |= {name: self._value(name, rest.pop(name)) for name in list(rest)}
            elif parameter.kind is Parameter.KEYWORD_ONLY:
                kwargs[parameter.name] = self._taken(parameter, rest)
            else:
                args.append(self._taken(parameter, rest))
        if rest:
            raise Denied(f"a hook gave {next(iter(rest))}, which the tool does not take")
        return Arguments(tuple(args), kwargs, left, self.bound)

    def _taken(self, parameter: Parameter, rest: dict[str, Any]) -> Any:
        if _is_owner(self.bound, parameter.name):
            return self._old(parameter.name)
        if parameter.name in rest:
            return self._value(parameter.name, rest.pop(parameter.name))
        if parameter.default is Parameter.empty:
            raise Denied(f"a hook took {parameter.name} away, without which the tool cannot be called")
        return parameter.default

    def _value(self, name: str, new: Any) -> Any:
        old = self._old(name)
        if old is not MISSING and same(plain(old), new):
            return old
        return type(old)(new) if isinstance(old, PurePath) and isinstance(new, str) else new

    def _old(self, name: str) -> Any:
        held = self.bound.arguments if self.bound is not None else {}
        if name in held:
            return held[name]
        named = self.bound.signature.parameters.values() if self.bound is not None else ()
        rest = next((each.name for each in named if each.kind is Parameter.VAR_KEYWORD), None)
        return held.get(rest, {}).get(name, MISSING) if rest is not None else MISSING


def arguments(tool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Arguments:
    """Raises TypeError as the tool itself would."""
    try:
        signature = inspect.signature(tool)
    except ValueError:  # some functions that are written in C do not tell
        return Arguments(args, kwargs, plain({"args": list(args), **kwargs} if args else kwargs), None)
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return Arguments(bound.args, bound.kwargs, _facts(bound), bound)


def _facts(bound: inspect.BoundArguments) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    for name, value in bound.arguments.items():
        if bound.signature.parameters[name].kind is Parameter.VAR_KEYWORD:
            facts |= plain(value)
        elif not _is_owner(bound, name):
            facts[name] = plain(value)
    return facts


def _is_owner(bound: inspect.BoundArguments | None, name: str) -> bool:
    """A method's own object is no input."""
    return bound is not None and name in _OWNERS and name == next(iter(bound.signature.parameters), None)
