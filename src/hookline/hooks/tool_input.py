"""The fields of a tool's input, by the names of any host and any dialect."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, Final, Protocol

from hookline.hooks.command_forms import (
    decoded_forms,
    has_operators,
    join_arguments,
    names_a_command,
    read_command_forms,
)
from hookline.hooks.event import EVERY_ITEM, MISSING, Event, FactPath, deep_equal, path_text, read_all, read_path
from hookline.hooks.further_values import PATH_SOURCES, further_paths, items_of, unnamed_paths
from hookline.hooks.json_text import NOT_JSON
from hookline.hooks.kind_guess import LANGUAGE_FIELDS
from hookline.hooks.match_deadline import NO_DEADLINE, SLOW, in_time
from hookline.hooks.path_spellings import path_readings
from hookline.hooks.protocols import Readings
from hookline.hooks.readings import WRONG_GUESS, as_plain_collection, compute_once, texts_of, unanimous, value_readings
from hookline.hooks.tool_name import guessed_kind, likely_kind
from hookline.hooks.tools import FIELD_NAMES, NATIVE, VOCABULARIES, ToolKind, Vocabulary, is_path_field
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_module, lazy_pattern, shlex

if TYPE_CHECKING:
    from hookline.shell import command_readings, wrappers
else:  # most inputs are read without it
    command_readings = lazy_module("hookline.shell.command_readings")
    wrappers = lazy_module("hookline.shell.wrappers")


@dataclass(frozen=True, slots=True)
class ToolField:
    """The subject of a matcher on an input field, by the vocabulary's name.

    A path is read in every spelling, a list item by item, and a command that is a list of words as a shell reads it.
    """

    path: FactPath  # within the input
    vocabulary: Vocabulary = NATIVE
    only_text: bool = False  # numbers and objects have no text
    is_cacheable = False
    _name: str | int | None = field(init=False, compare=False, repr=False)  # if it is one step, and not a path
    _other_names: OtherNames = field(init=False, compare=False, repr=False)
    _is_path: bool = field(init=False, compare=False, repr=False)
    _is_foreign_to_shells: bool = field(init=False, compare=False, repr=False)
    _cache_key: tuple[FactPath, bool] = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        is_path = bool(self.path) and is_path_field(str(self.path[-1]))
        object.__setattr__(self, "_is_path", is_path)
        object.__setattr__(self, "_cache_key", (self.path, self.only_text))
        is_foreign = is_path and self.path not in _COMMAND_PATHS and self.path[0] not in _SYNONYMS[ToolKind.SHELL]
        object.__setattr__(self, "_is_foreign_to_shells", is_foreign)
        object.__setattr__(self, "_name", self.path[0] if len(self.path) == 1 and not is_path else None)
        object.__setattr__(self, "_other_names", _OTHER_NAMES.get(self.path[0], _NO_NAMES) if self.path else _NO_NAMES)

    def texts(self, event: Event, deadline: float = NO_DEADLINE) -> tuple[str, ...]:
        if self._name is not None:
            tool = event.facts.get("tool")
            input = tool.get("input") if type(tool) is dict else None
            if type(input) is dict:
                value = input.get(self._name)
                if type(value) is str and self._other_names.isdisjoint(input):  # almost always
                    return (value,)
        return texts_of(self.readings(event, deadline), event, self)

    def readings(self, event: Event, deadline: float = NO_DEADLINE) -> Readings:
        if self._name is not None:
            tool = event.facts.get("tool")
            input = tool.get("input") if type(tool) is dict else None
            if type(input) is dict:
                value = input.get(self._name)
                if type(value) is str and self._other_names.isdisjoint(input) and value[:1] not in _JSON_STARTS:
                    return ((value,),)
        return compute_once(event, self._cache_key, self._read, deadline)

    @property
    def direct_name(self) -> tuple[str, OtherNames] | None:
        """The field whose text is its only text, unless the input also has one of the other names. None for a path."""
        return (self._name, self._other_names) if isinstance(self._name, str) else None

    @property
    def is_path(self) -> bool:
        """Whether its texts are the spellings of a path, which are expensive: links are resolved."""
        return self._is_path

    @property
    def given_name(self) -> tuple[str, OtherNames] | None:
        """The field with the path as given, unless the input also has one of the other names.

        Without `..`, the path as given is a text of its first reading, which needs no file system.
        """
        name = self.path[0] if self._is_path and len(self.path) == 1 else None
        return (name, self._other_names) if isinstance(name, str) else None

    @property
    def has_spellings(self) -> bool:
        """Whether one value may be written in several ways."""
        return self._is_path or self.path in _COMMAND_PATHS

    def _read(self, event: Event, deadline: float) -> Readings:
        if self._is_path and len(self.path) == 1:
            tool = event.facts.get("tool")
            input = tool.get("input") if isinstance(tool, dict) else None
            name = self.path[0]
            if not isinstance(input, dict):
                return ((),)
            if type(input.get(name)) is str and self._other_names.isdisjoint(input):
                return path_readings(input[name], event)
            if self._is_foreign_to_shells and likely_kind(tool, event) is ToolKind.SHELL and name not in input:
                return ((),)
        readings: list[tuple[str, ...]] = []
        values = field_values(event, self.path, deadline)
        kind = likely_kind(event.facts.get("tool"), event)
        if self.path in _COMMAND_PATHS and kind in _COMMAND_KINDS:
            if kind is ToolKind.SHELL and values == (MISSING,):
                values = _unnamed_commands(event)
            words = () if self.only_text else tuple(list(value.values()) for value in values if isinstance(value, dict))
            values = tuple(
                text for value in in_time((*values, *words), deadline) for text in command_texts(value, deadline)
            )
        for value in in_time(values, deadline, SLOW):
            for texts in in_time(value_readings(value, only_text=self.only_text, deadline=deadline), deadline, SLOW):
                if self._is_path and texts:
                    readings += path_readings(texts[0], event)
                else:
                    readings.append(texts)
        found = tuple(dict.fromkeys(readings)) or ((),)
        return (*found, WRONG_GUESS) if found != ((),) and is_guessed_field(event, self.path) else found

    def reads(self) -> tuple[FactPath, ...]:
        """The whole input too: other fields are read for one that the call lacks, and tell the kind of an unknown tool."""
        places = (("cwd",), ("workspace",)) if self._is_path else ()
        return (("tool", "input", *self.path), ("tool", "input"), *places)

    def __str__(self) -> str:
        return "input." + ".".join(str(step) for step in self.path)


@lru_cache(maxsize=1024)
def tool_field(path: FactPath, vocabulary_name: str, *, only_text: bool = False) -> ToolField:
    """Thousands of rules read the same few fields: they share one subject, which the index then knows by its identity."""
    return ToolField(path, VOCABULARIES[vocabulary_name], only_text)


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


def field_values(event: Event, path: FactPath, deadline: float = NO_DEADLINE) -> tuple[Any, ...]:
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
    if EVERY_ITEM in path:
        own_path = path if path[0] == EVERY_ITEM else (_own_name(event, path[0]), *path[1:])
        return tuple(in_time(read_all(input, own_path), deadline))
    value = field_value(event, path)
    if not path or not isinstance(input, dict):
        return (value,)
    rivals = (read_path(input, (name, *path[1:])) for name in _ambiguous_names(event, str(path[0])))
    values = (value, *(other for other in rivals if not deep_equal(other, value)))
    values += _further_values(event, path, values, deadline)
    return values if len(values) == 1 or value is not MISSING else values[1:]


def values_at(event: Event, path: FactPath, deadline: float = NO_DEADLINE) -> tuple[Any, ...]:
    """Like value_at, but every value that the tool may use, and every value at a path with `*`."""
    if path[:2] == ("tool", "input") and len(path) > 2:
        return field_values(event, path[2:], deadline)
    return tuple(in_time(read_all(event.facts, path), deadline)) if EVERY_ITEM in path else (event.read(path),)


def holds_for_values(event: Event, path: FactPath, test: Callable[[Any], bool], deadline: float = NO_DEADLINE) -> bool:
    """Whether the test holds for the fact at `path`. Raises AmbiguousField if it holds for some of its values only."""
    answers = [test(value) for value in in_time(values_at(event, path, deadline), deadline)]
    has_guess = path[:2] == ("tool", "input") and is_guessed_field(event, path[2:])
    if has_guess:
        answers.append(test(MISSING))
    return unanimous(path_text(path), answers, ("values", path), event, doubts=has_guess)


def is_guessed_field(event: Event, path: FactPath) -> bool:
    """Whether the field is known only because the tool's kind was guessed: `cmd` for `command`."""
    tool = event.facts.get("tool")
    input = tool.get("input") if isinstance(tool, dict) else None
    if not path or not isinstance(input, dict) or path[0] in input:
        return False
    is_renamed = path[0] in _PATH_NAMES and _known_names(path[0]).isdisjoint(input)  # a field that no table has
    return is_renamed or guessed_kind(tool, event) is not None


