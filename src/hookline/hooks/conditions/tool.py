"""Conditions on a tool: its kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from hookline.errors import AmbiguousField
from hookline.hooks.conditions.logic import All, AnyOf
from hookline.hooks.conditions.text import Matches
from hookline.hooks.event import Event, FactPath
from hookline.hooks.match_deadline import NO_DEADLINE
from hookline.hooks.protocols import Condition, Need
from hookline.hooks.tool_name import ToolName, guessed_kind
from hookline.hooks.tools import ToolKind, tool_kind
from hookline.lazy_dataclasses import dataclass


def tool_matchers(condition: Condition) -> Iterator[Need]:
    """The matchers of the tool's name that may make the condition hold."""
    match condition:
        case Matches(ToolName() as subject, pattern):
            yield Need(subject, pattern)
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from tool_matchers(part)


_KIND_GUESS: Final = "the guessed kind of the tool"  # a key of Event.choices


@dataclass(frozen=True, slots=True)
class ToolKindIs:
    kind: ToolKind

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        """A kind that is guessed may be wrong: see hookline.hooks.kind_guess."""
        if "tool" not in event.facts:
            return False
        guess = guessed_kind(event.facts["tool"], event)
        if guess is None:
            return tool_kind(event.facts["tool"]) is self.kind
        answers = (guess.kind is self.kind, self.kind is ToolKind.OTHER)
        choice = event.choices.get(_KIND_GUESS)
        if choice is not None:
            return answers[choice]
        if True in answers:
            raise AmbiguousField(f"the tool's kind is a guess from {guess.why}", _KIND_GUESS, len(answers))
        return False

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return (("tool", "kind"), ("tool", "name"), ("tool", "input"))

    def __str__(self) -> str:
        return f"the tool's kind is {self.kind}"

    def why_not(self, event: Event) -> str:
        return f"the tool's kind is {tool_kind(event.facts.get('tool'))}, not {self.kind}"
