"""Decision: what the host must do, and the trace that explains why."""

from __future__ import annotations

from datetime import timedelta
from time import perf_counter
from typing import Any, Final

from hookline.hooks.attempt import CombinedOutcome
from hookline.hooks.conditions.logic import describe_match
from hookline.hooks.event import REMOVED, Event, path_text
from hookline.hooks.events import EVENTS
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.outcome import AskTerms, Failure, HostRequest, Note, Outcome, Verdict, merge_terms
from hookline.hooks.protocols import May
from hookline.lazy_dataclasses import dataclass

Conclusion = tuple[Verdict, str, str | None, bool, tuple[Note, ...], tuple[HostRequest, ...]]
"""The fields of a Decision from `verdict` to `requests`."""


_TIME_TO_EXPLAIN: Final = 0.1  # seconds
_DENY = Verdict.DENY  # looking a member up in its enum takes as long as the rest of `denied`


def conclude(combined: CombinedOutcome, event: str) -> Conclusion:
    """What all outcomes together mean: a halt denies an event that can be denied, and a deny has a reason."""
    verdict, reason = combined.verdict, combined.reason
    if combined.halt and EVENTS[event].accepts & May.DENY:
        verdict = Verdict.DENY
    if verdict is Verdict.DENY and not reason:
        reason = f"Blocked by hook {combined.by}"
    return verdict, reason, combined.by, combined.halt, combined.notes, combined.requests


@dataclass(slots=True)
class TraceEntry:
    """One hook's part in a decision."""

    hook: Hook
    outcome: Outcome | None = None  # None: it did not run, or still runs in the background
    event: Event | None = None  # as it was when the hook ran
    failure: Failure | None = None
    seconds: float = 0.0
    skip_reason: str = ""
    again: bool = False  # run once more, because a later hook changed the event
    undecided: str = ""  # why its condition could not be evaluated: "could not be evaluated in time"
    unsure: tuple[str, str] | None = None  # a part of its condition as it is, and as it may be: "may run rm"

    @property
    def applied(self) -> bool:
        return not self.skip_reason and (self.outcome is None or self.outcome.applied)

    @property
    def why(self) -> str:
        """In the words of the hook's file."""
        return self.hook.origin.wording.explain(self._why)

    @property
    def _why(self) -> str:
        if self.skip_reason:
            return self.skip_reason
        why = self._match
        if self.unsure is not None:
            why = why.replace(*self.unsure)
        if self.undecided:
            why = f"{self.undecided}: {why}"
        if self.outcome is not None and not self.outcome.applied:
            why += "; ran, nothing to do"
        return f"run again after a change: {why}" if self.again else why

    @property
    def _match(self) -> str:
        if self.event is None or self.undecided:
            return str(self.hook.when)
        return describe_match(self.hook.when, self.event, perf_counter() + _TIME_TO_EXPLAIN)

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


@dataclass
class Decision:
    """Without slots, so that the defaults are the class's own and `silent_decision` need not set them."""

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
        return self.verdict is _DENY

    @property
    def ask_terms(self) -> AskTerms:
        """What it counts as if nobody answers an ask in time."""
        outcomes = (entry.outcome for entry in self.trace if not entry.skip_reason)
        return merge_terms([each.terms for each in outcomes if each is not None and each.verdict is Verdict.ASK])

    @property
    def origin(self) -> Origin | None:
        """Where the hook that decided is written."""
        hook = self._deciding_hook
        return hook.origin if hook is not None else None

    @property
    def source(self) -> str:
        """The end of every reason that people and agents read: ` (hook no-rm, hookline.yaml:3)`.

        Empty for a hook that nobody trusts: its id may be an instruction.
        """
        hook = self._deciding_hook
        if hook is None or not hook.is_trusted:
            return ""
        return f" (hook {self.by}, {hook.origin.file}:{hook.origin.line})"

    @property
    def _deciding_hook(self) -> Hook | None:
        """Two files may have hooks with the same id: the one that gave the verdict counts."""
        named = [entry for entry in self.trace if entry.hook.id == self.by and not entry.skip_reason]
        gave = [entry for entry in named if entry.outcome is not None and entry.outcome.verdict is self.verdict]
        return next((entry.hook for entry in (*gave, *named)), None)

    @property
    def full_reason(self) -> str:
        """The reason as people and agents read it."""
        return self.reason.rstrip() + self.source if self.reason else ""

    def as_json(self) -> dict[str, Any]:
        return {
            "event": self.event.name,
            "verdict": self.verdict.word,
            "reason": self.reason,
            "by": self.by,
            "halt": self.halt,
            "facts": self.event.facts,
            "notes": [{"for": str(note.audience), "text": note.text} for note in self.notes],
            "trace": [entry.as_json() for entry in self.trace],
        }


_new: Final = object.__new__


def silent_decision(event: Event) -> Decision:
    """`Decision(event)`, in half the time: almost every event ends in one."""
    decision: Decision = _new(Decision)
    decision.event = event
    return decision


def stop_decision(event: Event, conclusion: Conclusion, hook: Hook, outcome: Outcome | None) -> Decision:
    """The decision of one hook with a fixed outcome, in three quarters of the time that the constructor takes."""
    decision: Decision = _new(Decision)
    decision.event = event
    verdict, reason, by, halt, notes, requests = conclusion
    decision.verdict, decision.reason, decision.by, decision.halt = verdict, reason, by, halt
    decision.notes, decision.requests = notes, requests
    decision.trace = (TraceEntry(hook, outcome, event),)
    return decision


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """The verdict, and what else the outcome sets."""
    fields: dict[str, Any] = {"verdict": outcome.verdict.word}
    if outcome.reason:
        fields["reason"] = outcome.reason
    if outcome.changes:
        fields["changes"] = {path_text(path): None if new is REMOVED else new for path, new in outcome.changes}
    if outcome.notes:
        fields["notes"] = [{"for": str(note.audience), "text": note.text} for note in outcome.notes]
    if outcome.requests:
        fields["requests"] = [type(request).__name__.lower() for request in outcome.requests]
    if outcome.halt:
        fields["halt"] = True
    if outcome.final:
        fields["final"] = True
    return fields


def background_time(decision: Decision) -> timedelta:
    """How long its background hooks may take, one after the other, plus a moment for their programs to end."""
    started = [account.hook.timeout for account in decision.trace if not account.hook.wait and not account.skip_reason]
    return sum(started, timedelta(seconds=5)) if started else timedelta()
