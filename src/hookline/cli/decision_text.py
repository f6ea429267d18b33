"""Prints a decision: the verdict and its reason first, then why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, Final

from hookline.cli.output import Colour, format_json, out, out_labelled, terminal_width, wrap
from hookline.engine.decision import Decision, TraceEntry, outcome_json
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
_COLOURS: Final = {
    Verdict.SILENT: Colour.DIM,
    Verdict.ALLOW: Colour.GREEN,
    Verdict.ASK: Colour.YELLOW,
    Verdict.DENY: Colour.RED,
}
_MOST_CHANGES: Final = 20
_MOST_PATHS: Final = 3


def exit_code(decision: Decision) -> int:
    return 2 if decision.halt else _EXIT_CODES[decision.verdict]


def show_decision(decision: Decision, before: Event, *, explain: bool, missing: str = "") -> None:
    """`missing` says what was not there to decide about."""
    word = "halt" if decision.halt else decision.verdict.word
    meaning = "the agent stops" if decision.halt else _MEANINGS[decision.verdict]
    explanation = decision.reason or meaning
    if missing and decision.by is None and not decision.halt:
        explanation += f". {missing}"
    colour = Colour.RED if decision.halt else _COLOURS[decision.verdict]
    show = _out_wrapped if explain else out
    text = f"{word}: {explanation}"
    out_labelled(word, colour, (wrap(text, "", hanging="  ") if explain else text).removeprefix(word))
    if decision.by is not None:
        show(f"  by {decision.by}{_origin_text(decision)}")
    for path, old, new in list(_changed_facts((), before.facts, decision.event.facts))[:_MOST_CHANGES]:
        show(f"  changed {path_text(path)}: {_short_json(old)} → {_short_json(new)}")
    for note in decision.notes:
        show(f"  note for the {note.audience}: {note.text}")
    for request in decision.requests:
        show(f"  asks to {type(request).__name__.lower()} the history")
    shown = {decision.reason, *(note.text for note in decision.notes)}
    for failure in decision.failures:
        why = "" if any(failure.text in text for text in shown) else f": {failure.text}"
        show(f"  failed {failure.hook} ({failure.kind}){why}")
    if explain:
        _show_trace(decision.trace)


def _origin_text(decision: Decision) -> str:
    origin = decision.origin
    return f"  {origin.file}:{origin.line}" if origin else ""


def _show_trace(trace: tuple[TraceEntry, ...]) -> None:
    if not trace:
        out("  no hook listens to this event")
        return
    out()
    long_ids = frozenset(entry.hook.id for entry in trace if len(entry.hook.id) > terminal_width() - 4)
    for skip_reason, group in groupby(trace, key=lambda entry: entry.skip_reason):
        entries = list(group)
        if skip_reason and len(entries) > 1:
            _show_skipped(skip_reason, entries)
        else:
            for each in entries:
                _show_entry(each, long_ids)


def _show_skipped(skip_reason: str, entries: list[TraceEntry]) -> None:
    """Hooks that did not run for the same reason, which is said once."""
    out(wrap(skip_reason, ""), Colour.DIM)
    for each in entries:
        out_labelled(f"    {each.hook.id}", Colour.BOLD, _place_text(each))


def _show_entry(entry: TraceEntry, long_ids: frozenset[str]) -> None:
    took = f"  {entry.seconds * 1000:.2f} ms" if entry.seconds else ""
    beside = f"{_place_text(entry)}  {_answer_text(entry)}{took}"
    fits = len(entry.hook.id) + len(beside) <= terminal_width()
    out_labelled(entry.hook.id, Colour.BOLD, beside if fits else "\n" + wrap(beside.strip(), "    "))
    is_split = long_ids.isdisjoint(entry.why.split())  # a pattern may be, an id not
    out(wrap(entry.why, "    ", split_words=is_split), Colour.DIM if entry.skip_reason else None)


def _place_text(entry: TraceEntry) -> str:
    return f"  {entry.hook.origin.file}:{entry.hook.origin.line}"


def _out_wrapped(text: str) -> None:
    out(text if len(text) <= terminal_width() else wrap(text.strip(), "  "))


def _answer_text(entry: TraceEntry) -> str:
    if entry.skip_reason:
        return "did not run"
    if entry.failure is not None:
        return f"failed: {entry.failure.kind}"
    if entry.outcome is None:
        return "background"
    words = entry.hook.origin.wording
    return answer_text(
        {**outcome_json(entry.outcome), "changes": [words.fact(path) for path, _ in entry.outcome.changes]}
    )


def answer_text(outcome: Mapping[str, Any]) -> str:
    """`deny`, or `ask, changed tool.input.command, a note`; the outcome is as in a record."""
    word = "halt" if outcome.get("halt") else outcome.get("verdict", "silent")
    parts = [] if word == "silent" else [word]
    changes = list(outcome.get("changes", ()))
    if changes:
        more = f" and {len(changes) - _MOST_PATHS} more" if len(changes) > _MOST_PATHS else ""
        parts.append(f"changed {', '.join(changes[:_MOST_PATHS])}{more}")
    if outcome.get("notes"):
        parts.append("a note")
    parts += outcome.get("requests", ())
    return ", ".join(parts) or "silent"


def _changed_facts(path: FactPath, old: Any, new: Any) -> Iterator[tuple[FactPath, Any, Any]]:
    if isinstance(old, dict) and isinstance(new, dict):
        for key in dict.fromkeys((*old, *new)):
            yield from _changed_facts((*path, key), old.get(key, MISSING), new.get(key, MISSING))
    elif type(old) is not type(new) or old != new:
        yield path, old, new


def _short_json(value: Any) -> str:
    return "(unset)" if value is MISSING else shorten(format_json(value, indent=None))
