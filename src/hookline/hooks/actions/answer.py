"""Actions that only answer: allow, ask, deny, note, halt or a request."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hookline.hooks.event import Event, FactPath
from hookline.hooks.host import Host
from hookline.hooks.outcome import Note, Outcome
from hookline.hooks.protocols import May, may_of
from hookline.hooks.templates import Template


@dataclass(frozen=True, slots=True)
class FixedAnswer:
    """Always the same outcome, made at load."""

    constant: Outcome
    instant = True

    @property
    def may(self) -> May:
        return may_of(self.constant)

    def changes(self) -> tuple[FactPath, ...]:
        return tuple(path for path, _ in self.constant.changes)

    def reads(self) -> tuple[FactPath, ...]:
        return ()

    async def run(self, event: Event, host: Host) -> Outcome:
        return self.constant


@dataclass(frozen=True, slots=True)
class TemplateAnswer:
    """An answer whose reason or note has placeholders."""

    outcome: Outcome
    reason: Template | None = None
    notes: tuple[tuple[Note, Template], ...] = ()
    instant = True
    constant = None

    @property
    def may(self) -> May:
        return may_of(self.outcome) | (May.NOTES if self.notes else May.NOTHING)

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        templates = [text for _, text in self.notes] + ([self.reason] if self.reason else [])
        return tuple(path for text in templates for path in text.reads())

    async def run(self, event: Event, host: Host) -> Outcome:
        reason = self.reason.render(event) if self.reason else self.outcome.reason
        notes = tuple(replace(note, text=text.render(event)) for note, text in self.notes)
        return replace(self.outcome, reason=reason, notes=self.outcome.notes + notes)
