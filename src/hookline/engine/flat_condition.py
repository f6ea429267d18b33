"""Conditions as one function each, so that the usual one, patterns that must all match, costs one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from hookline.errors import UNANSWERED
from hookline.hooks.conditions.logic import All, Always, AnyOf, Never, Not
from hookline.hooks.conditions.text import Equals, Exists, Matches, any_match
from hookline.hooks.conditions.tool import ToolKindIs
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.hooks.protocols import Condition, PureCondition, Subject
from hookline.hooks.tool_input import OtherNames, ToolField
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_class, lazy_module
from hookline.patterns.literal_search import MAX_RFIND_LENGTH, rarest_character

if TYPE_CHECKING:
    from hookline.hooks.conditions import shell_commands
    from hookline.hooks.conditions.shell_commands import RunsCommand
else:  # most hooks ask nothing about a shell's commands
    shell_commands = lazy_module("hookline.hooks.conditions.shell_commands")
    RunsCommand = lazy_class("hookline.hooks.conditions.shell_commands", "RunsCommand")

Holds = Callable[[Event, float], bool]

_MANY_PARTS: Final = 2  # about programs: fewer are asked as fast as they are looked up
_CACHE_SIZE: Final = 256  # combinations of programs
_SIMPLE: Final = (Matches, Equals, Exists, ToolKindIs, Always, Never)


def is_repeatable(condition: Condition) -> bool:
    """Whether it may be asked twice about one event. A third party's condition may have effects."""
    match condition:
        case All(parts) | AnyOf(parts):
            return all(map(is_repeatable, parts))
        case Not(part):
            return is_repeatable(part)
        case _:
            return type(condition) in _SIMPLE or isinstance(condition, PureCondition)


def flatten_condition(hook: Hook) -> Holds:
    """The hook's `when.holds`, in one loop if it is a conjunction of patterns.

    The order of the parts does not matter: one that does not match decides, whatever the others raise. So the cheapest
    subjects come first, and paths last. If a value can be read in several ways, the condition itself answers; but a path
    that matches as it is given is one reading, which is enough unless the hook only allows.
    """
    condition = hook.when
    parts = tuple(conjuncts(condition))
    matchers = [part for part in parts if type(part) is Matches]
    if len(matchers) < len(parts) or not parts:
        return _ask_by_program(condition) if type(condition) is AnyOf else condition.holds
    cached, fields, others, paths = (list[Any]() for _ in range(4))
    for matcher in matchers:
        subject, pattern = matcher.subject, matcher.pattern
        if matcher.cached_matches is not None:
            cached.append((subject.texts, matcher.cached_matches, matcher.match_cached))
        elif isinstance(subject, ToolField) and subject.direct_name is not None:
            fields.append((*subject.direct_name, subject.texts, pattern.search))
        elif isinstance(subject, ToolField) and subject.given_name is not None and not hook.only_allows:
            paths.append((*subject.given_name, subject, pattern.search))
        else:
            others.append((subject.texts, pattern.search))
    return _match_all(tuple(cached), tuple(fields), tuple(others), tuple(paths), ask_condition=condition.holds)


def conjuncts(condition: Condition) -> Iterator[Condition]:
    """The parts that must all hold."""
    if type(condition) is not All:
        yield condition
    else:
        for part in condition.parts:
            yield from conjuncts(part)


def is_path(subject: Subject) -> bool:
    """Whether its texts are expensive: see ToolField.is_path."""
    return isinstance(subject, ToolField) and subject.is_path


@dataclass(frozen=True, slots=True)
class _SelectedParts:
    """The parts of a condition that are about one of some programs."""

    ask_all: Holds
    subcommands: frozenset[str]  # of those parts that need one: if a line has none of these words, they cannot hold
    ask_others: Holds


def _ask_by_program(condition: AnyOf) -> Holds:
    """Its `holds`, which asks only the parts that are about a program and subcommand that are run. The others cannot hold."""
    needed = [_needed_command(part) for part in condition.parts]
    if sum(each is not None for each in needed) < _MANY_PARTS:
        return condition.holds
    selected: dict[tuple[str, ...], _SelectedParts] = {}

    def holds(event: Event, deadline: float) -> bool:
        try:
            run = shell_commands.commands_of_event(event, deadline)
        except UNANSWERED:
            return condition.holds(event, deadline)
        if not run.is_known:
            return condition.holds(event, deadline)
        parts = selected.get(run.programs)
        if parts is None:
            if len(selected) >= _CACHE_SIZE:
                selected.clear()
            parts = selected[run.programs] = _select_parts(zip(needed, condition.parts, strict=True), run.programs)
        ask = parts.ask_others if parts.subcommands.isdisjoint(run.words) else parts.ask_all
        return ask(event, deadline)

    return holds


