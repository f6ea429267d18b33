"""Read the shapes of arguments from Python types and from JSON schemas.

Reading calls no validator, and no factory but those of empty values: hooks see the type of every other factory.
"""

from __future__ import annotations

import dataclasses
import inspect
import logging
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

from hookline.frameworks.argument_shapes import (
    Argument,
    ItemsShape,
    ObjectShape,
    Shape,
    ValuesShape,
    default_reader,
    one_of,
)
from hookline.hooks.event import MISSING

_EMPTY_FACTORIES: Final = (dict, list, set, frozenset, tuple, str, int, float, bool)
_QUALIFIERS: Final = ("Required", "NotRequired", "ReadOnly", "ClassVar", "Final")
_NO_DEFAULT: Final = (inspect.Parameter.empty, dataclasses.MISSING, MISSING)
_log = logging.getLogger("hookline")


class TypeReader:
    """It remembers classes, because one may contain itself."""

    def __init__(self) -> None:
        self._known: dict[type, ObjectShape] = {}
        self._aliases: set[Any] = set()  # that are being read

    def parameter(self, parameter: inspect.Parameter, annotation: Any) -> Argument:
        """Of a function. It may be described by a field of pydantic."""
        name, default = parameter.name, parameter.default
        field = default if _is_field(default) else _field_in(annotation)
        if field is None:
            return self.argument((name,), default, annotation)
        given = field if default is inspect.Parameter.empty else default
        return self.argument(_names_of(None, name, field) or (name,), given, annotation)

    def argument(self, names: tuple[str, ...], default: Any, annotation: Any) -> Argument:
        """default: a value, a field of pydantic, or what says that there is none."""
        if _is_field(default):
            default = MISSING if _is_required(default) else self._default_of(default)
        is_required = any(default is each for each in _NO_DEFAULT)
        reader = None if is_required else default_reader(default)
        try:
            shape = self.shape_of(annotation)
        except Exception:  # an annotation may be anything
            _log.warning("hooks do not see the defaults inside of %s", names[0], exc_info=True)
            shape = None
        return Argument(names, reader, is_required, shape, _choices_of(annotation))

    def shape_of(self, annotation: Any) -> Shape | None:
        """None for values that have no names in them."""
        origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
        alias = next((each for each in (annotation, origin) if type(each).__name__ == "TypeAliasType"), None)
        if alias is not None:
            return self._alias_shape(alias)
        if isinstance(annotation, typing.NewType):
            return self.shape_of(annotation.__supertype__)
        if origin is typing.Annotated or getattr(origin, "_name", None) in _QUALIFIERS:
            return self.shape_of(parts[0])
        if origin is typing.Union or origin is types.UnionType:
            return one_of(map(self.shape_of, parts))
        if not isinstance(origin, type):
            return self._class_shape(annotation)
        if issubclass(origin, Mapping):
            value = self.shape_of(parts[-1])
            return None if value is None else ValuesShape(value)
        if issubclass(origin, Iterable):
            item = one_of(map(self.shape_of, parts))
            return None if item is None else ItemsShape(item)
        return self._class_shape(origin)

    def _alias_shape(self, alias: Any) -> Shape | None:
        if alias in self._aliases:  # it contains itself
            return None
        self._aliases.add(alias)
        try:
            return self.shape_of(alias.__value__)
        finally:
            self._aliases.discard(alias)

    def _class_shape(self, kind: Any) -> ObjectShape | None:
        if not isinstance(kind, type) or not (_fields_of(kind) or _is_record(kind)):
            return None
        if kind not in self._known:
            shape = self._known[kind] = ObjectShape()
            try:
                shape.arguments += self._arguments_of(kind)
            except Exception:  # a class may say anything about itself
                _log.warning("hooks do not see the defaults of %s", kind.__name__, exc_info=True)
        return self._known[kind]

    def _arguments_of(self, kind: Any) -> Iterator[Argument]:
        fields = _fields_of(kind)
        hints = {} if fields else hints_of(kind)
        for name, field in fields.items():
            names = _names_of(kind, name, field)
            if names:
                yield self.argument(names, field, getattr(field, "outer_type_", None) or field.annotation)
        if not fields and _is_typed_dict(kind):
            for name, hint in hints.items():
                argument = self.argument((name,), MISSING, hint)
                yield dataclasses.replace(argument, is_required=name in kind.__required_keys__)
        elif not fields:
            for each in dataclasses.fields(kind):
                if each.init:
                    yield self.argument((each.name,), self._default_of(each), hints.get(each.name))

    def _default_of(self, field: Any) -> Any:
        """Of a field of pydantic or of a dataclass."""
        factory = getattr(field, "default_factory", None)
        if factory is None or factory is dataclasses.MISSING:
            return field.default
        if any(factory is each for each in _EMPTY_FACTORIES):
            return factory()
        made = self.shape_of(factory)
        return made.fill({}) if made is not None and made.rank({}) else factory


