"""Allow, ask, deny, notes, halt, a request: answers that need nothing from a host.

An action that cannot be carried out as it is written.

An action of a file that the user has not accepted yet.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NoReturn

from hookline.hooks.event import Event, FactPath
from hookline.hooks.host import Host
from hookline.hooks.outcome import ActionError, FailureKind, Note, Outcome, Verdict
from hookline.hooks.protocols import Action, May
from hookline.hooks.templates import Template


@dataclass(frozen=True, slots=True)
class InvalidAction:
    """Its hook answers its on_error: a guard that cannot be read still fails as its author said it should."""

    why: str
    may: May = May.NOTHING
    kind: FailureKind = FailureKind.CANNOT_START
    instant = True
    constant = None

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return ()

    async def run(self, event: Event, host: Host) -> Outcome:
        raise ActionError(self.kind, self.why)


@dataclass(frozen=True, slots=True)
class UntrustedAction:
    """Stands for `action` and always fails, so that its hook answers its on_error."""

    action: Action
    instant = True
    constant = None

    @property
    def may(self) -> May:
        return self.action.may

    def changes(self) -> tuple[FactPath, ...]:
        return tuple(self.action.changes())

    def reads(self) -> tuple[FactPath, ...]:
        return tuple(self.action.reads())

    async def run(self, event: Event, host: Host) -> NoReturn:
        raise ActionError(FailureKind.NOT_TRUSTED, "is not trusted yet; look at it and run `hookline trust`")


_MAY_BY_VERDICT = {Verdict.SILENT: May.NOTHING, Verdict.ALLOW: May.ALLOW, Verdict.ASK: May.ASK, Verdict.DENY: May.DENY}


def may_of(outcome: Outcome) -> May:
    """What this outcome asks for."""
    may = _MAY_BY_VERDICT[outcome.verdict]
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
