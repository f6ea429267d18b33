"""Whether an input fits a JSON Schema, as far as tools need it. What a schema says in other words is not looked at."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any, Final

_DEEPEST: Final = 32
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "array": (list, tuple),
    "object": (dict,),
    "null": (type(None),),
}


def wrong_input(schema: Mapping[str, Any], input: object) -> str | None:
    """What is wrong, naming the field; None if nothing is."""
    return _wrong(schema, input, "", 0)


def _wrong(schema: Any, value: object, where: str, depth: int) -> str | None:
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return None
    options = schema.get("anyOf")
    if isinstance(options, list) and options and all(_wrong(each, value, where, depth + 1) for each in options):
        return f"{where or 'the input'} is none of what it may be"
    return (
        _wrong_type(schema.get("type"), value, where)
        or _wrong_choice(schema, value, where)
        or _wrong_bounds(schema, value, where)
        or _wrong_fields(schema, value, where, depth)
        or _wrong_items(schema, value, where, depth)
    )


def _wrong_type(type: Any, value: object, where: str) -> str | None:
    known = [each for each in (type if isinstance(type, list) else [type]) if each in _TYPES]
    if not known or any(_is(value, each) for each in known):
        return None
    article = "an" if known[0][0] in "aeiou" else "a"
    return f"{where or 'the input'} is not {article} {' or '.join(known)}"


def _is(value: object, type: str) -> bool:
    if isinstance(value, bool):
        return type == "boolean"
    if type == "integer" and isinstance(value, float):
        return value.is_integer()
    return isinstance(value, _TYPES[type])


def _wrong_choice(schema: Mapping[str, Any], value: object, where: str) -> str | None:
    choices = [schema["const"]] if "const" in schema else schema.get("enum")
    if not isinstance(choices, list) or any(value == each and _alike(value, each) for each in choices):
        return None
    return f"{where or 'the input'} is not one of {', '.join(map(str, choices))}"


def _alike(one: object, other: object) -> bool:
    return isinstance(one, bool) == isinstance(other, bool)


def _wrong_bounds(schema: Mapping[str, Any], value: object, where: str) -> str | None:
    size = value if isinstance(value, int | float) else len(value) if isinstance(value, str | list) else None
    if size is None or isinstance(value, bool):
        return None
    kind = "Length" if isinstance(value, str) else "Items" if isinstance(value, list) else ""
    least, most = (schema.get(f"min{kind}" if kind else "minimum"), schema.get(f"max{kind}" if kind else "maximum"))
    unit = {"Length": " characters", "Items": " entries"}.get(kind, "")
    if isinstance(least, int | float) and not size >= least:
        return f"{where} must be at least {least}{unit}"
    if isinstance(most, int | float) and not size <= most:
        return f"{where} must be at most {most}{unit}"
    return None


def _wrong_fields(schema: Mapping[str, Any], value: object, where: str, depth: int) -> str | None:
    known = schema.get("properties")
    if not isinstance(value, dict) or not isinstance(known, Mapping):
        return None
    start = f"{where}." if where else ""
    missing = [name for name in schema.get("required") or () if name not in value]
    unknown = [name for name in value if name not in known] if schema.get("additionalProperties") is False else []
    if unknown:
        return f"there is no field {start}{unknown[0]}{_instead(unknown[0], [*missing, *known])}"
    if missing:
        return f"{start}{missing[0]} is missing"
    return next(
        (
            wrong
            for name, held in value.items()
            if name in known and (wrong := _wrong(known[name], held, start + str(name), depth + 1))
        ),
        None,
    )


def _instead(name: object, known: list[str]) -> str:
    near = difflib.get_close_matches(str(name)[:100], known, 1, 0.5)
    return f"; did you mean {near[0]}?" if near else f"; it has {', '.join(dict.fromkeys(known)) or 'none'}"


def _wrong_items(schema: Mapping[str, Any], value: object, where: str, depth: int) -> str | None:
    if not isinstance(value, list) or "items" not in schema:
        return None
    checks = (_wrong(schema["items"], each, f"{where}[{at}]", depth + 1) for at, each in enumerate(value))
    return next((wrong for wrong in checks if wrong), None)
