"""`dataclass`, `field` and `replace` as in the standard library, but a method is compiled when it is first called.

A process that decides about one event imports some hundred dataclasses and makes objects of twenty of them. The standard
library compiles up to eight methods of each class while it is imported, and needs `inspect` and `ast` for that: a third
of the time that a start took. Objects made here are as fast as those.

The standard library's `fields`, `asdict`, `is_dataclass` and `replace` accept these classes. What this package does not
use is missing: `InitVar`, `KW_ONLY`, `order`, `unsafe_hash`, `weakref_slot`, `hash` and `metadata` of a field.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MemberDescriptorType
from typing import TYPE_CHECKING, Any, TypeVar

Value = TypeVar("Value")
_FIELDS = "__lazy_fields__"
_MISSING: Any = object()
_FEW_OBJECTS = 20


class _Field:
    __slots__ = ("compare", "default", "default_factory", "init", "kw_only", "name", "repr", "type")

    name: str
    type: Any

    def __init__(
        self,
        *,
        default: Any = _MISSING,
        default_factory: Any = _MISSING,
        init: bool = True,
        repr: bool = True,
        compare: bool = True,
        kw_only: bool = _MISSING,
    ) -> None:
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.compare = compare
        self.kw_only = kw_only


class _Options:
    __slots__ = ("eq", "frozen", "init", "kw_only", "repr", "slots")

    def __init__(
        self,
        *,
        init: bool = True,
        repr: bool = True,
        eq: bool = True,
        frozen: bool = False,
        slots: bool = False,
        kw_only: bool = False,
    ) -> None:
        self.init = init
        self.repr = repr
        self.eq = eq
        self.frozen = frozen
        self.slots = slots
        self.kw_only = kw_only


class _Lazy:
    """A class attribute that is made when it is first read, and then takes this one's place."""

    __slots__ = ("make", "name", "owner")

    owner: type

    def __init__(self, name: str, make: Callable[[type], Any]) -> None:
        self.name = name
        self.make = make

    def __get__(self, instance: object, owner: type) -> Any:
        value = self.make(self.owner)
        setattr(self.owner, self.name, value)
        bind = getattr(type(value), "__get__", None)
        return value if bind is None else bind(value, instance, owner)


class _LazyInit(_Lazy):
    """`__init__`, compiled only for classes with many objects: it takes longer than making the first ones without."""

    __slots__ = ("calls",)

    def __init__(self, make: Callable[[type], Any]) -> None:
        super().__init__("__init__", make)
        self.calls = 0

    def __get__(self, instance: object, owner: type) -> Any:
        if instance is None or self.calls >= _FEW_OBJECTS:
            return super().__get__(instance, owner)
        self.calls += 1

        def init(*args: Any, **keywords: Any) -> None:
            values = _field_values(_fields_of(self.owner), args, keywords)
            if values is None:
                super(_LazyInit, self).__get__(instance, owner)(*args, **keywords)  # raises the usual TypeError
                return
            for name, value in values.items():
                object.__setattr__(instance, name, value)
            if hasattr(instance, "__post_init__"):
                instance.__post_init__()

        return init


def _field_values(fields: tuple[_Field, ...], args: tuple[Any, ...], keywords: dict[str, Any]) -> dict[str, Any] | None:
    """What each field of a new object is set to; None if the arguments do not fit."""
    given = iter(args)
    values: dict[str, Any] = {}
    used = 0
    for each in fields:
        value = next(given, _MISSING) if each.init and not each.kw_only else _MISSING
        if each.init and each.name in keywords:
            if value is not _MISSING:
                return None
            value = keywords[each.name]
            used += 1
        if value is _MISSING:
            value = each.default if each.default_factory is _MISSING else each.default_factory()
        if value is not _MISSING:
            values[each.name] = value
        elif each.init:
            return None
    return None if used < len(keywords) or next(given, _MISSING) is not _MISSING else values


def _dataclass(cls: type | None = None, /, **options: bool) -> Any:
    if cls is not None:
        return _add_members(cls, _Options())
    chosen = _Options(**options)
    return lambda cls: _add_members(cls, chosen)


def _replace(value: Value, /, **changes: Any) -> Value:
    for each in _fields_of(value):
        if not each.init:
            if each.name in changes:
                raise ValueError(f"field {each.name} is declared with init=False; it cannot be replaced")
        elif each.name not in changes:
            changes[each.name] = getattr(value, each.name)
    return value.__class__(**changes)


def field_names(value: object) -> tuple[str, ...]:
    """The names of its fields, also of a standard dataclass; none if it is no object of a dataclass."""
    if isinstance(value, type):
        return ()
    ours = getattr(value, _FIELDS, None)
    if ours is not None:
        return tuple(ours)
    if not hasattr(value, "__dataclass_fields__"):
        return ()
    from dataclasses import fields

    return tuple(each.name for each in fields(value))  # type: ignore[arg-type]


