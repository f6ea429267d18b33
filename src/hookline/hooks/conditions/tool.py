"""Conditions on a tool: its kind, and its path in every spelling that a glob may match."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass

from hookline.errors import AmbiguousField
from hookline.hooks.conditions.logic import All, AnyOf
from hookline.hooks.conditions.text import Matches
from hookline.hooks.event import Event, FactPath
from hookline.hooks.protocols import NO_DEADLINE, Condition, Need
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tool_name import ToolName, guessed_kind
from hookline.hooks.tools import NATIVE, ToolKind, Vocabulary, tool_kind


@dataclass(frozen=True, slots=True)
class ToolPath:
    """The path as given, and the resolved path: relative to the project, or absolute if it is outside.

    `.` and `..` are resolved, so that a detour cannot bypass a glob; a path with a detour (`a/../b`) matches only as
    resolved. Links are not resolved: a condition reads only the event.
    """

    path: FactPath  # within the input
    vocabulary: Vocabulary = NATIVE
    is_cacheable = False

    def texts(self, event: Event) -> tuple[str, ...]:
        given = self._field().texts(event)
        return type(given)(_all_spellings(given, event))

    def interpretations(self, event: Event) -> tuple[tuple[str, ...], ...]:
        return tuple(_all_spellings(given, event) for given in self._field().interpretations(event))

    def _field(self) -> ToolField:
        return ToolField(self.path, self.vocabulary)

    def reads(self) -> tuple[FactPath, ...]:
        return (*self._field().reads(), ("cwd",), ("workspace",))

    def __str__(self) -> str:
        return "input." + ".".join(str(step) for step in self.path)


def _all_spellings(paths: tuple[str, ...], event: Event) -> tuple[str, ...]:
    return tuple(text for given in paths for text in _path_spellings(given, event))


def _path_spellings(given: str, event: Event) -> tuple[str, ...]:
    project = _directory_fact(event, "workspace") or _directory_fact(event, "cwd")
    resolved = posixpath.normpath(posixpath.join(_directory_fact(event, "cwd") or project, given)) if given else given
    if project and _is_below(resolved, project):
        resolved = posixpath.relpath(resolved, project)
    return (resolved,) if resolved == given or _has_detour(given) else (given, resolved)


def _has_detour(given: str) -> bool:
    """True if `..` comes after a name. At the start of a relative path it is not a detour."""
    steps = [step for step in given.split("/") if step not in ("", ".")]
    below = [step != ".." for step in steps]
    return (given.startswith("/") and ".." in steps) or any(
        not name and any(below[:at]) for at, name in enumerate(below)
    )


def _is_below(path: str, directory: str) -> bool:
    return path == directory or path.startswith(directory.rstrip("/") + "/")


def _directory_fact(event: Event, fact: str) -> str:
    held = event.facts.get(fact)
    return posixpath.normpath(held) if isinstance(held, str) and held.startswith("/") else ""


def tool_matchers(condition: Condition) -> Iterator[Need]:
    """The matchers of the tool's name that may make the condition hold."""
    match condition:
        case Matches(ToolName() as subject, pattern):
            yield Need(subject, pattern)
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from tool_matchers(part)


@dataclass(frozen=True, slots=True)
class ToolKindIs:
    kind: ToolKind

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        """A kind that is guessed may be wrong: see hookline.hooks.kind_guess."""
        if "tool" not in event.facts:
            return False
        guess = guessed_kind(event.facts["tool"])
        if guess is None:
            return tool_kind(event.facts["tool"]) is self.kind
        if guess.kind is self.kind or self.kind is ToolKind.OTHER:
            raise AmbiguousField(f"the tool's kind is a guess from {guess.why}")
        return False

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return (("tool", "kind"), ("tool", "name"))

    def __str__(self) -> str:
        return f"the tool's kind is {self.kind}"

    def why_not(self, event: Event) -> str:
        return f"the tool's kind is {tool_kind(event.facts.get('tool'))}, not {self.kind}"
