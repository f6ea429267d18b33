"""What a tool runs with where a call gives nothing: hooks see a call with the defaults of its tool.

Each adapter says where the framework takes them from: a pydantic model, the function behind the tool, or a JSON schema.
"""

from __future__ import annotations

import functools
import inspect
import logging
import operator
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import MethodType
from typing import Any, Final

from hookline.frameworks.argument_shapes import Argument, ObjectShape, Shape, default_reader, has_defaults
from hookline.frameworks.shape_readers import SchemaReader, TypeReader, hints_of
from hookline.lazy_dataclasses import dataclass, field

_log = logging.getLogger("hookline")


class ToolDefaults:
    """The defaults of one tool."""

    def __init__(self, arguments: Iterable[Argument] = ()) -> None:
        self._input = ObjectShape(filter(has_defaults, arguments))

    def fill(self, given: dict[str, Any]) -> dict[str, Any]:
        """The input with which the tool runs, as far as it can be known."""
        filled: dict[str, Any] = self._input.fill(given)
        return filled

    def leave_out(self, left: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
        """What to give the tool so that it runs with `left`: without the defaults, which it puts in itself."""
        kept: dict[str, Any] = self._input.leave_out(left, given)
        return kept

    def over(self, other: ToolDefaults) -> ToolDefaults:
        """These, and those of `other` for further arguments."""
        named = {name for each in self._input.arguments for name in each.names}
        further = [each for each in other._input.arguments if named.isdisjoint(each.names)]
        return ToolDefaults([*self._input.arguments, *further])

    def without(self, names: Iterable[str]) -> ToolDefaults:
        """Without arguments that are no part of a call, such as those that the framework injects."""
        hidden = set(names)
        return ToolDefaults(each for each in self._input.arguments if hidden.isdisjoint(each.names))


NO_DEFAULTS: Final = ToolDefaults()


def model_defaults(model: Any) -> ToolDefaults:
    """Of a pydantic model with which the framework validates the arguments."""
    return _defaults_of(TypeReader().shape_of(model))


def schema_defaults(schema: Any) -> ToolDefaults:
    """Of a JSON schema: what it says that the tool does."""
    return _defaults_of(SchemaReader(schema).shape_of(schema))


def function_defaults(function: Any, *, validates: bool = False) -> ToolDefaults:
    """Of the function behind a tool. validates: its arguments become objects of the annotated types."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):  # it has no readable signature
        return NO_DEFAULTS
    hints, reader = hints_of(function) if validates else {}, TypeReader()
    return ToolDefaults(
        reader.parameter(each, hints.get(each.name, each.annotation if validates else None))
        for each in parameters
        if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)
    )


def value_defaults(values: Mapping[str, Any]) -> ToolDefaults:
    """Of values that the framework keeps for a tool."""
    return ToolDefaults(Argument((name,), default_reader(value)) for name, value in values.items())


def _defaults_of(shape: Shape | None) -> ToolDefaults:
    return ToolDefaults(shape.arguments) if isinstance(shape, ObjectShape) else NO_DEFAULTS


@dataclass(frozen=True, slots=True)
class DefaultSources:
    """Where a framework takes the defaults of a tool from: `values` before `model` before `function` before `schema`."""

    model: Any = None  # of pydantic: it validates the arguments
    function: Any = None
    schema: Any = None  # a JSON schema, or a function that returns it if the tool makes a new one each time
    values: Mapping[str, Any] = field(default_factory=dict)
    validates: bool = False  # the function's arguments become objects of the annotated types
    hidden: Callable[[], Iterable[str]] = tuple  # arguments that are no part of a call

    @property
    def objects(self) -> tuple[Any, ...]:
        """A bound method is a new object each time."""
        function = self.function.__func__ if isinstance(self.function, MethodType) else self.function
        return (self.model, function, None if callable(self.schema) else self.schema)

    def readers(self) -> Iterator[Callable[[], ToolDefaults]]:
        """The functions that read them, the strongest first."""
        yield lambda: value_defaults(self.values)
        if self.model is not None:
            yield lambda: model_defaults(self.model)
            return
        if self.function is not None:
            yield lambda: function_defaults(self.function, validates=self.validates)
        yield lambda: schema_defaults(self.schema() if callable(self.schema) else self.schema)


@dataclass(frozen=True, slots=True)
class _Remembered:
    tool: weakref.ref[Any]
    objects: tuple[Callable[[], Any], ...]
    defaults: ToolDefaults

    def is_of(self, tool: Any, sources: DefaultSources) -> bool:
        held = (each() for each in self.objects)
        return self.tool() is tool and all(map(operator.is_, held, sources.objects))


_remembered: Final[dict[int, _Remembered]] = {}
"""By the tool's id: not all tools are hashable."""


def defaults_of(tool: Any, sources: DefaultSources) -> ToolDefaults:
    """Of a tool object: read once, and again when it has another function, model or schema."""
    known = _remembered.get(id(tool))
    if known is not None and known.is_of(tool, sources):
        return known.defaults
    defaults = NO_DEFAULTS
    for read in sources.readers():
        with _telling_of(tool):
            defaults = defaults.over(read())
    with _telling_of(tool):
        defaults = defaults.without(sources.hidden())
    try:
        held = weakref.ref(tool, functools.partial(_forget, id(tool)))
    except TypeError:  # an object of this class cannot be remembered
        return defaults
    _remembered[id(tool)] = _Remembered(held, tuple(map(_hold, sources.objects)), defaults)
    return defaults


@contextmanager
def _telling_of(tool: Any) -> Iterator[None]:
    """Around code of the tool's, which may fail."""
    try:
        yield
    except Exception:
        name = getattr(tool, "name", type(tool).__name__)
        _log.warning("hooks may not see all defaults of the tool %s", name, exc_info=True)


def _forget(id: int, tool: weakref.ref[Any]) -> None:
    known = _remembered.get(id)
    if known is not None and known.tool is tool:
        del _remembered[id]


def _hold(source: Any) -> Callable[[], Any]:
    """Weakly if possible: a function may hold its tool."""
    try:
        return weakref.ref(source)
    except TypeError:
        return lambda: source
