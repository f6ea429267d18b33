"""Whether two conditions say the same, however they were written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from hookline.dialects.conversion import flatten_all
from hookline.dialects.tool_names import match_tool_name
from hookline.hooks.conditions.logic import All, Always, AnyOf, Not, all_of
from hookline.hooks.conditions.text import Matches
from hookline.hooks.protocols import Condition, Subject, TextPattern
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import Vocabulary
from hookline.patterns.matchers import Shorthand, shorthand

_GLOB_CHARACTERS: Final = frozenset("*?[|")

Form = tuple[object, ...]


def same_meaning(one: Condition, other: Condition) -> bool:
    return normal_form(one) == normal_form(other)


def without_parts(condition: Condition, parts: Iterable[Condition]) -> Condition | None:
    """What the condition says besides these; None if it does not say all of them."""
    rest = flatten_all(condition)
    for part in parts:
        found = next((each for each in rest if same_meaning(each, part)), None)
        if found is None:
            return None
        rest.remove(found)
    return all_of(rest)


def join_names(alternatives: Iterable[Condition]) -> list[Condition]:
    """With one list of names for those that list names of tools, so that a hook is not written twice for one tool."""
    names: dict[Vocabulary, list[str]] = {}
    joined: dict[object, Condition] = {}
    for index, part in enumerate(alternatives):
        match part:
            case Matches(ToolName(vocabulary), compiled) if (listed := tool_globs(compiled)) is not None:
                is_first = vocabulary not in names
                known = names.setdefault(vocabulary, [])
                known += [name for name in listed if name not in known]
                text = "|".join(known)
                joined[vocabulary] = part if is_first else match_tool_name(shorthand("tool", text), vocabulary)
            case _:
                joined[index] = part
    return list(joined.values())


def normal_form(condition: Condition) -> Form:
    """Equal for conditions with the same parts in another order, or with names in another spelling."""
    match condition:
        case All() | Always():
            parts = frozenset(map(normal_form, flatten_all(condition)))
            return next(iter(parts)) if len(parts) == 1 else ("all", parts)
        case AnyOf(parts):
            forms = frozenset(map(normal_form, join_names(parts)))
            return next(iter(forms)) if len(forms) == 1 else ("any", forms)
        case Not(Not(part)):
            return normal_form(part)
        case Not(part):
            return ("not", normal_form(part))
        case Matches(subject, compiled):
            return ("matches", _subject_form(subject), _pattern_form(compiled))
    return (repr(condition),)


def _subject_form(subject: Subject) -> str:
    """A tool's name is compared as its pattern and its vocabulary say; the rest follows from them."""
    return f"tool name: {subject.vocabulary.name}" if isinstance(subject, ToolName) else repr(subject)


def _pattern_form(compiled: TextPattern) -> Form:
    names = tool_globs(compiled)
    return (repr(compiled),) if names is None else ("names", frozenset(names))


def tool_globs(compiled: TextPattern) -> list[str] | None:
    """The names of tools that the pattern lists, as globs; None for any other pattern."""
    match compiled:
        case Shorthand("tool", text):
            return [name.strip() for name in text.split("|")]
        case Shorthand("exactly", text) if _GLOB_CHARACTERS.isdisjoint(text):
            return [text]
        case Shorthand("like", text) if not set(text) & set("?[|"):
            return [text]
    return None
