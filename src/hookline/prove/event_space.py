"""Conditions as formulas over all events of one kind of tool.

A fact that is tested has a variable for the texts of one reading of it. A hook that stops an event if its condition holds in
*some* reading is compared with the property in the *same* reading, so a proof is about every reading of every event. A
reading may have several texts, such as the relative and the absolute path: each text that a counter-example needs is a
variable of its own. A condition that cannot be translated is true or false, whatever its parts are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from enum import IntEnum
from functools import partial
from itertools import product
from typing import Any, Final

from hookline.hooks.conditions.logic import All, Always, AnyOf, Never, Not
from hookline.hooks.conditions.text import Equals, Exists, Fact, Matches, ShellCommands
from hookline.hooks.conditions.tool import ToolKindIs
from hookline.hooks.event import FactPath
from hookline.hooks.protocols import Condition, Subject, TextPattern
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import ToolKind, is_known_name, is_path_field
from hookline.patterns.matchers import Shorthand, literal
from hookline.patterns.pattern import pattern
from hookline.prove.formula import Formula, Variable, all_true, any_true, implies, negate, same
from hookline.prove.text_variable import TextVariable
from hookline.prove.tool_space import (
    REQUIRED_FIELDS,
    KnownTools,
    NameOption,
    Tools,
    our_field_name,
    requires,
    tools_of_kind,
)

_TOOL_NAME: Final[FactPath] = ("tool", "name")
_COMMANDS: Final = "commands in"
_GIVEN: Final = "as given:"  # a fact that is read without its other names and spellings
_MAX_READINGS: Final = 64
_PRINTABLE: Final = pattern("[ -~]*", whole=True)
_HOST: Final[FactPath] = ("host", "name")
_SESSION_FACTS: Final[tuple[FactPath, ...]] = (
    ("cwd",),
    ("workspace",),
    ("time",),
    _HOST,
    ("session", "id"),
    ("user", "name"),
)

_Choice = Mapping[Any, Any]  # a tool matcher's subject, or ToolKindIs → the option that counts


class Search(IntEnum):
    """How freely events are made up. A proof needs ANY; the others find the plainest counter-example."""

    KNOWN = 0  # tools of the tables, with all their fields, in printable characters
    COMMON = 1  # tools that people have
    PLAIN = 2  # fields may be missing
    ANY = 3

    @property
    def words(self) -> str:
        return ("a known tool", "a common tool", "any tool", "anything")[self]


class TooManyReadings(Exception):
    pass


class EventSpace:
    """The events of one kind of tool; of an event without a tool, if the kind is None."""

    def __init__(self, kind: ToolKind | None, names: Iterable[str] = ()) -> None:
        """names: of tools that are looked at one by one, because matchers name them."""
        self.kind = kind
        self.texts: dict[FactPath, TextVariable] = {}
        self.tools: tuple[Tools, ...] = tools_of_kind(kind, names) if kind is not None else ()
        for tools in self.tools:
            tools.find_host = partial(self._variable, _HOST)
        self._opaque: dict[Any, tuple[Condition, Variable]] = {}

    def condition(self, condition: Condition, *, is_property: bool) -> Formula:
        """Raises TooManyReadings for a property. Readings of a hook's condition may be left out."""
        sources = tuple(dict.fromkeys(_tool_sources(condition)))
        if not sources or not self.tools:
            return self._translate(condition, None, {})
        return any_true(self._for_tools(condition, tools, sources, is_property) for tools in self.tools)

    def _for_tools(self, condition: Condition, tools: Tools, sources: tuple[Any, ...], is_property: bool) -> Formula:
        options = [tools.kind_options() if source is ToolKindIs else tools.options(source) for source in sources]
        choices = list(product(*options))
        if len(choices) > _MAX_READINGS:
            if is_property:
                raise TooManyReadings
            choices = choices[:1]
        readings = (dict(zip(sources, choice, strict=True)) for choice in choices)
        return all_true((tools.selected, any_true(self._in_reading(condition, tools, each) for each in readings)))

    def _in_reading(self, condition: Condition, tools: Tools, choice: _Choice) -> Formula:
        exist = [each.exists for each in choice.values() if isinstance(each, NameOption) and each.exists is not None]
        return all_true((*exist, self._translate(condition, tools, choice)))

    def _translate(self, condition: Condition, tools: Tools | None, choice: _Choice) -> Formula:
        match condition:
            case Always():
                return True
            case Never():
                return False
            case All(parts):
                return all_true(self._translate(part, tools, choice) for part in parts)
            case AnyOf(parts):
                return any_true(self._translate(part, tools, choice) for part in parts)
            case Not(part):
                return negate(self._translate(part, tools, choice))
            case Matches(ToolName() as subject, compiled):
                return False if tools is None else tools.match(subject, choice[subject], compiled)
            case ToolKindIs(kind):
                return tools is not None and choice[ToolKindIs] is kind
            case Matches(subject, compiled):
                return self._match(subject, compiled, condition)
            case Equals(path, str() as value):
                return self._match_path(path, literal(value))
            case Exists(path) if path != _TOOL_NAME:
                return self._variable(path).exists
            case _:
                return self._true_or_false(condition)

    def _match(self, subject: Subject, compiled: TextPattern, condition: Condition) -> Formula:
        match subject:
            case Fact(("tool", "input", *rest)):
                return self._variable(("tool", "input", *rest), _GIVEN).match(compiled).holds
            case Fact(path):
                return self._match_path(path, compiled)
            case ToolField(path):
                return self._match_path(("tool", "input", *path), compiled)
            case ShellCommands(ToolField(path)):
                return self._variable(("tool", "input", *path), _COMMANDS).match(compiled).holds
            case _:
                return self._true_or_false(condition)

    def _match_path(self, path: FactPath, compiled: TextPattern) -> Formula:
        if path == _TOOL_NAME and self.tools:
            return any_true(all_true((tools.selected, tools.match_raw_name(compiled))) for tools in self.tools)
        return self._variable(path).match(compiled).holds

    def _variable(self, path: FactPath, prefix: str = "") -> TextVariable:
        """All names of a field have one variable: a tool reads only one of them."""
        if path[:2] == ("tool", "input") and len(path) > 2 and self.kind is not None and prefix != _GIVEN:
            path = ("tool", "input", our_field_name(self.kind, path[2]), *path[3:])
        key = (prefix, *path) if prefix else path
        found = self.texts.get(key)
        if found is None:
            has_many_texts = prefix == _COMMANDS or (prefix != _GIVEN and is_path_field(str(path[-1])))
            found = self.texts[key] = TextVariable(key, None, _PRINTABLE, has_many_texts=has_many_texts)
        return found

    def _true_or_false(self, condition: Condition) -> Formula:
        """For a condition that cannot be translated. Equal conditions have equal answers."""
        try:
            key: Any = hash(condition), condition
        except TypeError:  # it has a value without a hash
            key = id(condition)
        if key not in self._opaque:
            self._opaque[key] = condition, Variable(str(condition))
        return self._opaque[key][1]

    def variables(self) -> Iterator[TextVariable]:
        yield from self.texts.values()
        for tools in self.tools:
            yield from tools.names.values()

    def alternatives(self) -> list[Variable]:
        """Exactly one of these is true, if the event has a tool."""
        return [each for tools in self.tools for each in tools.alternatives()]

    def constraints(self, search: Search) -> Iterator[Formula]:
        """Call it after all conditions are translated."""
        for tools in self.tools:
            yield from tools.constraints(common=search is not Search.ANY)
        for variable in self.variables():
            for match in variable.matches.values():
                yield implies(match.holds, variable.is_present)
        if search is not Search.ANY:
            yield from self._plain_constraints()
        if search is Search.KNOWN and self.tools:
            yield self.tools[0].selected
        if search <= Search.COMMON and self.kind is not None:
            yield from self._required_fields(self.kind)

    def _plain_constraints(self) -> Iterator[Formula]:
        for variable in self.texts.values():
            yield same(variable.exists, variable.is_present)
            if variable.path in _SESSION_FACTS:
                yield variable.is_present
            other = self.plain_variable(variable)
            if other is not variable:
                yield same(other.is_present, variable.is_present)

    def plain_variable(self, variable: TextVariable) -> TextVariable:
        """The variable with the same text in a plain event: a command in a shell text is the whole text there."""
        prefix, *rest = variable.path
        return self.texts.get(tuple(rest), variable) if prefix in (_COMMANDS, _GIVEN) else variable

    def _required_fields(self, kind: ToolKind) -> Iterator[Formula]:
        for field in REQUIRED_FIELDS[kind]:
            for prefix in ((), (_COMMANDS,), (_GIVEN,)):
                variable = self.texts.get((*prefix, "tool", "input", field))
                if variable is not None:
                    yield any_true((variable.is_present, *self._tools_without(field)))

    def _tools_without(self, field: str) -> Iterator[Formula]:
        for tools in self.tools:
            if not isinstance(tools, KnownTools):
                if field == "content":  # among them are tools that delete
                    yield tools.selected
                continue
            for tool, chosen in tools.tools.items():
                if field not in requires(tool.name, tool.kind):
                    yield chosen


def field_path(key: FactPath) -> FactPath:
    """The fact whose texts a variable with this key has."""
    return key[1:] if key[0] in (_COMMANDS, _GIVEN) else key


def _tool_sources(condition: Condition) -> Iterator[Any]:
    match condition:
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from _tool_sources(part)
        case Not(part):
            yield from _tool_sources(part)
        case Matches(ToolName() as subject, _):
            yield subject
        case ToolKindIs():
            yield ToolKindIs


def named_tools(condition: Condition) -> Iterator[str]:
    """The tools that matchers name in full and that no table has."""
    match condition:
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from named_tools(part)
        case Not(part):
            yield from named_tools(part)
        case Matches(ToolName() | Fact(("tool", "name")), Shorthand(word, text)) if word in ("tool", "exactly"):
            names = text.split("|") if word == "tool" else [text]
            for name in (name.strip() for name in names):
                if name and not is_known_name(name) and (word == "exactly" or not set("*?[") & set(name)):
                    yield name
