"""The keys of the native format.

A key is declared once, as a Key that says how its value is read, written, described to editors and to people. The
loader, the writer, the JSON Schema and the tables of the documentation are loops over the keys.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar

from hookline.config.node import Node
from hookline.config.scalars import duration_pattern
from hookline.errors import BadTemplate
from hookline.hooks.event import FACT_ROOTS
from hookline.hooks.protocols import May
from hookline.hooks.tools import Vocabulary
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_module, lazy_pattern

if TYPE_CHECKING:
    from hookline.hooks import placeholders, templates
    from hookline.hooks.templates import DataTemplate, ShellTemplate, Template
else:  # many files have no placeholders
    placeholders = lazy_module("hookline.hooks.placeholders")
    templates = lazy_module("hookline.hooks.templates")

Schema = dict[str, Any]

TEXT: Final[Schema] = {"type": "string", "minLength": 1}
ANY_TEXT: Final[Schema] = {"type": "string"}
TEXTS: Final[Schema] = {"anyOf": [TEXT, {"type": "array", "items": TEXT}]}
SOME_TEXTS: Final[Schema] = {"anyOf": [TEXT, {"type": "array", "items": TEXT, "minItems": 1}]}
FLAG: Final[Schema] = {"type": "boolean"}
NUMBER: Final[Schema] = {"type": "number"}
OBJECT: Final[Schema] = {"type": "object"}
DURATION: Final[Schema] = {"type": "string", "pattern": duration_pattern()}
FACT: Final[Schema] = {"type": "string", "pattern": rf"^\.*({'|'.join(sorted(FACT_ROOTS))})(?![^.])"}
CUSTOM: Final[Schema] = {"type": "object", "additionalProperties": {"type": ["object", "null"]}}

_NO_HINTS: Final[Mapping[str, str]] = {}
_LINK: Final = lazy_pattern(r"\[([^]]+)\]\([^)]*\)")

NOT_WRITTEN: Final = object()
"""For a key to be left out: null is a value."""
BAD_TEMPLATE: Final = "bad-template"
_PLACEHOLDER_HINT: Final = (
    "Placeholders name facts: {{tool.name}}, {{input.path}}, {{result}}, {{prompt}}, {{cwd}}, {{session.id}}."
)


@dataclass(frozen=True, slots=True)
class HookInfo:
    """The hook that a condition or action belongs to."""

    event: str
    vocabulary: Vocabulary
    timeout: timedelta
    hook_id: str
    fails_closed: bool = False  # a failure of the action is not let through
    withholds: bool = False  # the author wrote that a failure withholds a result


def _not_read(at: Node, info: Any) -> Any:
    """For the keys of an agent, which the runtime reads."""
    return at.value


def _not_written(*_: Any) -> Any:
    return NOT_WRITTEN


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Key:
    """One key of the native format.

    `read` gets the key's value and the hook's HookInfo; it returns None if it added a problem.
    `write` gets the hook, condition or action; it returns the key's value, or NOT_WRITTEN.
    Keys are never compared or shown, and generated methods cost time at every start.
    """

    name: str = field(kw_only=False)
    schema: Schema | Callable[[], Schema]  # a function, if building it takes time: only editors need it
    help: str
    read: Callable[..., Any] = _not_read
    write: Callable[..., Any] = _not_written
    default: str = ""  # as the documentation shows it
    example: str = ""
    example_event: str = "tool.before"
    required: bool = False
    null_is_value: bool = False  # otherwise a null counts as absent
    mapping: Mapping[str, Key] = field(default_factory=dict)  # the keys of the mapping that may be its value


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class ActionKey(Key):
    """The key that names an action, with its options: the keys that may be used with it.

    `read` also gets the values of the options; `write` also gets the HookInfo.
    """

    options: Mapping[str, Key] = field(default_factory=dict)
    intended: Callable[[Node, HookInfo], May] = lambda at, info: May.NOTHING
    """What the action could answer if its placeholders were right."""


def key_table(*keys: Key) -> dict[str, Key]:
    return {key.name: key for key in keys}


_KeyT = TypeVar("_KeyT", bound=Key)


class LazyKeys(Mapping[str, _KeyT]):
    """Keys by name. A file uses few of them, so the module of a key is imported when the key is first read.

    Instead of a key, `entries` may have the place that declares it: `answers.ANSWER_KEYS`, one key or several.
    """

    def __init__(self, entries: Mapping[str, _KeyT | str]) -> None:
        self._entries = dict(entries)

    def __getitem__(self, name: str) -> _KeyT:
        found = self._entries[name]
        return self._load(name, found) if isinstance(found, str) else found

    def _load(self, name: str, place: str) -> _KeyT:
        module, _, constant = place.partition(".")
        declared = getattr(import_module(f"hookline.dialects.native.{module}"), constant)
        keys = declared if isinstance(declared, (dict, tuple)) else (declared,)
        found: dict[str, _KeyT] = keys if isinstance(keys, dict) else {key.name: key for key in keys}
        self._entries.update(found)
        return found[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)


def text_key(name: str, *, empty: bool = False, **rest: Any) -> Key:
    return Key(name, read=lambda at, _: at.text(empty=empty), schema=ANY_TEXT if empty else TEXT, **rest)


def texts_key(name: str, **rest: Any) -> Key:
    return Key(name, read=lambda at, _: at.texts(), schema=TEXTS, **rest)


def flag_key(name: str, **rest: Any) -> Key:
    return Key(name, read=lambda at, _: at.flag(), schema=FLAG, **rest)


def duration_key(name: str, **rest: Any) -> Key:
    return Key(name, read=lambda at, _: at.duration(), schema=DURATION, **rest)


def integer_key(name: str, *, least: int, hint: str = "", **rest: Any) -> Key:
    return Key(name, read=lambda at, _: at.integer(least=least, hint=hint), schema=integer_schema(least), **rest)


def choice_key(name: str, words: Iterable[str], **rest: Any) -> Key:
    """One of the words; for the words of an enum, its member."""
    known = {str(word): word for word in words}

    def read(at: Node, info: Any) -> str | None:
        word = at.one_of(known)
        return None if word is None else known[word]

    return Key(name, read=read, schema=enum_schema(known), **rest)


def template_key(name: str, **rest: Any) -> Key:
    return Key(name, read=lambda at, info: read_template(at, info.vocabulary), schema=TEXT, **rest)


def data_key(name: str, **rest: Any) -> Key:
    """A mapping in which every text may have placeholders."""

    def read(at: Node, info: HookInfo) -> DataTemplate | None:
        return None if at.mapping() is None else read_data_template(at, info.vocabulary)

    return Key(name, read=read, schema=OBJECT, **rest)


def integer_schema(least: int) -> Schema:
    return {"type": "integer", "minimum": least}


def enum_schema(words: Iterable[str]) -> Schema:
    return {"enum": [str(word) for word in words]}


def list_schema(definition: str) -> Schema:
    return {"type": "array", "items": {"$ref": f"#/$defs/{definition}"}}


def object_schema(properties: Schema, required: Collection[str] = ()) -> Schema:
    return {"type": "object", "additionalProperties": False, "properties": properties, "required": list(required)}


def mapping_schema(keys: Mapping[str, Key]) -> Schema:
    required = [key.name for key in keys.values() if key.required]
    return object_schema({key.name: key_schema(key) for key in keys.values()}, required)


def key_schema(key: Key) -> Schema:
    """The schema of a key that may be null if it may be absent."""
    from hookline.dialects.json_schema import nullable  # only editors need a schema

    schema = value_schema(key)
    return described_schema(key, schema if key.required or key.null_is_value else nullable(schema))


def value_schema(key: Key) -> Schema:
    """The schema of its value, without description, default and example."""
    return key.schema() if callable(key.schema) else key.schema


def described_schema(key: Key, schema: Schema | None = None) -> Schema:
    """With the help and the default as its description. An editor cannot follow the links of the documentation."""
    schema = value_schema(key) if schema is None else schema
    description = _LINK.sub(r"\1", f"{key.help}; default: {key.default}" if key.default else key.help)
    return {"description": description, **_default_value(key), **_example_value(key), **schema}


_VALUE: Final = lazy_pattern(r"`([^`<]+)`")  # a default that is one value, and not described


def _default_value(key: Key) -> Schema:
    import yaml  # only a schema needs it

    value = _VALUE.fullmatch(key.default)
    try:
        return {} if value is None else {"default": yaml.safe_load(value[1])}
    except yaml.YAMLError:  # a template
        return {"default": key.default.strip("`")}


def _example_value(key: Key) -> Schema:
    """The key's value in its example, which may have other keys beside it."""
    import yaml

    written = yaml.safe_load(key.example if key.example.startswith("{") else f"{{{key.example}}}")
    return {"examples": [written[key.name]]} if key.name in written else {}