def _fields_of(value: object) -> tuple[_Field, ...]:
    return tuple(getattr(value, _FIELDS).values())


def _add_members(cls: type, options: _Options) -> type:
    own = {
        name: _read_field(cls.__dict__.get(name, _MISSING), name, annotation, options)
        for name, annotation in cls.__dict__.get("__annotations__", {}).items()  # noqa: RUF063, inspect is slow to import
        if "ClassVar" not in str(annotation)
    }
    fields: dict[str, _Field] = {}
    for base in cls.__mro__[-1:0:-1]:
        fields.update(base.__dict__.get(_FIELDS, ()))
    fields.update(own)
    added = {_FIELDS: fields, **_make_members(cls, tuple(fields.values()), options)}
    made = _recreate(cls, own, added) if options.slots else _extend(cls, own, added)
    for member in added.values():
        if isinstance(member, _Lazy):
            member.owner = made
    return made


def _read_field(default: Any, name: str, annotation: Any, options: _Options) -> _Field:
    read = default if type(default) is _Field else _Field(default=default)
    if not _is_hashable(type(read.default)):
        raise ValueError(f"mutable default {type(read.default)} for field {name} is not allowed: use default_factory")
    read.name, read.type = name, annotation
    if read.kw_only is _MISSING:
        read.kw_only = options.kw_only
    return read


def _is_hashable(cls: type) -> bool:
    """Without reading `cls.__hash__`, which would compile it."""
    return next(base.__dict__["__hash__"] for base in cls.__mro__ if "__hash__" in base.__dict__) is not None


def _make_members(cls: type, fields: tuple[_Field, ...], options: _Options) -> dict[str, Any]:
    """What the class gets, except what it defines itself."""
    written = cls.__dict__
    made: dict[str, Callable[[type], Any]] = {
        "__dataclass_fields__": _make_standard_fields,
        "__dataclass_params__": lambda cls: _make_standard_params(options),
    }
    if options.repr and "__repr__" not in written:
        made["__repr__"] = _make_repr
    if options.eq and "__eq__" not in written:
        made["__eq__"] = _make_eq
    if options.frozen:
        made |= {"__setattr__": _make_setattr, "__delattr__": _make_delattr}
    members: dict[str, Any] = {name: _Lazy(name, make) for name, make in made.items()}
    if options.init and "__init__" not in written:
        members["__init__"] = _LazyInit(_make_frozen_init if options.frozen else _make_init)
    members["__match_args__"] = tuple([each.name for each in fields if each.init and not each.kw_only])
    members["__replace__"] = _replace
    if options.eq and written.get("__hash__") is None:
        members["__hash__"] = _Lazy("__hash__", _make_hash) if options.frozen else None
    if options.frozen and options.slots:  # copies and pickles cannot use setattr
        members |= {"__getstate__": _get_state, "__setstate__": _set_state}
    return members


def _recreate(cls: type, own: dict[str, _Field], added: dict[str, Any]) -> type:
    """The class once more, with slots: only a new class can have them."""
    members = {name: value for name, value in cls.__dict__.items() if name not in own}
    members.pop("__dict__", None)
    members.pop("__weakref__", None)
    inherited: set[str] = set()
    for base in cls.__mro__[1:-1]:
        slots = base.__dict__.get("__slots__", ())
        inherited.update((slots,) if isinstance(slots, str) else slots)
    members |= added
    members["__slots__"] = tuple([name for name in own if name not in inherited])
    made = type(cls)(cls.__name__, cls.__bases__, members)
    made.__qualname__ = cls.__qualname__
    return made


def _extend(cls: type, own: dict[str, _Field], added: dict[str, Any]) -> type:
    for name, each in own.items():
        if each.default is not _MISSING:
            setattr(cls, name, each.default)
        elif name in cls.__dict__:
            delattr(cls, name)
    for name, member in added.items():
        setattr(cls, name, member)
    return cls


