"""How a finished program's end is read."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from hookline.hooks.action import May
from hookline.hooks.actions.tell import who
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hooks.host import Finished
from hookline.hooks.outcome import SILENT, Audience, Failed, FailureKind, Note, Outcome, Verdict


class Reads(StrEnum):
    NEVER = "never"  # its end says nothing
    ERROR = "error"  # a non-zero exit is an error: the hook's on_error speaks
    NONZERO = "nonzero"  # a non-zero exit denies
    EXIT2 = "exit2"  # exit 2 blocks with stderr; another code is an error for the user to see
    JSON = "json"  # as exit2, and at exit 0 a JSON object on stdout is the answer


REASON: Final = "{output} (exit code {exit_code})"


@dataclass(frozen=True, slots=True)
class Reading:
    how: Reads
    tell: Audience | None = None  # whom stdout of a good end is for
    reason: str = REASON  # of a deny: {output} is stderr, else stdout, else the exit code where that is not said anyway

    @property
    def may(self) -> May:
        notes = May.NOTES if self.tell is Audience.AGENT else May.NOTHING
        return notes | _MAY[self.how]

    def outcome(self, finished: Finished, event: Event) -> Outcome:
        return _READERS[self.how](self, finished, event)

    def told(self, finished: Finished) -> Outcome:
        """What a good end says: its stdout, for whom it is meant."""
        text = finished.stdout.rstrip("\n")
        if self.tell is None or not text.strip():
            return SILENT
        return Outcome(notes=(Note(text, self.tell),))

    def because(self, finished: Finished) -> str:
        output = (finished.stderr.strip() or finished.stdout.strip())[:_MOST]
        if not output and "{exit_code}" not in self.reason:
            output = f"exit code {finished.exit_code}"
        said = self.reason.replace("{exit_code}", str(finished.exit_code)).replace("{output}", output)
        return said.strip()


_MOST: Final = 20_000  # characters of a program's output that a reason repeats

_MAY: Final = {
    Reads.NEVER: May.NOTHING,
    Reads.ERROR: May.NOTHING,
    Reads.NONZERO: May.DENY,
    Reads.EXIT2: May.DENY | May.NOTES,
    Reads.JSON: May.JUDGE | May.NOTES | May.HALT,
}


def _never(reading: Reading, finished: Finished, event: Event) -> Outcome:
    return reading.told(finished)


def _error(reading: Reading, finished: Finished, event: Event) -> Outcome:
    if finished.exit_code:
        raise Failed(FailureKind.EXIT, reading.because(finished))
    return reading.told(finished)


def _nonzero(reading: Reading, finished: Finished, event: Event) -> Outcome:
    if finished.exit_code:
        return Outcome(Verdict.DENY, reading.because(finished))
    return reading.told(finished)


def _exit2(reading: Reading, finished: Finished, event: Event) -> Outcome:
    if finished.exit_code == 2:
        return _blocked(finished.stderr.strip(), event)
    if finished.exit_code:
        said = finished.stderr.strip() or f"exit code {finished.exit_code}"
        raise Failed(FailureKind.EXIT, said[:_MOST])
    return reading.told(finished)


def _json(reading: Reading, finished: Finished, event: Event) -> Outcome:
    if finished.exit_code:
        return _exit2(reading, finished, event)
    answer = _object_in(finished.stdout)
    if answer is not None:
        return _answered(answer, event)
    if finished.dropped and finished.stdout.lstrip().startswith("{"):
        raise _unreadable("its answer is longer than what is kept of a program's output", event)
    return reading.told(finished)


def _blocked(text: str, event: Event) -> Outcome:
    """Where the event can be denied, a deny; after the fact, words for the agent."""
    text = text[:_MOST]
    if EVENTS[event.name].accepts & May.DENY:
        return Outcome(Verdict.DENY, text)
    return Outcome(notes=(Note(text or f"Blocked by hook {who()}"),))


def _answered(answer: dict[str, Any], event: Event) -> Outcome:
    if answer.get("continue") is False:
        why = _text(answer, "stopReason") or _text(answer, "reason")
        return Outcome(Verdict.SILENT, why, notes=(Note(why, Audience.USER),) if why else (), halt=True)
    context = _text(answer, "additionalContext")
    beside = (Note(context),) if context and EVENTS[event.name].accepts & May.NOTES else ()
    outcome = _decided(answer, event, beside)
    return outcome if outcome.verdict is Verdict.DENY else replace(outcome, notes=(*outcome.notes, *beside))


def _decided(answer: dict[str, Any], event: Event, beside: tuple[Note, ...]) -> Outcome:
    decision, reason = answer.get("decision"), _text(answer, "reason")
    if decision is None:
        return SILENT
    if decision in ("deny", "block"):
        return _blocked(reason, event)
    accepts = EVENTS[event.name].accepts
    if decision == "allow" and accepts & May.ALLOW:
        return Outcome(Verdict.ALLOW, reason)
    if decision == "ask" and accepts & May.ASK:
        return Outcome(Verdict.ASK, reason)
    said = json.dumps(decision, ensure_ascii=False)[:60]
    raise _unreadable(f"answered {said}, which is no decision about {event.name}", event, reason, beside)


def _unreadable(what: str, event: Event, reason: str = "", beside: tuple[Note, ...] = ()) -> Failed:
    """Before a tool somebody must look; elsewhere the event goes on. The user sees it either way."""
    told = (*beside, Note(f"hook {who()} {what}", Audience.USER))
    asks = bool(EVENTS[event.name].accepts & May.ASK)
    counts_as = Outcome(Verdict.ASK, reason or f"hook {who()} {what}", notes=told) if asks else Outcome(notes=told)
    return Failed(FailureKind.UNREADABLE_ANSWER, what, counts_as)


def _object_in(text: str) -> dict[str, Any] | None:
    """All of the text as one JSON object, or None."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _text(answer: dict[str, Any], key: str) -> str:
    value = answer.get(key)
    return value if isinstance(value, str) else ""


_READERS: Final[dict[Reads, Callable[[Reading, Finished, Event], Outcome]]] = {
    Reads.NEVER: _never,
    Reads.ERROR: _error,
    Reads.NONZERO: _nonzero,
    Reads.EXIT2: _exit2,
    Reads.JSON: _json,
}