def read_mapping(
    at: Node, keys: Mapping[str, Key], what: str, info: Any, *, hint: str = "", hints: Mapping[str, str] = _NO_HINTS
) -> dict[str, Any] | None:
    """The values of the keys that are there; None after a problem. `what` says whose keys they are: "a hook".

    `hints` say what to write instead of other keys.
    """
    if at.mapping(hint=hint) is None:
        return None
    before = len(at.problems)
    at.check_keys(keys, what, hints)
    for key in keys.values():
        if key.required and at.value.get(key.name) is None:
            at.add_problem("missing-key", f"{at.location}: {key.name} is missing.", hint)
    values = read_values(at, keys, info)
    return values if len(at.problems) == before else None


def read_values(at: Node, keys: Mapping[str, Key], info: Any) -> dict[str, Any] | None:
    """Like read_mapping, but passes over unknown and missing keys. A key without a value counts as missing."""
    before = len(at.problems)
    written = [(keys[name], place) for name, place in at.entries() if name in keys]
    values = {key.name: key.read(place, info) for key, place in written if place.value is not None or key.null_is_value}
    return values if len(at.problems) == before else None


def write_mapping(keys: Mapping[str, Key], *subject: Any) -> dict[str, Any]:
    """What the keys write, in the order in which they are declared."""
    values = ((key.name, key.write(*subject)) for key in keys.values())
    return {name: value for name, value in values if value is not NOT_WRITTEN}


