"""Which answers an event takes."""

from __future__ import annotations

from dataclasses import replace

from hookline.hooks.action import May
from hookline.hooks.actions.answer import may_of
from hookline.hooks.events import EVENTS
from hookline.hooks.outcome import SILENT, Audience, Failure, FailureKind, Outcome, Verdict


def accepted(outcome: Outcome, event: str) -> tuple[Outcome, Failure | None]:
    """The part of an outcome that the event takes, and a failure that names the rest."""
    if outcome is SILENT:
        return outcome, None
    kind = EVENTS[event]
    takes = kind.accepts
    refused = may_of(outcome) & ~takes & ~May.CHANGE
    wrong = tuple(path for path, _ in outcome.changes if not kind.takes_change(path))
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
