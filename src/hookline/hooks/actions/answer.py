"""Actions that only answer: allow, ask, deny, note, halt or a request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from hookline.hooks.event import Event, FactPath
from hookline.hooks.host import Host
from hookline.hooks.outcome import Note, Outcome
from hookline.hooks.protocols import May, may_of
from hookline.lazy_dataclasses import dataclass, replace

if TYPE_CHECKING:
    from hookline.hooks.templates import Template


@dataclass(frozen=True, slots=True)
class FixedAnswer:
    """Always the same outcome, made when the config is loaded."""

    constant: Outcome
    instant = True

    @property
    def label(self) -> str:
        return _answer_label(self.may)

    @property
    def may(self) -> May:
        return may_of(self.constant)

    def changes(self) -> tuple[FactPath, ...]:
        return tuple(path for path, _ in self.constant.changes)

    def reads(self) -> tuple[FactPath, ...]:
        return ()

    def describe(self) -> Iterator[tuple[str, str]]:
        from hookline.hooks.actions.description import describe_outcome

        return describe_outcome(self.constant)

    async def run(self, event: Event, host: Host) -> Outcome:
        return self.constant


@dataclass(frozen=True, slots=True)
class TemplateAnswer:
    """An answer whose reason or notes have placeholders."""

    outcome: Outcome
    reason: Template | None = None
    notes: tuple[tuple[Note, Template], ...] = ()
    instant = True
    constant = None

    @property
    def label(self) -> str:
        return _answer_label(self.may)

    @property
    def may(self) -> May:
        return may_of(self.outcome) | (May.NOTES if self.notes else May.NOTHING)

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return tuple(path for text in self._templates() for path in text.reads())

    def describe(self) -> Iterator[tuple[str, str]]:
        from hookline.hooks.actions.description import describe_outcome

        yield from describe_outcome(self.outcome)
        yield from (("say", text.source) for text in self._templates())

    def _templates(self) -> list[Template]:
        return [text for _, text in self.notes] + ([self.reason] if self.reason else [])

    async def run(self, event: Event, host: Host) -> Outcome:
        reason = self.reason.render(event) if self.reason else self.outcome.reason
        notes = tuple(replace(note, text=text.render(event)) for note, text in self.notes)
        return replace(self.outcome, reason=reason, notes=self.outcome.notes + notes)


def _answer_label(may: May) -> str:
    words = {May.DENY: "deny", May.ASK: "ask", May.ALLOW: "allow", May.HALT: "halt", May.COMPACT: "compact"}
    return f"an answer of its own ({next((word for flag, word in words.items() if flag in may), 'tell')})"
