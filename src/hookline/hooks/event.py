"""An event with its facts, and paths to facts."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final

from hookline.errors import InvalidEvent
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import copy, json, lazy_pattern

FactPath = tuple[str | int, ...]

EVERY_ITEM: Final = "*"
"""A step of a path that stands for every item of a list and every value of a mapping."""
_STEP: Final = lazy_pattern(r'"(?:[^"\\]|\\.)*"(?![^.])|[^.]+')


class _Sentinel:
    """A value that cannot be mistaken for a fact."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return self._name

    def __deepcopy__(self, memo: object) -> _Sentinel:
        return self


MISSING: Final = _Sentinel("MISSING")
REMOVED: Final = _Sentinel("REMOVED")

Changes = tuple[tuple[FactPath, Any], ...]  # (path, new value or REMOVED)


class _EventCache:
    """What conditions computed from an event, so that many conditions compute it once."""

    __slots__ = ("cache",)
    cache: dict[Hashable, Any]  # not set until it is needed: most events never need it


@dataclass(frozen=True, slots=True, init=False)
class Event(_EventCache):
    """Never mutate the facts of a shared event; `with_changes` makes a new one.

    Raises InvalidEvent if the facts are not a mapping, or the tool in them does not have the shape that hooks read.
    """

    choices: ClassVar[Mapping[Hashable, int]] = MappingProxyType({})
    """The reading that counts, for each source that can be read in several ways. See hookline.hooks.readings."""

    name: str
    facts: dict[str, Any]

    def __init__(self, name: str, facts: dict[str, Any]) -> None:
        try:  # the usual event, whose facts need no closer look; methods would take three times as long
            tool = facts["tool"] if type(facts) is dict else None
            if type(tool) is not dict or type(tool["name"]) is not str or type(tool["input"]) is not dict:
                check_facts(facts)
        except KeyError:
            if "tool" in facts:
                check_facts(facts)
        _set_name(self, name)
        _set_facts(self, facts)

    def read(self, path: FactPath) -> Any:
        """The fact at `path`, or MISSING. Negative indexes count from the end. Attributes are never read."""
        return read_path(self.facts, path)

    def with_changes(self, changes: Changes) -> Event:
        """Applies the changes in order. Removing a missing fact changes nothing."""
        facts: Any = self.facts
        for path, value in changes:
            if value is not MISSING and (value is not REMOVED or read_path(facts, path) is not MISSING):
                facts = _with_value_at(facts, path, value)
        changed = Event.__new__(Event)
        _set_name(changed, self.name)
        _set_facts(changed, facts)
        return changed

    def differs_from(self, earlier: Event, changes: Changes) -> bool:
        """True if `changes`, which turned the earlier event into this one, changed any value."""
        return any(
            not deep_equal(_affected_value(earlier.facts, path), _affected_value(self.facts, path))
            for path, _ in changes
        )


_set_name: Final = Event.__dict__["name"].__set__  # the fastest way to set the field of a frozen class
_set_facts: Final = Event.__dict__["facts"].__set__


def check_facts(facts: Any) -> None:
    """Raises InvalidEvent for facts in which a guard could not find what it guards."""
    if not isinstance(facts, dict):
        raise InvalidEvent(f"the facts of an event are a mapping, not {_type_name(facts)}")
    tool = facts.get("tool", _NO_TOOL)
    if not isinstance(tool, dict):
        raise InvalidEvent(f'tool is {_type_name(tool)}. Write {{"tool": {{"name": "bash", "input": {{…}}}}}}')
    name, input = tool.get("name", ""), tool.get("input", _NO_TOOL)
    if not isinstance(name, str):
        raise InvalidEvent(f"tool.name is {_type_name(name)}. It must be text")
    if not isinstance(input, dict):
        raise InvalidEvent(f'tool.input is {_type_name(input)}. Write the arguments by name: {{"command": "ls"}}')


_NO_TOOL: Final[dict[str, Any]] = {}
_PLAIN_TYPES: Final = frozenset((str, int, float, bool, type(None)))
_TYPE_NAMES: Final[dict[type, str]] = {str: "text", list: "a list", dict: "a mapping", bool: "true or false"}


def _type_name(value: Any) -> str:
    if value is None:
        return "null"
    return _TYPE_NAMES.get(type(value)) or ("a number" if isinstance(value, (int, float)) else type(value).__name__)


def read_path(value: Any, path: FactPath) -> Any:
    for step in path:
        if isinstance(value, dict):
            value = value.get(step, MISSING) if isinstance(step, str) else value.get(str(step), MISSING)
        elif isinstance(value, (list, tuple)):
            if not isinstance(step, int) or not -len(value) <= step < len(value):
                return MISSING
            value = value[step]
        else:
            return MISSING
    return value


def read_all(value: Any, path: FactPath) -> Iterator[Any]:
    """Every value at `path`, in which `*` stands for every item. Missing values are left out."""
    if EVERY_ITEM not in path:
        found = read_path(value, path)
        if found is not MISSING:
            yield found
        return
    at = path.index(EVERY_ITEM)
    parent = read_path(value, path[:at])
    items = parent.values() if isinstance(parent, dict) else parent if isinstance(parent, (list, tuple)) else ()
    for item in items:
        yield from read_all(item, path[at + 1 :])


