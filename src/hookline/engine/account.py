"""What the host obeys, and the account of how it came about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hookline.hooks.event import REMOVED, Event, path_text
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import Failure, Note, Outcome, Request, Verdict


@dataclass(slots=True)
class Account:
    """One hook's part in a decision."""

    hook: Hook
    outcome: Outcome | None = None  # None: it was not asked, or still runs
    failure: Failure | None = None
    seconds: float = 0.0
    not_asked: str = ""  # why, in words
    again: bool = False  # asked once more about the event as a later hook left it
    undecided: bool = False  # there was no time to find out whether its condition holds

    @property
    def applied(self) -> bool:
        return not self.not_asked and (self.outcome is None or self.outcome.applied)

    @property
    def why(self) -> str:
        if self.not_asked:
            return self.not_asked
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
    requests: tuple[Request, ...] = ()
    failures: tuple[Failure, ...] = ()
    trace: tuple[Account, ...] = ()

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