def _make_init(cls: type, *, frozen: bool = False) -> Callable[..., None]:
    names: dict[str, Any] = {"_set": object.__setattr__, "_missing": _MISSING}
    positional: list[str] = ["self"]
    keywords: list[str] = []
    lines: list[str] = []
    for each in _fields_of(cls):
        parameter = value = each.name
        if each.default is not _MISSING:
            names[f"_default_{each.name}"] = each.default
            parameter += f"=_default_{each.name}"
            value = each.name if each.init else f"_default_{each.name}"
        elif each.default_factory is not _MISSING:
            names[f"_make_{each.name}"] = each.default_factory
            parameter += "=_missing"
            value = f"_make_{each.name}()" + (f" if {each.name} is _missing else {each.name}" if each.init else "")
        elif not each.init:
            continue  # __post_init__ sets it
        if each.init:
            (keywords if each.kw_only else positional).append(parameter)
        slot = getattr(cls, each.name, None)
        if not frozen:
            lines.append(f"self.{each.name} = {value}")
        elif isinstance(slot, MemberDescriptorType):  # a third faster than object.__setattr__
            names[f"_set_{each.name}"] = slot.__set__
            lines.append(f"_set_{each.name}(self, {value})")
        else:
            lines.append(f"_set(self, {each.name!r}, {value})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    if keywords:
        positional += ["*", *keywords]
    return _compile(cls, f"__init__({', '.join(positional)})", lines or ["pass"], names)


def _make_frozen_init(cls: type) -> Callable[..., None]:
    return _make_init(cls, frozen=True)


def _make_repr(cls: type) -> Callable[..., str]:
    from reprlib import recursive_repr

    shown = ", ".join(f"{each.name}={{self.{each.name}!r}}" for each in _fields_of(cls) if each.repr)
    line = f'return f"{{self.__class__.__qualname__}}({shown})"'
    return recursive_repr()(_compile(cls, "__repr__(self)", [line], {}))


def _make_eq(cls: type) -> Callable[..., bool]:
    same = f"{_compared_values(cls, 'self')} == {_compared_values(cls, 'other')}"
    lines = ["if other.__class__ is self.__class__:", f" return {same}", "return NotImplemented"]
    return _compile(cls, "__eq__(self, other)", lines, {})


def _make_hash(cls: type) -> Callable[..., int]:
    return _compile(cls, "__hash__(self)", [f"return hash({_compared_values(cls, 'self')})"], {})


def _compared_values(cls: type, of: str) -> str:
    return "(" + "".join(f"{of}.{each.name}," for each in _fields_of(cls) if each.compare) + ")"


def _compile(cls: type, head: str, lines: list[str], names: dict[str, Any]) -> Callable[..., Any]:
    made: dict[str, Any] = {}
    exec(f"def {head}:\n " + "\n ".join(lines), names, made)
    function: Callable[..., Any] = next(iter(made.values()))
    function.__qualname__ = f"{cls.__qualname__}.{function.__name__}"
    function.__module__ = cls.__module__
    return function


def _make_setattr(cls: Any) -> Callable[..., None]:
    def __setattr__(self: Any, name: str, value: Any) -> None:
        _refuse_change(cls, self, name, "assign to")
        super(cls, self).__setattr__(name, value)

    return __setattr__


def _make_delattr(cls: Any) -> Callable[..., None]:
    def __delattr__(self: Any, name: str) -> None:
        _refuse_change(cls, self, name, "delete")
        super(cls, self).__delattr__(name)

    return __delattr__


def _refuse_change(cls: type, value: object, name: str, change: str) -> None:
    if type(value) is cls or name in getattr(cls, _FIELDS):
        from dataclasses import FrozenInstanceError

        raise FrozenInstanceError(f"cannot {change} field {name!r}")


def _get_state(self: object) -> list[Any]:
    return [getattr(self, each.name) for each in _fields_of(self)]


def _set_state(self: object, state: list[Any]) -> None:
    for each, value in zip(_fields_of(self), state, strict=True):
        object.__setattr__(self, each.name, value)


def _make_standard_fields(cls: type) -> dict[str, Any]:
    """What the standard library's functions read."""
    import dataclasses

    made: dict[str, Any] = {}
    for each in _fields_of(cls):
        options: dict[str, Any] = {
            "init": each.init,
            "repr": each.repr,
            "compare": each.compare,
            "kw_only": each.kw_only,
        }
        if each.default is not _MISSING:
            options["default"] = each.default
        if each.default_factory is not _MISSING:
            options["default_factory"] = each.default_factory
        standard: Any = dataclasses.field(**options)
        standard.name, standard.type = each.name, each.type
        standard._field_type = dataclasses._FIELD  # type: ignore[attr-defined]
        made[each.name] = standard
    return made


def _make_standard_params(options: _Options) -> Any:
    """A standard dataclass may inherit from one of ours: it then asks whether that is frozen."""
    import dataclasses

    make: Any = dataclasses.dataclass
    like = make(type("Like", (), {}), init=options.init, repr=options.repr, eq=options.eq, frozen=options.frozen)
    return like.__dataclass_params__


if TYPE_CHECKING:
    from dataclasses import dataclass, field, replace
else:
    dataclass, field, replace = _dataclass, _Field, _replace

__all__ = ["dataclass", "field", "field_names", "replace"]