def _affected_value(facts: Any, path: FactPath) -> Any:
    """What a change at `path` may affect: the whole list if it is in one, because the other items move."""
    parent = read_path(facts, path[:-1])
    return parent if isinstance(parent, (list, tuple)) else read_path(facts, path)


def parse_path(text: str) -> FactPath:
    """`files.0.path` → ("files", 0, "path"). A step in double quotes is a name as in JSON: `"a.b"`, `"0"`, `""`."""
    if '"' not in text:
        return tuple(int(step) if _is_index(step) else step for step in text.split(".") if step)
    return tuple(_parse_step(found[0]) for found in _STEP.finditer(text))


_SHORT_PATHS: Final[dict[str, FactPath]] = {
    "input": ("tool", "input"),
    "result": ("tool", "result"),
    "error": ("tool", "error"),
}
_ROOTS: Final = {
    "host", "session", "agent", "thread", "user", "execution", "cwd", "workspace", "time", "tool", "prompt", "stop",
    "turn", "context", "messages", "message", "metadata", "system", "request", "error", "approval", "subagent", "notification",
    "trigger", "decision",
}  # fmt: skip
FACT_ROOTS: Final = frozenset((*_SHORT_PATHS, *_ROOTS))
"""The first words of fact names."""


def fact_path(name: str) -> FactPath | None:
    """`input.path` is short for `tool.input.path`. None if no event has such a fact."""
    path = parse_path(name)
    if not path or not isinstance(path[0], str):
        return None
    if path[0] == "error" and path[1:2] in (("code",), ("message",)):
        return path
    if path[0] in _SHORT_PATHS:
        return (*_SHORT_PATHS[path[0]], *path[1:])
    return path if path[0] in _ROOTS else None


def _parse_step(step: str) -> str | int:
    if step.startswith('"'):
        try:
            return str(json.loads(step))
        except ValueError:
            return step
    return int(step) if _is_index(step) else step


def path_source(path: FactPath) -> str:
    """The text that `parse_path` reads as this path."""
    return ".".join(_step_source(step) for step in path)


def _step_source(step: str | int) -> str:
    is_plain = isinstance(step, int) or (step and "." not in step and '"' not in step and not _is_index(step))
    return str(step) if is_plain else json.dumps(step, ensure_ascii=False)


def path_text(path: FactPath) -> str:
    return ".".join(str(step) for step in path)


def overlaps(one: FactPath, other: FactPath) -> bool:
    """True if a change at one path can be seen at the other."""
    return all(a == b or EVERY_ITEM in (a, b) for a, b in zip(one, other, strict=False))


def touches(paths: Iterable[FactPath], changes: Changes) -> bool:
    """True if the changes may be seen at one of the paths. All items of a list count as one, because they move."""
    return any(_may_overlap(path, changed) for path in paths for changed, _ in changes)


def _may_overlap(one: FactPath, other: FactPath) -> bool:
    return all(
        a == b or isinstance(a, int) or isinstance(b, int) or EVERY_ITEM in (a, b)
        for a, b in zip(one, other, strict=False)
    )


def deep_equal(one: Any, other: Any) -> bool:
    """Deep equality in which True is not 1. Works at any nesting depth."""
    pairs = [(one, other)]
    while pairs:
        a, b = pairs.pop()
        if a is b:
            continue
        if isinstance(a, dict) and isinstance(b, dict):
            if a.keys() != b.keys():
                return False
            pairs += [(a[key], b[key]) for key in a]
        elif isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
            if len(a) != len(b):
                return False
            pairs += zip(a, b, strict=True)
        elif a != b or isinstance(a, bool) != isinstance(b, bool):
            return False
    return True


def copy_fact(value: Any) -> Any:
    """Like copy.deepcopy, but several times as fast for plain data, which facts nearly always are."""
    try:
        return _copy_plain(value)
    except RecursionError:  # it contains itself
        return copy.deepcopy(value)


def _copy_plain(value: Any) -> Any:
    kind = type(value)
    if kind is dict:
        if _PLAIN_TYPES.issuperset(map(type, value.values())):
            return value.copy()
        return {key: each if type(each) in _PLAIN_TYPES else _copy_plain(each) for key, each in value.items()}
    if kind is list:
        return [each if type(each) in _PLAIN_TYPES else _copy_plain(each) for each in value]
    return value if kind in _PLAIN_TYPES else copy.deepcopy(value)


def _is_index(step: str) -> bool:
    digits = step[1:] if step.startswith("-") else step
    return len(digits) < 10 and digits.isascii() and digits.isdigit()


def _with_value_at(value: Any, path: FactPath, new: Any) -> Any:
    """`value` with `new` at `path`. Copies only the containers on the path, and creates missing mappings."""
    if not path:
        return new
    step, rest = path[0], path[1:]
    if isinstance(value, (list, tuple)):
        return _list_with_value_at(list(value), step, rest, new)
    copied = dict(value) if isinstance(value, dict) else {}
    key = str(step)
    if new is REMOVED and not rest:
        copied.pop(key, None)
        return copied
    copied[key] = _with_value_at(copied.get(key), rest, new)
    return copied


def _list_with_value_at(value: list[Any], step: str | int, rest: FactPath, new: Any) -> list[Any]:
    if not isinstance(step, int) or not -len(value) <= step < len(value):
        return value
    if new is REMOVED and not rest:
        del value[step]
    else:
        value[step] = _with_value_at(value[step], rest, new)
    return value
