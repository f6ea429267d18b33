"""A condition's words for tools in another format's words, where both mean the same tools."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Final

from hookline.hooks.action import Action
from hookline.hooks.actions.answer import Answer
from hookline.hooks.actions.tell import Log, Notify
from hookline.hooks.condition import Condition, TextPattern
from hookline.hooks.conditions.logic import All, AnyOf, Not
from hookline.hooks.conditions.text import Matches
from hookline.hooks.fields import ToolField
from hookline.hooks.hook import Hook
from hookline.hooks.tools import TONGUES, Tongue, ToolName
from hookline.patterns.spelt import Spelt, spelt

_NAMES: Final = re.compile(r"\^(?:\((?:\?:)?)?([\w.|-]+?)\)?\$")  # ^bash$, ^(bash|write_file)$


def in_words_of(name: str, hooks: Iterable[Hook]) -> Iterator[Hook]:
    """The hooks, with tools called as this format calls them; one that says more than names stays as it is."""
    tongue = TONGUES.get(name)
    for hook in hooks:
        plain = tongue is not None and _says_no_names(hook.then)
        yield replace(hook, when=_retongued(hook.when, tongue)) if tongue is not None and plain else hook


def _says_no_names(action: Action) -> bool:
    """Its own words name no tool: what a program is told of a tool is in its format's words for good."""
    match action:
        case Answer():
            return True
        case Log(text):
            return text.constant
        case Notify(message, title):
            return message.constant and title.constant
        case _:
            return False


def _retongued(condition: Condition, tongue: Tongue) -> Condition:
    match condition:
        case All(parts):
            return All(tuple(_retongued(part, tongue) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(_retongued(part, tongue) for part in parts))
        case Not(part):
            return Not(_retongued(part, tongue))
        case Matches(ToolName(spoken), pattern) if spoken != tongue:
            names = _names_of(pattern)
            said = [_translated(each, spoken, tongue) for each in names]
            if not said or None in said:
                return condition
            words = [word for word in said if word is not None]
            return Matches(
                ToolName(tongue), spelt("exactly", words[0]) if len(words) == 1 else spelt("tool", "|".join(words))
            )
        case Matches(ToolField((str(first), *rest), spoken), pattern) if spoken != tongue:
            return Matches(ToolField((_field(first, spoken, tongue), *rest), tongue), pattern)
        case _:
            return condition


def _names_of(pattern: TextPattern) -> list[str]:
    """The names that it means, where it means just these."""
    if isinstance(pattern, Spelt):
        plain = pattern.word == "exactly" or (pattern.word == "tool" and not set(pattern.text) & set("*?["))
        return [name.strip() for name in pattern.text.split("|")] if plain else []
    found = _NAMES.fullmatch(pattern.source)
    names = found[1].split("|") if found else []
    return names if all(names) and not any("." in name for name in names) else []


def _translated(name: str, spoken: Tongue, tongue: Tongue) -> str | None:
    """The other tongue's name for the same kind of tool; a name that is no kind's means that very tool in both."""
    kind = next((kind for kind, names in spoken.names.items() if name in names), None)
    if kind is not None:
        return next(iter(tongue.names.get(kind, ())), None)
    return None if any(name in names for names in tongue.names.values()) else name


def _field(name: str, spoken: Tongue, tongue: Tongue) -> str:
    ours = next((ours for ours, theirs in spoken.fields.items() if theirs == name), name)
    return tongue.fields.get(ours, ours)