def value_at(event: Event, path: FactPath) -> Any:
    """The fact at `path`. A field of the tool's input may have any host's name."""
    return field_value(event, path[2:]) if path[:2] == ("tool", "input") and len(path) > 2 else event.read(path)


def tool_field_name(event: Event, name: str) -> str:
    """The tool's own name for the field that some vocabulary calls `name`; `name` itself if it has none."""
    tool = event.facts["tool"]
    kind = likely_kind(tool, event)
    return choose_field_name(tool["input"], name, kind, _host_of_own_tool(event, kind))


def tool_field_names(event: Event, name: str) -> tuple[str, ...]:
    """Like tool_field_name, but every name that the tool may read, if it is unknown which."""
    return _ambiguous_names(event, name) or (tool_field_name(event, name),)


def choose_field_name(input: Mapping[str, Any], name: str, kind: ToolKind, host: Vocabulary | None = None) -> str:
    """If the input has the field under several names, that of the host whose own tool it is wins: it reads no other."""
    names = _SYNONYMS[kind].get(name, ())
    given = [other for other in names if other in input]
    if len(given) < 2:
        return given[0] if given else name
    own = _host_field_name(names[0], kind, host)
    return own if own in given else name if name in given else given[0]


def _ambiguous_names(event: Event, name: str) -> tuple[str, ...]:
    """The names under which the input has the field, if the host's own name is unknown or not among them."""
    tool = event.facts["tool"]
    kind = likely_kind(tool, event)
    names = _SYNONYMS[kind].get(name, ())
    given = tuple(other for other in names if other in tool["input"])
    own = _host_field_name(names[0], kind, _host_of_own_tool(event, kind)) if names else None
    return () if own in given else given


