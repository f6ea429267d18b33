"""How a finished program's end is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Final

from hookline.hooks.action import May
from hookline.hooks.actions import claude_answer
from hookline.hooks.actions.object_answer import (
    MOST,
    SaidTwice,
    bare,
    blocked,
    no_word,
    object_in,
    rather_not,
    text_in,
    unreadable,
    warn_of,
)
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
    CLAUDE = "claude"  # as json, in the words that Claude Code knows for each event


ANSWER_KEYS: Final = ("continue", "stopReason", "suppressOutput", "decision", "reason", "additionalContext")
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
        output = (finished.stderr.strip() or finished.stdout.strip())[:MOST]
        if not output and "{exit_code}" not in self.reason:
            output = f"exit code {finished.exit_code}"
        said = self.reason.replace("{exit_code}", str(finished.exit_code)).replace("{output}", output)
        return said.strip()


_MAY: Final = {
    Reads.NEVER: May.NOTHING,
    Reads.ERROR: May.NOTHING,
    Reads.NONZERO: May.DENY,
    Reads.EXIT2: May.DENY | May.NOTES,
    Reads.JSON: May.JUDGE | May.NOTES | May.HALT,
    Reads.CLAUDE: May.JUDGE | May.NOTES | May.HALT | May.CHANGE,
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
        return blocked(finished.stderr.strip(), event)
    if finished.exit_code:
        said = finished.stderr.strip() or f"exit code {finished.exit_code}"
        raise Failed(FailureKind.EXIT, said[:MOST])
    return reading.told(finished)


def _json(reading: Reading, finished: Finished, event: Event) -> Outcome:
    if finished.exit_code:
        return _exit2(reading, finished, event)
    answer = _whole_object(finished, event)
    return reading.told(finished) if answer is None else _answered(answer, event)


def _whole_object(finished: Finished, event: Event) -> dict[str, Any] | None:
    try:
        answer = object_in(finished.stdout)
    except SaidTwice as twice:
        raise rather_not(str(twice), event) from None
    if answer is None and finished.dropped and bare(finished.stdout).startswith("{"):
        raise rather_not("its answer is longer than what is kept of a program's output", event)
    return answer


def _answered(answer: dict[str, Any], event: Event) -> Outcome:
    warn_of(answer, ANSWER_KEYS)
    if answer.get("continue") is False:
        why = text_in(answer, "stopReason") or text_in(answer, "reason")
        return Outcome(Verdict.SILENT, why, notes=(Note(why, Audience.USER),) if why else (), halt=True)
    context = text_in(answer, "additionalContext")
    beside = (Note(context),) if context and EVENTS[event.name].accepts & May.NOTES else ()
    outcome = _decided(answer, event, beside)
    return outcome if outcome.verdict is Verdict.DENY else replace(outcome, notes=(*outcome.notes, *beside))


def _decided(answer: dict[str, Any], event: Event, beside: tuple[Note, ...]) -> Outcome:
    decision, reason = answer.get("decision"), text_in(answer, "reason")
    if decision is None:
        return SILENT
    if decision in ("deny", "block"):
        return blocked(reason, event)
    accepts = EVENTS[event.name].accepts
    if decision == "allow" and accepts & May.ALLOW:
        return Outcome(Verdict.ALLOW, reason)
    if decision == "ask" and accepts & May.ASK:
        return Outcome(Verdict.ASK, reason)
    raise unreadable(no_word(decision, event), event, reason, beside)


def _claude(reading: Reading, finished: Finished, event: Event) -> Outcome:
    later = claude_answer.goes_on_later(finished.stdout)
    if finished.exit_code and not later:
        return _claude_failed(finished, event)
    if later:
        return _exit2(reading, replace(finished, stdout=""), event)
    answer = _whole_object(finished, event)
    if answer is not None:
        return claude_answer.answered(answer, event)
    if reading.tell is None and event.name in claude_answer.TEXT_IS_CONTEXT:
        reading = replace(reading, tell=Audience.AGENT)
    if reading.tell is None and bare(finished.stdout).startswith("{"):
        raise Failed(FailureKind.UNREADABLE_ANSWER, "answered what is no JSON")
    return reading.told(finished)


def _claude_failed(finished: Finished, event: Event) -> Outcome:
    """An answer that was given before a bad end counts, but for an allow."""
    try:
        answer = _whole_object(finished, event)
        outcome = SILENT if answer is None else claude_answer.answered(answer, event)
    except Failed:
        outcome = SILENT
    if finished.exit_code == 2:
        denied = outcome.verdict is Verdict.DENY or outcome.halt
        return outcome if denied else claude_answer.blocked(finished.stderr.strip(), event)
    said = finished.stderr.strip() or f"exit code {finished.exit_code}"
    heard = replace(outcome, verdict=Verdict.SILENT, reason="") if outcome.verdict is Verdict.ALLOW else outcome
    raise Failed(FailureKind.EXIT, said[:MOST], None if heard == SILENT else heard)


_READERS: Final[dict[Reads, Callable[[Reading, Finished, Event], Outcome]]] = {
    Reads.NEVER: _never,
    Reads.ERROR: _error,
    Reads.NONZERO: _nonzero,
    Reads.EXIT2: _exit2,
    Reads.JSON: _json,
    Reads.CLAUDE: _claude,
}