def _select_parts(parts: Iterable[tuple[RunsCommand | None, Condition]], programs: Sequence[str]) -> _SelectedParts:
    about = [(runs, part) for runs, part in parts if runs is None or not runs.query.names.isdisjoint(programs)]
    subcommands = frozenset(word for runs, _ in about if runs is not None for word in runs.query.first_words)
    others = (part for runs, part in about if runs is None or not runs.query.subcommands)
    return _SelectedParts(AnyOf(tuple(part for _, part in about)).holds, subcommands, AnyOf(tuple(others)).holds)


def _needed_command(condition: Condition) -> RunsCommand | None:
    """A command that must be run for it to hold; None if it is not about commands."""
    return next((part for part in conjuncts(condition) if isinstance(part, RunsCommand)), None)


QuickSearch = Callable[[Event], Sequence[int] | None]
"""Positions of the hooks that may hold, in order, found without a look at the clock; None if the event needs a closer look,
as one that does not name its tool does."""


def find_rejection(condition: Condition) -> QuickSearch:
    """A test that finds no hook for most events. For patterns that must all match: a field lacks a text that every match has."""
    parts = tuple(conjuncts(condition))
    if all(type(part) is Matches for part in parts):
        for subject, word in [(part.subject, part.pattern.required_text) for part in parts if type(part) is Matches]:
            if word is not None and isinstance(subject, ToolField) and subject.direct_name is not None:
                return _search_word(*subject.direct_name, word)
    return needs_closer_look


def _search_word(name: str, other_names: OtherNames, word: str) -> QuickSearch:
    at = rarest_character(word)
    character, size = word[at], len(word) - at

    def search(event: Event) -> Sequence[int] | None:
        facts = event.facts
        try:
            tool = facts["tool"] if type(facts) is dict else None
            input = tool["input"] if type(tool) is dict and tool["name"] else None
            value = input.get(name) if type(input) is dict else None
        except KeyError:
            return None
        if type(value) is not str:
            return None
        last = value.rfind(character)  # `absence_test` without the call
        if last >= 0 and (last >= MAX_RFIND_LENGTH or value.rfind(word, 0, last + size) >= 0):
            return None
        return () if other_names.isdisjoint(input) else None  # type: ignore[arg-type]

    return search


def needs_closer_look(event: Event) -> None:
    return None


def join_searches(searches: Sequence[QuickSearch]) -> QuickSearch:
    """No hook if none of them finds one."""
    if len(searches) == 1:
        return searches[0]

    def search_all(event: Event) -> Sequence[int] | None:
        for search in searches:
            found = search(event)
            if found is None or found:
                return None
        return ()

    return needs_closer_look if needs_closer_look in searches else search_all


_Rows = tuple[tuple[Any, ...], ...]
_NO_INPUT: Final[dict[str, Any]] = {}


def _match_all(cached: _Rows, fields: _Rows, others: _Rows, paths: _Rows, *, ask_condition: Holds) -> Holds:
    """One function on purpose: a call costs as much as a search."""

    def holds(event: Event, deadline: float) -> bool:
        try:
            facts, input = event.facts, _NO_INPUT
            if type(facts) is dict and "tool" in facts:  # several times as fast as `get`
                tool = facts["tool"]
                if type(tool) is dict and "input" in tool and type(tool["input"]) is dict:
                    input = tool["input"]
            for texts_of, answers, match in cached:
                texts = texts_of(event, deadline)
                known = answers.get(texts)
                if not (match(texts, deadline) if known is None else known):
                    return False
                if type(texts) is not tuple:  # AmbiguousTexts
                    return ask_condition(event, deadline)
            for name, other_names, texts_of, search in fields:
                value = input.get(name)
                if type(value) is str and other_names.isdisjoint(input):  # almost always
                    if not search(value, deadline):
                        return False
                    continue
                texts = texts_of(event, deadline)
                if not any_match(search, texts, deadline):
                    return False
                if type(texts) is not tuple:
                    return ask_condition(event, deadline)
            for texts_of, search in others:
                texts = texts_of(event, deadline)
                if not any_match(search, texts, deadline):
                    return False
                if type(texts) is not tuple:
                    return ask_condition(event, deadline)
            for name, other_names, subject, search in paths:
                given = input.get(name)
                if (
                    type(given) is str
                    and ".." not in given
                    and other_names.isdisjoint(input)
                    and search(given, deadline)
                ):
                    continue
                if any_match(search, subject.texts(event, deadline), deadline):
                    return ask_condition(event, deadline)
                return False
            return True
        except UNANSWERED:  # another part may still rule the event out
            return ask_condition(event, deadline)

    return holds
