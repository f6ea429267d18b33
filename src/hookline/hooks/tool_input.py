"""The fields of a tool's input, by the names of any host and any dialect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from hookline.errors import AmbiguousField
from hookline.hooks.event import MISSING, Event, FactPath, deep_equal, read_path
from hookline.hooks.protocols import AmbiguousTexts
from hookline.hooks.tool_name import likely_kind as tool_kind
from hookline.hooks.tools import FIELD_NAMES, NATIVE, VOCABULARIES, ToolKind, Vocabulary


@dataclass(frozen=True, slots=True)
class ToolField:
    """The subject of a matcher on an input field, by the vocabulary's name. Only text can match."""

    path: FactPath  # within the input
    vocabulary: Vocabulary = NATIVE
    is_cacheable = False
    _name: str | int | None = field(init=False, compare=False, repr=False)  # if the path is one step
    _other_names: frozenset[str] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_name", self.path[0] if len(self.path) == 1 else None)
        object.__setattr__(self, "_other_names", _OTHER_NAMES.get(self.path[0], _NO_NAMES) if self.path else _NO_NAMES)

    def texts(self, event: Event) -> tuple[str, ...]:
        tool = event.facts.get("tool")
        input = tool.get("input") if isinstance(tool, dict) else None
        if isinstance(input, dict) and self._name in input and self._other_names.isdisjoint(input):  # almost always
            value = input[self._name]
            return (value,) if isinstance(value, str) else ()
        values = field_values(event, self.path)
        if len(values) == 1:
            return values if isinstance(values[0], str) else ()
        return AmbiguousTexts(value for value in values if isinstance(value, str))

    def interpretations(self, event: Event) -> tuple[tuple[str, ...], ...]:
        values = field_values(event, self.path)
        return tuple((value,) if isinstance(value, str) else () for value in values) if len(values) > 1 else ()

    def reads(self) -> tuple[FactPath, ...]:
        return (
            ("tool", "input", *self.path),
            *(("tool", "input", name) for name in _OTHER_NAMES.get(self.path[0], ())),
        )

    def __str__(self) -> str:
        return "input." + ".".join(str(step) for step in self.path)


def field_value(event: Event, path: FactPath) -> Any:
    """The value at `path` of the tool's input, by the host's name for the field."""
    tool = event.facts.get("tool")
    input = tool.get("input", MISSING) if isinstance(tool, dict) else MISSING
    if not path or not isinstance(input, dict):
        return input if not path else MISSING
    name = path[0]
    if len(path) == 1 and name in input and _OTHER_NAMES.get(name, _NO_NAMES).isdisjoint(input):
        return input[name]
    return read_path(input, (tool_field_name(event, str(name)), *path[1:]))


def field_values(event: Event, path: FactPath) -> tuple[Any, ...]:
    """Each value that the tool may use for the field.

    There are several only if the input has the field under several names with different values, and it is unknown
    which one the host reads.
    """
    tool = event.facts.get("tool")
    input = tool.get("input") if isinstance(tool, dict) else None
    if (
        len(path) == 1
        and isinstance(input, dict)
        and path[0] in input
        and _OTHER_NAMES.get(path[0], _NO_NAMES).isdisjoint(input)
    ):
        return (input[path[0]],)
    value = field_value(event, path)
    if not path or not isinstance(input, dict):
        return (value,)
    rivals = (read_path(input, (name, *path[1:])) for name in _ambiguous_names(event, str(path[0])))
    values = (value, *(other for other in rivals if not deep_equal(other, value)), *_listed_paths(event, path))
    return values if len(values) == 1 or value is not MISSING else values[1:]


def values_at(event: Event, path: FactPath) -> tuple[Any, ...]:
    """Like value_at, but every value that the tool may use."""
    return field_values(event, path[2:]) if path[:2] == ("tool", "input") and len(path) > 2 else (event.read(path),)


def unanimous(what: str, answers: Iterable[bool]) -> bool:
    """The answer, if it is the same for every value that `what` may have. Raises AmbiguousField otherwise."""
    distinct = set(answers)
    if len(distinct) > 1:
        raise AmbiguousField(f"{what} is given by several names, and it is unknown which one the tool reads")
    return True in distinct


def value_at(event: Event, path: FactPath) -> Any:
    """The fact at `path`. A field of the tool's input may have any host's name."""
    return field_value(event, path[2:]) if path[:2] == ("tool", "input") and len(path) > 2 else event.read(path)


