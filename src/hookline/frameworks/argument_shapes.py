"""What the arguments of a tool have in them: names, defaults, and values with names of their own."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from typing import Any, Final, Protocol

from hookline.hooks.event import deep_equal
from hookline.hosts.python.guard import to_plain_value
from hookline.lazy_dataclasses import dataclass

_IMMUTABLE: Final = (str, int, float, bool, type(None))
_DEPTH: Final = 2  # of defaults inside of defaults: a schema may contain itself


class Shape(Protocol):
    """Of plain values."""

    def fill(self, value: Any, depth: int = _DEPTH) -> Any:
        """The value with the defaults that it leaves out, and with those inside of them."""
        ...

    def leave_out(self, left: Any, given: Any) -> Any:
        """What to give so that it becomes `left` with its defaults. Of `given`, what is the same stays as it is."""
        ...

    def rank(self, value: Any) -> int:
        """How well the value fits, for a choice between shapes; 0 if it does not."""
        ...

    def parts(self) -> Iterable[Argument | Shape]: ...


@dataclass(frozen=True, slots=True)
class Argument:
    names: tuple[str, ...]  # under which it can be given; the first is shown
    read_default: Callable[[], Any] | None = None  # plain data; for each call, because a mutable default may change
    is_required: bool = False
    shape: Shape | None = None
    choices: tuple[Any, ...] = ()  # the only values, if there are some

    def name_in(self, given: dict[str, Any]) -> str | None:
        return next((name for name in self.names if name in given), None)

    def fill(self, value: Any, depth: int = _DEPTH) -> Any:
        return value if self.shape is None else self.shape.fill(value, depth)

    def filled_default(self, depth: int = _DEPTH) -> Any:
        default = None if self.read_default is None else self.read_default()
        return self.fill(default, depth - 1) if depth else default

    def leave_out(self, left: Any, given: Any) -> Any:
        if self.shape is None:
            return left
        return given if deep_equal(self.shape.fill(given), left) else self.shape.leave_out(left, given)

    def is_default(self, value: Any) -> bool:
        return self.read_default is not None and deep_equal(self.filled_default(), value)

    def accepts(self, value: Any) -> bool:
        return not self.choices or any(deep_equal(each, value) for each in self.choices)


class ObjectShape:
    """A mapping with known names. They may be added later: a model may contain itself."""

    def __init__(self, arguments: Iterable[Argument] = ()) -> None:
        self.arguments = list(arguments)

    def fill(self, value: Any, depth: int = _DEPTH) -> Any:
        if not isinstance(value, dict) or not self.arguments:
            return value
        filled = dict(value)
        for each in self.arguments:
            name = each.name_in(value)
            if name is not None:
                filled[name] = each.fill(value[name], depth)
            elif each.read_default is not None:
                filled[each.names[0]] = each.filled_default(depth)
        return filled

    def leave_out(self, left: Any, given: Any) -> Any:
        if not isinstance(left, dict) or not isinstance(given, dict):
            return left
        known = {name: each for each in self.arguments for name in each.names}
        kept = dict(left)
        for name in left.keys() & known.keys():
            if name in given:
                kept[name] = known[name].leave_out(left[name], given[name])
            elif known[name].is_default(left[name]):
                del kept[name]
        return kept

    def rank(self, value: Any) -> int:
        if not isinstance(value, dict):
            return 0
        named = [(each, each.name_in(value)) for each in self.arguments]
        if any(each.is_required if name is None else not each.accepts(value[name]) for each, name in named):
            return 0
        return 1 + sum(name is not None for _, name in named)

    def parts(self) -> Iterable[Argument | Shape]:
        return self.arguments


@dataclass(frozen=True, slots=True)
class ItemsShape:
    item: Shape

    def fill(self, value: Any, depth: int = _DEPTH) -> Any:
        return [self.item.fill(each, depth) for each in value] if isinstance(value, list) else value

    def leave_out(self, left: Any, given: Any) -> Any:
        if not isinstance(left, list) or not isinstance(given, list):
            return left
        if len(left) == len(given):
            return [self.item.leave_out(*each) for each in zip(left, given, strict=True)]
        own = [(self.item.fill(each), each) for each in given]  # hooks added or removed some
        return [next((item for filled, item in own if deep_equal(filled, each)), each) for each in left]

    def rank(self, value: Any) -> int:
        return int(isinstance(value, list))

    def parts(self) -> Iterable[Argument | Shape]:
        return (self.item,)


@dataclass(frozen=True, slots=True)
class ValuesShape:
    """A mapping with any names."""

    value: Shape

    def fill(self, value: Any, depth: int = _DEPTH) -> Any:
        if not isinstance(value, dict):
            return value
        return {name: self.value.fill(each, depth) for name, each in value.items()}

    def leave_out(self, left: Any, given: Any) -> Any:
        if not isinstance(left, dict) or not isinstance(given, dict):
            return left
        return {name: self.value.leave_out(each, given[name]) if name in given else each for name, each in left.items()}

    def rank(self, value: Any) -> int:
        return int(isinstance(value, dict))

    def parts(self) -> Iterable[Argument | Shape]:
        return (self.value,)


@dataclass(frozen=True, slots=True)
class ChoiceShape:
    shapes: tuple[Shape, ...]

    def fill(self, value: Any, depth: int = _DEPTH) -> Any:
        best = self._best(value)
        return value if best is None else best.fill(value, depth)

    def leave_out(self, left: Any, given: Any) -> Any:
        best = self._best(given)
        return left if best is None or best is not self._best(left) else best.leave_out(left, given)

    def _best(self, value: Any) -> Shape | None:
        best = max(self.shapes, key=lambda shape: shape.rank(value))  # of equal ones the first, as pydantic chooses
        return best if best.rank(value) else None

    def rank(self, value: Any) -> int:
        return max(shape.rank(value) for shape in self.shapes)

    def parts(self) -> Iterable[Argument | Shape]:
        return self.shapes


def one_of(shapes: Iterable[Shape | None]) -> Shape | None:
    found = tuple(each for each in shapes if each is not None)
    return ChoiceShape(found) if len(found) > 1 else next(iter(found), None)


def has_defaults(argument: Argument) -> bool:
    """Its own default, or defaults in its values."""
    waiting: list[Argument | Shape] = [argument]
    seen = set[int]()
    while waiting:
        each = waiting.pop()
        if not isinstance(each, Argument):
            waiting += [] if id(each) in seen else each.parts()
            seen.add(id(each))
        elif each.read_default is not None:
            return True
        elif each.shape is not None:
            waiting.append(each.shape)
    return False


def default_reader(default: Any) -> Callable[[], Any]:
    """Holds only plain data and weak references: a default may hold its tool."""
    if type(default) in _IMMUTABLE:
        return lambda: default
    plain = _to_plain_default(default)
    if type(default) in (list, dict) and _is_data(default):
        return lambda: _to_plain_default(default)
    try:
        held = weakref.ref(default)
    except TypeError:
        return lambda: to_plain_value(plain)
    return lambda: plain if held() is None else _to_plain_default(held())


def _is_data(value: Any) -> bool:
    if isinstance(value, dict):
        value = [*value, *value.values()]
    return all(map(_is_data, value)) if type(value) is list else type(value) in _IMMUTABLE


def _to_plain_default(default: Any) -> Any:
    """A default that is no data is shown as its type, like every other value."""
    try:
        plain = to_plain_value(default)
        return sorted(plain, key=repr) if isinstance(default, set | frozenset) else plain  # as in every other process
    except Exception:  # the object's own code
        return f"<{type(default).__name__}>"