def events_by_field_name(event: Event) -> Iterator[Event]:
    """The event with one name for each field that the call has under several, for every choice of the names.

    Nothing if there is no such field, or if the names have equal values.
    """
    tool = event.facts.get("tool")
    input = tool.get("input") if isinstance(tool, dict) else None
    synonyms = _SYNONYMS[likely_kind(tool, event)] if isinstance(input, dict) else {}
    if not isinstance(input, dict) or sum(name in synonyms for name in input) < 2:
        return
    fields = {synonyms[name]: _ambiguous_names(event, name) for name in input if name in synonyms}
    choices = [
        names for names in fields.values() if any(not deep_equal(input[names[0]], input[name]) for name in names[1:])
    ]
    for chosen in product(*choices) if choices else ():
        others = {name for names in choices for name in names} - {*chosen}
        kept = {name: value for name, value in input.items() if name not in others}
        yield event.with_changes(((("tool", "input"), kept),))


def _further_commands(input: Mapping[str, Any], values: tuple[Any, ...]) -> Iterator[Any]:
    """Of a tool whose field for the command is known: several commands, and a program together with its arguments."""
    yield from items_of(input.get("commands"))
    for command in values:
        if isinstance(command, (str, list, tuple)):
            yield from join_arguments(command, input)


def _further_values(event: Event, path: FactPath, values: tuple[Any, ...], deadline: float) -> tuple[Any, ...]:
    """The paths or commands of a tool that takes several: a hook may be about any of them."""
    tool = event.facts["tool"]
    if len(path) != 1:
        return ()
    kind = likely_kind(tool, event)
    if path in _COMMAND_PATHS and kind in _COMMAND_KINDS:
        is_known = kind is ToolKind.OTHER or _host_of_own_tool(event, kind) is not None
        forms = _further_commands(tool["input"], values) if is_known else read_command_forms(tool["input"])
        unnamed = () if values != (MISSING,) or names_a_command(tool["input"]) else _unnamed_commands(event)
        return (*unnamed, *in_time(forms, deadline)) if kind is ToolKind.SHELL else tuple(in_time(forms, deadline))
    if path[0] not in _PATH_NAMES:
        return ()
    found = tuple(in_time(further_paths(tool["input"], kind), deadline))
    if found or values != (MISSING,) or kind not in _SINGLE_FILE_KINDS:
        return found
    return tuple(in_time(unnamed_paths(tool["input"]), deadline))


