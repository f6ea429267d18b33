"""Conditions as one function each, so that the usual one, patterns that must all match, costs one call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

from hookline.hooks.conditions.logic import All, Always, AnyOf, Never, Not
from hookline.hooks.conditions.shell_commands import PipesCommand, RunsCommand
from hookline.hooks.conditions.text import Equals, Exists, Matches, any_match
from hookline.hooks.conditions.tool import ToolKindIs
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.hooks.protocols import Condition, PureCondition, Subject
from hookline.hooks.tool_input import ToolField

Holds = Callable[[Event, float], bool]

_SIMPLE: Final = (Matches, Equals, Exists, RunsCommand, PipesCommand, ToolKindIs, Always, Never)


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
        return condition.holds
    cached, fields, others, paths = list[Any](), list[Any](), list[Any](), list[Any]()
    for matcher in matchers:
        subject, search = matcher.subject, matcher.pattern.search
        if matcher.cached_matches is not None:
            cached.append((subject.texts, matcher.cached_matches, matcher.match_cached))
        elif isinstance(subject, ToolField) and subject.direct_name is not None:
            fields.append((*subject.direct_name, subject.texts, search))
        elif is_path(subject) and not hook.only_allows:
            paths.append((subject, search))
        else:
            others.append((subject.texts, search))
    return _match_all(tuple(cached), tuple(fields), tuple(others), tuple(paths), condition.holds)


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


_Rows = tuple[tuple[Any, ...], ...]


def _match_all(cached: _Rows, fields: _Rows, others: _Rows, paths: _Rows, ask_condition: Holds) -> Holds:
    """One function on purpose: a call costs as much as a search."""

    def holds(event: Event, deadline: float) -> bool:
        for texts_of, answers, match in cached:
            texts = texts_of(event, deadline)
            known = answers.get(texts)
            if not (match(texts, deadline) if known is None else known):
                return False
            if type(texts) is not tuple:  # AmbiguousTexts
                return ask_condition(event, deadline)
        if fields:
            tool = event.facts.get("tool")
            input = tool.get("input") if type(tool) is dict else None
            for name, other_names, texts_of, search in fields:
                value = input.get(name) if type(input) is dict else None
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
        for subject, search in paths:
            given = subject.given_path(event)
            if given is not None and search(given, deadline):
                continue
            if any_match(search, subject.texts(event, deadline), deadline):
                return ask_condition(event, deadline)
            return False
        return True

    return holds
