"""Allow, ask, deny, notes, halt, a request: answers that need nothing from a host."""

from __future__ import annotations

from dataclasses import dataclass, replace

from hookline.hooks.action import May
from hookline.hooks.event import Event, Path
from hookline.hooks.host import Host
from hookline.hooks.outcome import Note, Outcome, Verdict
from hookline.hooks.template import Template

_MAY = {Verdict.SILENT: May.NOTHING, Verdict.ALLOW: May.ALLOW, Verdict.ASK: May.ASK, Verdict.DENY: May.DENY}


def may_of(outcome: Outcome) -> May:
    """What this outcome asks for."""
    may = _MAY[outcome.verdict]
    if outcome.changes:
        may |= May.CHANGE
    if any(note.audience == "agent" for note in outcome.notes):
        may |= May.NOTES
    if outcome.halt:
        may |= May.HALT
    if outcome.requests:
        may |= May.COMPACT
    return may


@dataclass(frozen=True, slots=True)
class Answer:
    """Always the same outcome, made at load."""

    constant: Outcome
    instant = True

    @property
    def may(self) -> May:
        return may_of(self.constant)

    def changes(self) -> tuple[Path, ...]:
        return tuple(path for path, _ in self.constant.changes)

    def reads(self) -> tuple[Path, ...]:
        return ()

    async def run(self, event: Event, host: Host) -> Outcome:
        return self.constant


@dataclass(frozen=True, slots=True)
class Say:
    """An answer whose reason or note has placeholders."""

    outcome: Outcome
    reason: Template | None = None
    notes: tuple[tuple[Note, Template], ...] = ()
    instant = True
    constant = None

    @property
    def may(self) -> May:
        return may_of(self.outcome) | (May.NOTES if self.notes else May.NOTHING)

    def changes(self) -> tuple[Path, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        templates = [text for _, text in self.notes] + ([self.reason] if self.reason else [])
        return tuple(path for text in templates for path in text.reads())

    async def run(self, event: Event, host: Host) -> Outcome:
        reason = self.reason.render(event) if self.reason else self.outcome.reason
        notes = tuple(replace(note, text=text.render(event)) for note, text in self.notes)
        return replace(self.outcome, reason=reason, notes=self.outcome.notes + notes)