def command_texts(value: Any, deadline: float = NO_DEADLINE) -> tuple[Any, ...]:
    """A list of words as a shell would write it, and the command in it if it is a shell's. Other values unchanged."""
    value = as_plain_collection(value)
    if isinstance(value, dict) or (isinstance(value, (list, tuple)) and any(isinstance(each, dict) for each in value)):
        forms = in_time(read_command_forms(value if isinstance(value, dict) else {"commands": value}), deadline)
        whole = () if isinstance(value, dict) and names_a_command(value) else (value,)
        return (*whole, *(text for each in forms if each != value for text in command_texts(each, deadline)))
    if isinstance(value, str) and value.lstrip()[:1] in _JSON_STARTS:
        forms = in_time(decoded_forms(value), deadline)
        return (value, *(text for each in forms if each != value for text in command_texts(each, deadline)))
    if not isinstance(value, (list, tuple)):
        return (value,)
    if any(isinstance(item, (list, tuple)) for item in value):  # several commands
        return tuple(text for item in in_time(value, deadline, SLOW) for text in command_texts(item, deadline))
    words = [
        texts[0] for item in in_time(value, deadline) for texts in value_readings(item, deadline=deadline) if texts
    ]
    if len(words) != len(value):
        return (value,)
    texts = command_readings.argv_texts(words)
    return (*texts, " ".join(words)) if has_operators(words) else texts


def is_command_field(path: FactPath) -> bool:
    """Whether some host has a shell's command there."""
    return path in _COMMAND_PATHS


def restore_command_list(old: Any, new: Any, path: FactPath) -> Any:
    """A changed command as a list of words, if it was one before."""
    if not isinstance(old, (list, tuple)) or not isinstance(new, str) or not is_command_field(path):
        return new
    words = [word for word in old if isinstance(word, str)]
    code = wrappers.shell_code(words) if len(words) == len(old) else None
    if code is not None:
        at = max(n for n, word in enumerate(words) if word == code)
        return [*words[:at], new, *words[at + 1 :]]
    try:
        return ["sh", "-c", new] if _SHELL_SYNTAX.search(new) else shlex.split(new)
    except ValueError:  # a quote that is not closed
        return ["sh", "-c", new]


_JSON_STARTS: Final = ("{", "[", '"')
_SHELL_SYNTAX: Final = lazy_pattern(r"[;&|<>()$`*?\[\]{}~#!\n]")


def _unnamed_commands(event: Event) -> tuple[Any, ...]:
    """The values of a shell's input in which no field has a name for the command: any of them may be it."""
    tool = event.facts.get("tool")
    input = tool.get("input") if isinstance(tool, dict) else None
    fields = input.items() if isinstance(input, dict) else ()
    skipped = _SYNONYMS[ToolKind.SHELL].keys() | LANGUAGE_FIELDS
    values = [value for name, value in fields if name not in skipped]
    keys = (item for value in values if isinstance(value, list) for item in value if isinstance(item, str))
    return (*values, *keys)  # text that is typed comes in pieces: ["git push", "Enter"]


def _own_name(event: Event, name: str | int) -> str | int:
    tool = event.facts.get("tool")
    is_named = isinstance(tool, dict) and isinstance(tool.get("input"), dict)
    return tool_field_name(event, str(name)) if is_named else name


def _host_of_own_tool(event: Event, kind: ToolKind) -> Vocabulary | None:
    """The host, if the tool is its usual one of the kind. Others, such as those of MCP servers, have their own fields."""
    host = event.read(("host", "name"))
    spoken = VOCABULARIES.get(host.replace("-", "_")) if isinstance(host, str) else None
    is_usual = spoken is not None and event.facts["tool"].get("name") in spoken.names.get(kind, ())[:1]
    return spoken if is_usual else None


def _host_field_name(ours: str, kind: ToolKind, host: Vocabulary | None) -> str | None:
    """The host's name for the field, if known."""
    if host is None or (ours == "path" and kind not in _SINGLE_FILE_KINDS):
        return None  # a host may have another name for the path of a folder
    return host.fields.get(ours, ours)


# kind → any name of a field → all of its names, ours first
_SYNONYMS: Final[dict[ToolKind, dict[str, tuple[str, ...]]]] = {
    kind: {name: (ours, *others) for ours, others in reversed(fields.items()) for name in (ours, *others)}
    for kind, fields in FIELD_NAMES.items()
}
_SINGLE_FILE_KINDS: Final = (ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT)
_PATH_KINDS: Final = (*_SINGLE_FILE_KINDS, ToolKind.LIST, ToolKind.GLOB, ToolKind.GREP)
_COMMAND_KINDS: Final = (ToolKind.SHELL, ToolKind.OTHER)
_PATH_NAMES: Final = frozenset(name for kind in _PATH_KINDS for name in _SYNONYMS[kind].get("path", ()))
_COMMAND_PATHS: Final = frozenset((name,) for name in (*_SYNONYMS[ToolKind.SHELL]["command"], "commands"))
_NO_NAMES: Final[frozenset[str]] = frozenset()


class OtherNames(Protocol):
    """The names under which an input may have a field beside the usual one."""

    def isdisjoint(self, names: Iterable[Any], /) -> bool: ...


