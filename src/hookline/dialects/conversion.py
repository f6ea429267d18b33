"""What the writers of all dialects share: tool names in another vocabulary, and what a dialect cannot express."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from operator import attrgetter
from typing import Any, Final

from hookline.dialects.degradation import degrade
from hookline.dialects.tool_names import match_tool_name
from hookline.errors import AmbiguousField
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.actions.notify import Log, Notify
from hookline.hooks.conditions.logic import All, Always, AnyOf, Not
from hookline.hooks.conditions.past_events import Remember
from hookline.hooks.conditions.text import Matches, ShellCommands
from hookline.hooks.conditions.tool import tool_matchers
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.hooks.placeholders import FactPlaceholder
from hookline.hooks.protocols import Action, Condition, Subject, TextPattern
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tool_name import HOST_NAMES, UNKNOWN_SERVER, ToolName, mcp_address
from hookline.hooks.tools import NATIVE, VOCABULARIES, Vocabulary
from hookline.hooks.wording import Wording
from hookline.lazy_dataclasses import field_names, replace
from hookline.lazy_imports import lazy_pattern
from hookline.patterns.matchers import Shorthand, shorthand

_ANCHORED_NAMES: Final = lazy_pattern(r"\^(?:\((?:\?:)?)?([\w.|-]+?)\)?\$")  # ^bash$, ^(bash|write_file)$
_PLAIN_REGEX: Final = lazy_pattern(r"(\^?)([A-Za-z0-9_-]+)(\$?)")
_ANY_TEXT: Final = ("", ".*", "(?:)")
_CODING_AGENT: Final = "claude-code"
LOST_GUESS: Final = "that a tool of your own that no table knows, such as my_bash, counts by what it looks like"
ADDED_GUESS: Final = "that a tool of your own that no table knows, such as my_bash, counts by its name alone"


def with_vocabulary(name: str, hooks: Iterable[Hook]) -> Iterator[Hook]:
    """The hooks with the tool names of this dialect, where the condition names the same tools in both.

    The native format can name tools in the words of any dialect, so it gets only names that mean exactly the same.
    """
    vocabulary = VOCABULARIES.get(name)
    for hook in hooks:
        if vocabulary is None or not _names_no_tools(hook.then):
            yield hook
            continue
        translated = replace(hook, when=translate_condition(hook.when, vocabulary))
        if takes_guess(hook) is not takes_guess(translated):
            loss = LOST_GUESS if takes_guess(hook) else ADDED_GUESS
            origin = replace(hook.origin, unconverted=(*hook.origin.unconverted, loss))
            translated = replace(translated, origin=origin)
        yield translated


def takes_guess(hook: Hook) -> bool:
    """Whether it is about tools of hookline's own sessions that no table knows, by what they look like."""
    return not hook.only_allows and any(
        need.subject.vocabulary.guesses_own_tools
        and need.subject.own_names is not HOST_NAMES
        and _globs(need.pattern) != ["*"]
        for need in tool_matchers(hook.when)
        if isinstance(need.subject, ToolName)
    )


def _names_no_tools(action: Action) -> bool:
    """Programs already receive tool names in the source dialect, so their hooks are not translated."""
    match action:
        case FixedAnswer():
            return True
        case Log(text):
            return text.constant
        case Notify(message, title):
            return message.constant and title.constant
        case _:
            return False


