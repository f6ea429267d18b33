"""What the host obeys, and the account of how it came about.

Which answers an event takes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from hookline.hooks.actions.answer import may_of
from hookline.hooks.event import REMOVED, Event, path_text
from hookline.hooks.events import EVENTS
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import SILENT, Audience, Failure, FailureKind, HostRequest, Note, Outcome, Verdict
from hookline.hooks.protocols import May


def accept_outcome(outcome: Outcome, event: str) -> tuple[Outcome, Failure | None]:
    """The part of an outcome that the event takes, and a failure that names the rest."""
    if outcome is SILENT:
        return outcome, None
    kind = EVENTS[event]
    takes = kind.accepts
    refused = may_of(outcome) & ~takes & ~May.CHANGE
    wrong = tuple(path for path, _ in outcome.changes if not kind.accepts_change(path))
    if not refused and not wrong:
        return outcome, None
    said = [flag.name.lower() for flag in refused if flag.name] + [f"change {'.'.join(map(str, p))}" for p in wrong]
    kept = replace(
        outcome,
        verdict=Verdict.SILENT if refused & May.JUDGE else outcome.verdict,
        reason="" if refused & May.JUDGE and not outcome.halt else outcome.reason,
        changes=tuple(change for change in outcome.changes if change[0] not in wrong),
        notes=tuple(n for n in outcome.notes if takes & May.NOTES or n.audience is Audience.USER),
        requests=outcome.requests if takes & May.COMPACT else (),
        halt=outcome.halt and bool(takes & May.HALT),
    )
    return kept, Failure(FailureKind.NOT_ACCEPTED, f"{event} does not take: {', '.join(said)}")


@dataclass(slots=True)
class TraceEntry:
    """One hook's part in a decision."""

    hook: Hook
    outcome: Outcome | None = None  # None: it was not asked, or still runs
    failure: Failure | None = None
    seconds: float = 0.0
    skip_reason: str = ""  # why, in words
    again: bool = False  # asked once more about the event as a later hook left it
    undecided: bool = False  # there was no time to find out whether its condition holds

    @property
    def applied(self) -> bool:
        return not self.skip_reason and (self.outcome is None or self.outcome.applied)

    @property
    def why(self) -> str:
        if self.skip_reason:
            return self.skip_reason
        words = str(self.hook.when)
        if self.undecided:
            words = f"it could not be decided in time whether {words}"
        if self.outcome is not None and not self.outcome.applied:
            words += "; it looked and had nothing to do"
        return f"asked again after a change: {words}" if self.again else words

    def as_json(self) -> dict[str, Any]:
        return {
            "hook": self.hook.id,
            "file": self.hook.origin.file,
            "line": self.hook.origin.line,
            "applied": self.applied,
            "why": self.why,
            "outcome": None if self.outcome is None else outcome_json(self.outcome),
            "error": None if self.failure is None else f"{self.failure.kind}: {self.failure.text}",
            "ms": round(self.seconds * 1000, 3),
        }


@dataclass(slots=True)
class Decision:
    event: Event  # as the hooks left it
    verdict: Verdict = Verdict.SILENT
    reason: str = ""
    by: str | None = None
    halt: bool = False
    notes: tuple[Note, ...] = ()
    requests: tuple[HostRequest, ...] = ()
    failures: tuple[Failure, ...] = ()
    trace: tuple[TraceEntry, ...] = ()

    @property
    def denied(self) -> bool:
        return self.verdict is Verdict.DENY

    def as_json(self) -> dict[str, Any]:
        return {
            "event": self.event.name,
            "verdict": self.verdict.word,
            "reason": self.reason,
            "by": self.by,
            "halt": self.halt,
            "facts": self.event.facts,
            "notes": [{"for": str(note.audience), "text": note.text} for note in self.notes],
            "trace": [account.as_json() for account in self.trace],
        }


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """The verdict, and whatever else the outcome asks for."""
    said: dict[str, Any] = {"verdict": outcome.verdict.word}
    if outcome.reason:
        said["reason"] = outcome.reason
    if outcome.changes:
        said["changes"] = {path_text(path): None if new is REMOVED else new for path, new in outcome.changes}
    if outcome.notes:
        said["notes"] = [{"for": str(note.audience), "text": note.text} for note in outcome.notes]
    if outcome.requests:
        said["requests"] = [type(request).__name__.lower() for request in outcome.requests]
    if outcome.halt:
        said["halt"] = True
    return said