class _AnyOtherName:
    """Every name but those that no tool reads as a part of the field. Its test takes no longer than that of a set."""

    __slots__ = ("isdisjoint",)

    def __init__(self, *names: str) -> None:
        self.isdisjoint = frozenset(names).issuperset


_BESIDE_COMMANDS: Final = (
    "description", "explanation", "timeout", "timeout_ms", "cwd", "workdir", "directory", "dir_path", "run_in_background",
    "isBackground", "is_background", "dangerouslyDisableSandbox", "requires_approval", "riskLevel", "summary", "mode",
    "sessionId", "async", "justification", "content", "path",
)  # fmt: skip


_BESIDE_PATHS: Final = (
    "content", "contents", "text", "file_text", "old_string", "new_string", "old_str", "new_str", "oldString", "newString",
    "replace_all", "replaceAll", "expected_replacements", "instruction", "offset", "limit", "pattern", "query", "output_mode",
    "start_line", "end_line", "description", "explanation", "encoding", "recursive", "append", "mode",
)  # fmt: skip


def _collect_other_names(name: str) -> OtherNames:
    """All other names of the field, for every kind of tool."""
    if (name,) in _COMMAND_PATHS:
        return _AnyOtherName(name, *_BESIDE_COMMANDS)
    if name in _PATH_NAMES:
        return _AnyOtherName(name, *_BESIDE_PATHS)
    return frozenset(other for names in _SYNONYMS.values() for other in names.get(name, ())) - {name}


@cache
def _known_names(name: str | int) -> frozenset[str]:
    """The other names of a path that a table has."""
    return (
        frozenset(other for names in _SYNONYMS.values() for other in names.get(str(name), ())) - {name} | PATH_SOURCES
    )


_OTHER_NAMES: Final[dict[str | int, OtherNames]] = {
    name: _collect_other_names(name) for names in _SYNONYMS.values() for name in names
}


def to_vocabulary(event: Event, vocabulary: Vocabulary) -> Any:
    """The tool's input with its fields named as the vocabulary names them. The command of a shell is text."""
    tool = event.facts.get("tool")
    if not isinstance(tool, dict):
        return MISSING
    input, kind = tool.get("input", MISSING), likely_kind(tool, event)
    if not isinstance(input, dict):
        return input
    input = _without_decoys(event, input, kind)
    renamed: dict[str, Any] = {}
    for name, value in input.items():
        names = _SYNONYMS[kind].get(name)
        theirs = vocabulary.fields.get(names[0], names[0]) if names else name
        is_command = kind is ToolKind.SHELL and names is not None and names[0] == "command"
        given = _command_text(value) if is_command else value
        renamed[name if theirs in input or theirs in renamed else theirs] = given
    return renamed


def _without_decoys(event: Event, input: dict[str, Any], kind: ToolKind) -> dict[str, Any]:
    """Without fields that the host's own tool does not read, because it has them under another name too.

    An agent could add `path` to a tool that reads `file_path`, for a script that looks at `path`.
    """
    synonyms = _SYNONYMS[kind]
    renamed = [name for name in input if name in synonyms]
    host = _host_of_own_tool(event, kind) if len(renamed) > 1 else None
    if host is None:
        return input
    own_names = {name: _host_field_name(synonyms[name][0], kind, host) for name in renamed}
    decoys = {name for name, own in own_names.items() if own != name and own in input}
    return {name: value for name, value in input.items() if name not in decoys} if decoys else input


def _command_text(value: Any) -> Any:
    """Hooks expect text: a list of words as a shell would write it. Other values unchanged."""
    if not isinstance(value, (list, tuple, bytes)) or not value:
        return value
    items = (value,) if isinstance(value, bytes) else value
    words = [
        texts[0] for item in items if isinstance(item, (str, *NOT_JSON)) for texts in value_readings(item) if texts
    ]
    return command_readings.argv_texts(words)[0] if len(words) == len(items) else value


def to_host_fields(event: Event, changed: Mapping[str, Any]) -> dict[str, Any]:
    """A whole changed input with its fields named as this event's host names them."""
    tool = event.facts.get("tool")
    input = tool.get("input") if isinstance(tool, dict) else None
    if not isinstance(input, dict):
        return dict(changed)
    input = _without_decoys(event, input, likely_kind(tool, event))
    back = {name: restore_command_list(input[name], value, (name,)) for name, value in changed.items() if name in input}
    for name, value in changed.items():
        if name not in input:
            given = [other for other in _SYNONYMS[likely_kind(tool, event)].get(name, ()) if other in input]
            own = next((other for other in given if other not in back), name)
            back[own] = restore_command_list(input.get(own), value, (own,))
    return back