def read_template(at: Node, vocabulary: Vocabulary, *, empty: bool = False) -> Template | None:
    text = at.text(empty=empty)
    return None if text is None else compile_template(at, text, vocabulary)


def compile_template(at: Node, text: str, vocabulary: Vocabulary) -> Template | None:
    try:
        return templates.parse_template(text, placeholders.PlaceholderResolver(vocabulary))
    except BadTemplate as bad:
        add_template_problem(at, bad)
        return None


def read_shell_template(at: Node, vocabulary: Vocabulary) -> ShellTemplate | None:
    text = at.text()
    try:
        resolve = placeholders.PlaceholderResolver(vocabulary)
        return None if text is None else templates.parse_shell_template(text, resolve)
    except BadTemplate as bad:
        add_template_problem(at, bad)
        return None


def read_arguments(
    places: Sequence[Node], texts: Sequence[str], vocabulary: Vocabulary
) -> tuple[Template | ShellTemplate, ...] | None:
    """The arguments of a program that is started without a shell; None after a problem."""
    parsed = templates.parse_arguments(texts, placeholders.PlaceholderResolver(vocabulary))
    for place, each in zip(places, parsed, strict=True):
        if isinstance(each, BadTemplate):
            add_template_problem(place, each)
    found = tuple(each for each in parsed if not isinstance(each, BadTemplate))
    return found if len(found) == len(parsed) else None


def add_template_problem(at: Node, bad: BadTemplate) -> None:
    at.add_problem(BAD_TEMPLATE, f"{at.location}: {bad.what}.", bad.hint or _PLACEHOLDER_HINT)


def read_data_template(at: Node, vocabulary: Vocabulary) -> DataTemplate | None:
    """A mapping, list or text in which every text may have placeholders; None after a problem."""
    before = len(at.problems)
    value = _read_data(at, vocabulary)
    return templates.DataTemplate(value) if len(at.problems) == before else None


def _read_data(at: Node, vocabulary: Vocabulary) -> Any:
    if isinstance(at.value, dict):
        return {key: _read_data(place, vocabulary) for key, place in at.entries()}
    if isinstance(at.value, list):
        return [_read_data(place, vocabulary) for place in at.items()]
    if isinstance(at.value, str):
        text = compile_template(at, at.value, vocabulary)
        return at.value if text is None or text.constant else text
    return at.value


def event_template(vocabulary: Vocabulary) -> DataTemplate:
    """The whole event."""
    resolve = placeholders.PlaceholderResolver(vocabulary)
    return templates.DataTemplate(templates.parse_template("{{event}}", resolve))


def write_data(data: DataTemplate) -> Any:
    return _template_sources(data.value)


def _template_sources(value: Any) -> Any:
    if isinstance(value, (templates.Template, templates.ShellTemplate)):
        return value.source
    if isinstance(value, dict):
        return {key: _template_sources(part) for key, part in value.items()}
    if isinstance(value, str):
        return templates.escape_braces(value)
    return [_template_sources(part) for part in value] if isinstance(value, (list, tuple)) else value


def write_unless_event(data: DataTemplate) -> Any:
    """For data that is the whole event by default."""
    written = write_data(data)
    return NOT_WRITTEN if written == "{{event}}" else written