def translate_condition(condition: Condition, vocabulary: Vocabulary) -> Condition:
    """With the vocabulary's names for tools and fields, where they mean the same; the rest as it is."""
    match condition:
        case Matches(subject) if vocabulary == NATIVE and not _has_same_words(_vocabulary_of(subject), vocabulary):
            return condition
        case All(parts):
            return All(tuple(translate_condition(part, vocabulary) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(translate_condition(part, vocabulary) for part in parts))
        case Not(part):
            return Not(translate_condition(part, vocabulary))
        case Matches(ToolName(source), pattern) if source != vocabulary:
            names = _exact_names(pattern)
            meant = [translate_tool_name(each, source, vocabulary) for each in names]
            translated = list(dict.fromkeys(name for each in meant for name in each))
            if not names or not all(meant):
                if _has_same_words(source, vocabulary):
                    return match_tool_name(pattern, vocabulary)
                return _translate_pattern(condition, source, vocabulary)
            if len(translated) == 1:
                return match_tool_name(shorthand("exactly", translated[0]), vocabulary)
            return match_tool_name(shorthand("tool", "|".join(translated)), vocabulary)
        case Matches(ToolField() as field, pattern):
            return Matches(_translate_field(field, vocabulary), pattern)
        case Matches(ShellCommands(ToolField() as field), pattern):
            return Matches(ShellCommands(_translate_field(field, vocabulary)), pattern)
        case _:
            return condition


def _translate_pattern(condition: Matches, source: Vocabulary, target: Vocabulary) -> Condition:
    """The same tools as globs of names in another vocabulary; the condition itself if that would match other tools."""
    globs = _globs(condition.pattern)
    if globs is None:
        return condition
    kinds = [kind for kind, names in source.names.items() if any(condition.pattern.search(name) for name in names)]
    known = [name for kind in kinds for name in target.names.get(kind, ()) if globs != ["*"]]
    translated = match_tool_name(shorthand("tool", "|".join(dict.fromkeys([*known, *globs]))), target)
    parts = [glob.strip("*") for glob in globs]
    names = {name for vocabulary in VOCABULARIES.values() for name in vocabulary.known_names} | {"unrelated"}
    names |= {form.format(part) for part in parts for form in ("{}", "x{}", "{}x", "a_{}_b", "mcp__s__{}", "{}.x")}
    return translated if all(_holds(condition, name) == _holds(translated, name) for name in names) else condition


def _globs(pattern: TextPattern) -> list[str] | None:
    """The alternatives of a pattern of tools as globs; None if it has more than names, `*`, `^` and `$`."""
    if isinstance(pattern, Shorthand):
        is_glob = pattern.word == "tool" and not set(pattern.text) & set("?[")
        return [part.strip() for part in pattern.text.split("|")] if is_glob else None
    if pattern.source in _ANY_TEXT:
        return ["*"]
    found = [_PLAIN_REGEX.fullmatch(part) for part in pattern.source.split("|")]
    if not all(found):
        return None
    return [f"{'' if each[1] else '*'}{each[2]}{'' if each[3] else '*'}" for each in found if each is not None]


def _holds(condition: Matches, name: str) -> bool | None:
    """In a coding agent, where every dialect reads names alike. None if it depends on how the event is read."""
    try:
        return condition.holds(
            Event("tool.before", {"host": {"name": _CODING_AGENT}, "tool": {"name": name, "input": {}}})
        )
    except AmbiguousField:
        return None


def _vocabulary_of(subject: Subject) -> Vocabulary:
    match subject:
        case ToolName(vocabulary) | ToolField(_, vocabulary) | ShellCommands(ToolField(_, vocabulary)):
            return vocabulary
        case _:
            return NATIVE


def _has_same_words(one: Vocabulary, other: Vocabulary) -> bool:
    words = attrgetter("names", "fields", "others", "mcp", "short_names", "guesses_own_tools")
    return bool(words(one) == words(other))


def _exact_names(pattern: TextPattern) -> list[str]:
    """The names, if the pattern matches exactly these and nothing else."""
    if isinstance(pattern, Shorthand):
        plain = pattern.word == "exactly" or (pattern.word == "tool" and not set(pattern.text) & set("*?["))
        return [name.strip() for name in pattern.text.split("|")] if plain else []
    found = _ANCHORED_NAMES.fullmatch(pattern.source)
    names = found[1].split("|") if found else []
    return names if all(names) and not any("." in name for name in names) else []


def translate_tool_name(name: str, source: Vocabulary, target: Vocabulary) -> tuple[str, ...]:
    """The target's names for the kinds of tools that the name stands for; empty if there is none.

    A name that neither vocabulary knows means that very tool in both.
    """
    kinds = source.kinds_of(name)
    if kinds:
        return tuple(dict.fromkeys(name for kind in kinds for name in target.names.get(kind, ())[:1]))
    if mcp_address(name) is not None:
        spelled = spell_mcp_name(name, target)
        return () if spelled is None else (spelled,)
    return () if name in target.known_names else (name,)


def spell_mcp_name(name: str, target: Vocabulary) -> str | None:
    """The name of an MCP tool as the target spells it; None if one of the two does not say the server."""
    address = mcp_address(name)
    if address is None or (address[0] == UNKNOWN_SERVER) is names_servers(target):
        return name if address is None else None
    return target.mcp.format(server=address[0], tool=address[1])


def names_servers(vocabulary: Vocabulary) -> bool:
    """Whether the name of an MCP tool surely tells its server."""
    return "{server}" in vocabulary.mcp


def _translate_field(field: ToolField, target: Vocabulary) -> ToolField:
    if field.vocabulary == target or not field.path or not isinstance(field.path[0], str):
        return field
    first, *rest = field.path
    native = next((native for native, other in field.vocabulary.fields.items() if other == first), str(first))
    return replace(field, path=(target.fields.get(native, native), *rest), vocabulary=target)


def renders_other_names(value: Any, target: Vocabulary) -> bool:
    """Whether a template in it renders the name of a tool or of a field that the target calls otherwise."""
    if isinstance(value, FactPlaceholder):
        own = value.vocabulary
        is_field = value.path[:2] == ("tool", "input") and dict(own.fields) != dict(target.fields)
        return is_field or (value.path == ("tool", "name") and dict(own.names) != dict(target.names))
    if isinstance(value, dict):
        return renders_other_names(list(value.values()), target)
    if isinstance(value, (list, tuple)):
        return any(renders_other_names(part, target) for part in value)
    return any(renders_other_names(getattr(value, name), target) for name in field_names(value))


def flatten_all(condition: Condition) -> list[Condition]:
    """The conditions that must all hold; none for one that always holds."""
    if isinstance(condition, Always):
        return []
    return (
        [each for part in condition.parts for each in flatten_all(part)] if isinstance(condition, All) else [condition]
    )


def write_duration(duration: timedelta, unit: timedelta) -> int | float:
    """How many units, as an integer where possible."""
    number = duration / unit
    return int(number) if number.is_integer() else number


def write_each(hooks: Iterable[Hook], write: Callable[[Hook, list[str]], None]) -> tuple[str, ...]:
    """Calls `write` with each hook, and returns one line for each thing that cannot be expressed.

    `write` raises NotExpressible to skip the hook, or appends to its list what is lost of a hook that it writes.
    """
    lines: list[str] = []
    for hook in hooks:
        if isinstance(hook.then, Remember):  # it is part of the hook whose condition asks for it
            continue
        try:
            losses = [*_write_losses(hook, write), *hook.origin.unconverted]
        except NotExpressible as missing:
            degraded = _write_degraded(hook, write)
            losses = [*degraded, *hook.origin.unconverted] if degraded else [missing.describe(hook.origin.wording)]
        lines += [f"{hook_label(hook)}: {loss}" for loss in losses]
    return tuple(lines)


def _write_losses(hook: Hook, write: Callable[[Hook, list[str]], None]) -> list[str]:
    losses: list[str] = []
    write(hook, losses)
    return losses


def _write_degraded(hook: Hook, write: Callable[[Hook, list[str]], None]) -> list[str]:
    """Writes as much of the hook as its author allows, and returns what is lost; empty if nothing can be written."""
    for variant, lost in degrade(hook) if hook.origin.degradation else ():
        with suppress(NotExpressible):
            return [*lost, *_write_losses(variant, write)]
    return []


def hook_label(hook: Hook) -> str:
    return f"{hook.id} ({hook.origin.file}:{hook.origin.line})"


def is_complete(hook: Hook, not_expressible: Collection[str]) -> bool:
    """Whether nothing of the hook is lost, apart from what was before."""
    return set(not_expressible) <= {f"{hook_label(hook)}: {loss}" for loss in hook.origin.unconverted}


class NotExpressible(Exception):
    """The dialect has no way to write this: a noun phrase such as "its scope", or a part of the hook."""

    def __init__(self, what: str = "", *, action: Action | None = None, condition: Condition | None = None) -> None:
        super().__init__(what)
        self._what, self._action, self._condition = what, action, condition

    def describe(self, wording: Wording) -> str:
        """In the words of the dialect that the hook comes from."""
        if self._action is not None:
            return wording.action(self._action)
        what = wording.explain(wording.as_written(self._what))
        return what if self._condition is None else wording.condition(self._condition) + what


def event_not_expressible(hook: Hook) -> NotExpressible:
    return NotExpressible(f"the event {hook.event_name}")