def tool_field_name(event: Event, name: str) -> str:
    """The tool's own name for the field that some vocabulary calls `name`; `name` itself if it has none."""
    tool = event.facts["tool"]
    host = event.read(("host", "name"))
    return choose_field_name(tool["input"], name, tool_kind(tool), host if isinstance(host, str) else "")


def tool_field_names(event: Event, name: str) -> tuple[str, ...]:
    """Like tool_field_name, but every name that the tool may read, if it is unknown which."""
    return _ambiguous_names(event, name) or (tool_field_name(event, name),)


def choose_field_name(input: Mapping[str, Any], name: str, kind: ToolKind, host: str = "") -> str:
    """If the input has the field under several names, the host's own name wins: its tools read no other."""
    names = _SYNONYMS[kind].get(name, ())
    given = [other for other in names if other in input]
    if len(given) < 2:
        return given[0] if given else name
    own = _host_field_name(names[0], kind, host)
    return own if own in given else name if name in given else given[0]


def _ambiguous_names(event: Event, name: str) -> tuple[str, ...]:
    """The names under which the input has the field, if the host's own name is unknown or not among them."""
    tool = event.facts["tool"]
    host = event.read(("host", "name"))
    kind = tool_kind(tool)
    names = _SYNONYMS[kind].get(name, ())
    given = tuple(other for other in names if other in tool["input"])
    own = _host_field_name(names[0], kind, host) if names and isinstance(host, str) else None
    return () if own in given else given


def _listed_paths(event: Event, path: FactPath) -> tuple[Any, ...]:
    """The paths of a tool that reads several files: a hook may be about any of them."""
    tool = event.facts["tool"]
    if len(path) > 1 or tool_kind(tool) is not ToolKind.READ or path[0] not in _READ_PATH_NAMES:
        return ()
    given = tool["input"].get(_PATHS_FIELD)
    return tuple(given) if isinstance(given, list) else () if given is None else (given,)


def _host_field_name(ours: str, kind: ToolKind, host: str) -> str | None:
    """The host's name for the field, if known."""
    spoken = VOCABULARIES.get(host.replace("-", "_"))
    if spoken is None or (ours == "path" and kind not in _SINGLE_FILE_KINDS):
        return None  # a host may have another name for the path of a folder
    return spoken.fields.get(ours, ours)


# kind → any name of a field → all of its names, ours first
_SYNONYMS: Final[dict[ToolKind, dict[str, tuple[str, ...]]]] = {
    kind: {name: (ours, *others) for ours, others in reversed(fields.items()) for name in (ours, *others)}
    for kind, fields in FIELD_NAMES.items()
}
_SINGLE_FILE_KINDS: Final = (ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT)
_PATHS_FIELD: Final = "paths"
_READ_PATH_NAMES: Final = frozenset(_SYNONYMS[ToolKind.READ]["path"])
_NO_NAMES: Final[frozenset[str]] = frozenset()


def _collect_other_names(name: str) -> frozenset[str]:
    """All other names of the field, for every kind of tool."""
    list_name = {_PATHS_FIELD} if name in _READ_PATH_NAMES else _NO_NAMES
    return frozenset(other for names in _SYNONYMS.values() for other in names.get(name, ())) - {name} | list_name


_OTHER_NAMES: Final[dict[str | int, frozenset[str]]] = {
    name: _collect_other_names(name) for names in _SYNONYMS.values() for name in names
}


def to_vocabulary(event: Event, vocabulary: Vocabulary) -> Any:
    """The tool's input with its fields named as the vocabulary names them."""
    tool = event.facts.get("tool")
    if not isinstance(tool, dict):
        return MISSING
    input, kind = tool.get("input", MISSING), tool_kind(tool)
    if not isinstance(input, dict):
        return input
    renamed: dict[str, Any] = {}
    for name, value in input.items():
        names = _SYNONYMS[kind].get(name)
        theirs = vocabulary.fields.get(names[0], names[0]) if names else name
        renamed[name if theirs in input or theirs in renamed else theirs] = value
    return renamed


def to_host_fields(event: Event, changed: Mapping[str, Any]) -> dict[str, Any]:
    """A whole changed input with its fields named as this event's host names them."""
    tool = event.facts.get("tool")
    input = tool.get("input") if isinstance(tool, dict) else None
    if not isinstance(input, dict):
        return dict(changed)
    back = {name: value for name, value in changed.items() if name in input}
    for name, value in changed.items():
        if name not in input:
            given = [other for other in _SYNONYMS[tool_kind(tool)].get(name, ()) if other in input]
            back[next((other for other in given if other not in back), name)] = value
    return back
