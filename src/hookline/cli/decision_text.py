"""Prints a decision: the verdict and its reason first, then why."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from hookline.cli.output import format_json, out, print_table
from hookline.engine.decision import Decision, TraceEntry
from hookline.formatting import shorten
from hookline.hooks.event import MISSING, Event, FactPath, path_text
from hookline.hooks.outcome import Verdict

_EXIT_CODES: Final = {Verdict.SILENT: 0, Verdict.ALLOW: 0, Verdict.ASK: 3, Verdict.DENY: 2}
_MEANINGS: Final = {
    Verdict.SILENT: "no hook decided; the event proceeds",
    Verdict.ALLOW: "the event proceeds",
    Verdict.ASK: "a person must approve",
    Verdict.DENY: "the event is blocked",
}
_MOST_CHANGES: Final = 20


def exit_code(decision: Decision) -> int:
    return 2 if decision.halt else _EXIT_CODES[decision.verdict]


def show_decision(decision: Decision, before: Event, *, explain: bool) -> None:
    word = "halt" if decision.halt else decision.verdict.word
    meaning = "the agent stops" if decision.halt else _MEANINGS[decision.verdict]
    out(f"{word}: {decision.reason or meaning}")
    if decision.by is not None:
        out(f"  by {decision.by}{_origin_text(decision)}")
    for path, old, new in list(_changed_facts((), before.facts, decision.event.facts))[:_MOST_CHANGES]:
        out(f"  changed {path_text(path)}: {_short_json(old)} → {_short_json(new)}")
    for note in decision.notes:
        out(f"  note for the {note.audience}: {note.text}")
    for request in decision.requests:
        out(f"  asks to {type(request).__name__.lower()} the history")
    shown = {decision.reason, *(note.text for note in decision.notes)}
    for failure in decision.failures:
        why = "" if any(failure.text in text for text in shown) else f": {failure.text}"
        out(f"  failed {failure.hook} ({failure.kind}){why}")
    if explain:
        _show_trace(decision.trace)


def _origin_text(decision: Decision) -> str:
    origin = next((each.hook.origin for each in decision.trace if each.hook.id == decision.by), None)
    return f"  {origin.file}:{origin.line}" if origin else ""


def _show_trace(trace: tuple[TraceEntry, ...]) -> None:
    if not trace:
        out("  no hook listens to this event")
        return
    rows = [
        (
            each.hook.id,
            f"{each.hook.origin.file}:{each.hook.origin.line}",
            _answer_text(each),
            f"{each.seconds * 1000:.2f}",
            each.why,
        )
        for each in trace
    ]
    print_table(("hook", "where", "answer", "ms", "why"), rows)


def _answer_text(entry: TraceEntry) -> str:
    if entry.skip_reason:
        return "-"
    if entry.failure is not None:
        return f"failed: {entry.failure.kind}"
    return "background" if entry.outcome is None else entry.outcome.verdict.word


def _changed_facts(path: FactPath, old: Any, new: Any) -> Iterator[tuple[FactPath, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            yield from _changed_facts((*path, key), old.get(key, MISSING), new.get(key, MISSING))
    elif type(old) is not type(new) or old != new:
        yield path, old, new


def _short_json(value: Any) -> str:
    return "(unset)" if value is MISSING else shorten(format_json(value, indent=None))