class SchemaReader:
    """It remembers references, because a schema may contain itself."""

    def __init__(self, root: Any) -> None:
        self._root = root
        self._known: dict[str, Shape | None] = {}

    def shape_of(self, schema: Any) -> Shape | None:
        """None for values that have no names in them."""
        if not isinstance(schema, dict):
            return None
        if isinstance(schema.get("$ref"), str):
            return self._referenced_shape(schema["$ref"])
        named = self._named_values(schema)
        if named:
            return ObjectShape(named)
        chosen = [each for key in ("anyOf", "oneOf") for each in _list_of(schema.get(key))]
        if chosen:
            return one_of(map(self.shape_of, chosen))
        value, item = self.shape_of(schema.get("additionalProperties")), self._item_shape(schema)
        return ValuesShape(value) if value is not None else None if item is None else ItemsShape(item)

    def _referenced_shape(self, reference: str) -> Shape | None:
        if reference not in self._known:
            shape = self._known[reference] = ObjectShape()
            read = self.shape_of(self._find(reference))
            if isinstance(read, ObjectShape):
                shape.arguments += read.arguments
            else:
                self._known[reference] = read
        return self._known[reference]

    def _find(self, reference: str) -> Any:
        """Only inside of the schema: nothing is fetched."""
        found = self._root
        for part in reference.removeprefix("#").strip("/").split("/") if reference.startswith("#") else ("",):
            name = part.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, dict) else None
        return found

    def _named_values(self, schema: dict[str, Any]) -> list[Argument]:
        properties = schema.get("properties")
        required = _list_of(schema.get("required"))
        own = [
            Argument((name,), _default_in(value), name in required, self.shape_of(value), _choices_in(value))
            for name, value in (properties if isinstance(properties, dict) else {}).items()
            if isinstance(value, dict)
        ]
        inherited = [self.shape_of(each) for each in _list_of(schema.get("allOf"))]
        return [*own, *(one for each in inherited if isinstance(each, ObjectShape) for one in each.arguments)]

    def _item_shape(self, schema: dict[str, Any]) -> Shape | None:
        return one_of(map(self.shape_of, [schema.get("items"), *_list_of(schema.get("prefixItems"))]))


def _list_of(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _default_in(schema: dict[str, Any]) -> Callable[[], Any] | None:
    return default_reader(schema["default"]) if "default" in schema else None


def _choices_in(schema: dict[str, Any]) -> tuple[Any, ...]:
    return (schema["const"],) if "const" in schema else tuple(_list_of(schema.get("enum")))


def hints_of(owner: Any) -> dict[str, Any]:
    """The annotations of a function or class. Without those that name something unknown."""
    try:
        return typing.get_type_hints(owner, include_extras=True)
    except Exception:  # annotations are code of the program
        return {}


def _choices_of(annotation: Any) -> tuple[Any, ...]:
    if typing.get_origin(annotation) is typing.Annotated:
        return _choices_of(typing.get_args(annotation)[0])
    return typing.get_args(annotation) if typing.get_origin(annotation) is typing.Literal else ()


def _field_in(annotation: Any) -> Any:
    described = typing.get_args(annotation)[1:] if typing.get_origin(annotation) is typing.Annotated else ()
    return next((each for each in described if _is_field(each)), None)


def _is_record(kind: type) -> bool:
    return dataclasses.is_dataclass(kind) or _is_typed_dict(kind)


def _is_typed_dict(kind: type) -> bool:
    """Also one of typing_extensions."""
    return issubclass(kind, dict) and hasattr(kind, "__required_keys__")


def _fields_of(kind: type) -> Mapping[str, Any]:
    """Of a class of pydantic, of version 2 or 1."""
    for name in ("__pydantic_fields__", "model_fields", "__fields__"):
        fields = getattr(kind, name, None)
        if isinstance(fields, Mapping):
            return fields
    return {}


def _is_field(value: Any) -> bool:
    kind = type(value)
    return kind.__module__.startswith("pydantic") and kind.__name__ in ("FieldInfo", "ModelField")


def _is_required(field: Any) -> bool:
    if hasattr(field, "is_required"):
        return bool(field.is_required())
    is_empty = field.default is ... or type(field.default).__name__ == "UndefinedType"
    return bool(getattr(field, "required", is_empty and field.default_factory is None))


def _names_of(kind: Any, name: str, field: Any) -> tuple[str, ...]:
    """Under which a field can be given. One that is read from inside of another value has none."""
    alias = getattr(field, "validation_alias", None) or field.alias
    config = getattr(kind, "model_config", None) or getattr(kind, "__pydantic_config__", None) or {}
    options = [config.get(each) for each in ("populate_by_name", "validate_by_name")]
    options.append(getattr(getattr(kind, "__config__", None), "allow_population_by_field_name", False))
    given = [alias] if isinstance(alias, str) else list(getattr(alias, "choices", ()))
    names = [each for each in given if isinstance(each, str)]
    return tuple(dict.fromkeys([*names, name] if alias is None or any(options) else names))
