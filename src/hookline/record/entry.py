"""One record: what an agent wanted to do, what the hooks decided, and what came of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hookline.engine.decision import Decision, TraceEntry, outcome_json
from hookline.hooks.event import MISSING, REMOVED, Event, FactPath, overlaps
from hookline.hooks.events import RESULT_EVENTS
from hookline.hooks.host import ToolResult
from hookline.hooks.masking import MASK
from hookline.hooks.outcome import SILENT, Failure, Outcome
from hookline.hooks.record_settings import RecordedFacts
from hookline.lazy_dataclasses import replace
from hookline.record.facts import AsTheyAre

ALWAYS_RECORDED: Final = frozenset(
    (
        "tool.before",
        "tool.after",
        "tool.failed",
        "prompt.submit",
        "session.start",
        "session.end",
        "agent.start",
        "agent.end",
        "subagent.start",
        "subagent.end",
        "approval.request",
    )
)


NAMED_FACTS: Final = (("host", "name"), ("session", "id"), ("thread", "id"), ("agent", "id"), ("user", "name"))
NAMED_TOOL_FACTS: Final = (("tool", "name"), ("call", "id"), ("caller", "caller"))
_RESULT_PATHS: Final[tuple[FactPath, ...]] = tuple(
    ("tool", part) for part in ("result", "error", "attachments", "more")
)
_MESSAGE_PATHS: Final[dict[str, tuple[FactPath, ...]]] = {
    "message.create": (("message", "content"),),
    "message.update": (("message", "updates"),),
}


def is_recorded(event: str) -> bool:
    """True for events that are recorded even if no hook says anything about them."""
    return event in ALWAYS_RECORDED


def hook_spoke(decision: Decision) -> bool:
    return bool(
        decision.verdict
        or decision.halt
        or decision.notes
        or decision.failures
        or decision.requests
        or any(entry.outcome is not None and entry.outcome is not SILENT for entry in decision.trace)
    )


Hears = Callable[[str], bool]
"""Whether a hook is on the event of this name."""


class RemovedFacts:
    """The parts of a result or message that hooks changed, or may still change before it is stored."""

    def __init__(self, asked: Event, decision: Decision, hears: Hears) -> None:
        self._left = decision.event
        self._is_judged_later = _is_judged_later(asked.name, hears)
        self._paths = tuple(path for path in _stored_paths(asked.name) if self._is_removed(path, asked.read(path)))

    def hide(self, asked: Event) -> Event:
        return asked.with_changes(tuple((path, MASK) for path in self._paths)) if self._paths else asked

    def hide_in(self, outcome: Outcome) -> Outcome:
        """The outcome of one hook: what a later one removed may still be in it."""
        if not self._paths or not outcome.changes:
            return outcome
        changes = tuple((path, MASK if self._is_hidden(path, new) else new) for path, new in outcome.changes)
        return replace(outcome, changes=changes)

    def _is_removed(self, path: FactPath, value: Any) -> bool:
        return value is not MISSING and bool(value) and (self._is_judged_later or self._left.read(path) != value)

    def _is_hidden(self, path: FactPath, new: Any) -> bool:
        is_part = any(overlaps(hidden, path) for hidden in self._paths)
        return is_part and new is not REMOVED and (self._is_judged_later or self._left.read(path) != new)


def _stored_paths(event: str) -> tuple[FactPath, ...]:
    return _MESSAGE_PATHS.get(event) or (_RESULT_PATHS if event in RESULT_EVENTS else ())


def _is_judged_later(event: str, hears: Hears) -> bool:
    return event in RESULT_EVENTS and any(map(hears, RESULT_EVENTS[RESULT_EVENTS.index(event) + 1 :]))


def judges_stored_results(hears: Hears) -> bool:
    """Whether hooks may change a result after the events that are always recorded."""
    return _is_judged_later("tool.after", hears)


def decision_entry(
    asked: Event, decision: Decision, seconds: float, recordable: AsTheyAre, removed: RemovedFacts | None = None
) -> dict[str, Any]:
    """The record of a decision about the event as it was before any hook changed it, without what they removed."""
    if removed is not None and recordable.how is RecordedFacts.FULL:
        removed = None
    entry = _about("decision", asked if removed is None else removed.hide(asked), recordable)
    text = _text_recorder(decision, recordable)
    entry["verdict"] = decision.verdict.word
    if decision.reason:
        entry["reason"] = text(decision.reason)
    if decision.by is not None:
        entry["hook"] = decision.by
        origin = decision.origin
        if origin is not None:
            entry["file"], entry["line"], entry["dialect"] = origin.file, origin.line, origin.dialect
    if decision.halt:
        entry["halt"] = True
    if decision.notes:
        entry["notes"] = [{"for": str(note.audience), "text": text(note.text)} for note in decision.notes]
    if decision.failures:
        entry["failures"] = [_failure_entry(failure, text) for failure in decision.failures]
    if decision.trace:
        ran = [each for each in decision.trace if not each.skip_reason]
        entry["trace"] = [_trace_entry(each, text, recordable, removed) for each in ran]
    entry["ms"] = round(seconds * 1000, 3)
    return entry


def outcome_entry(call: Event, result: ToolResult, recordable: AsTheyAre, hears: Hears) -> dict[str, Any]:
    """The record of what came of a tool call about which no hook was asked afterwards.

    If there are hooks that could have removed something from the result, the record does not have it.
    """
    said = {"result": result.content} if result.ok else {"error": result.error}
    if recordable.how is not RecordedFacts.FULL and any(map(hears, RESULT_EVENTS)):
        said = dict.fromkeys(said, MASK)
    tool = {**call.facts.get("tool", {}), "ok": result.ok, **said}
    ended = Event("tool.after" if result.ok else "tool.failed", {**call.facts, "tool": tool})
    return _about("outcome", ended, recordable)


def answer_entry(
    event: Event, approved: bool, by: str, recordable: AsTheyAre, *, edit_denied: bool = False
) -> dict[str, Any]:
    """The record of a person's answer. `edit_denied`: hooks denied the input that the person approved instead."""
    denied = {"edit_denied": True} if edit_denied else {}
    return {**_about("answer", event, recordable), "approved": approved, **denied, "by": by}


def _about(kind: str, event: Event, recordable: AsTheyAre) -> dict[str, Any]:
    facts = event.facts
    about: dict[str, Any] = {"kind": kind, "event": event.name}
    for key, name in NAMED_FACTS:
        value = facts.get(key)
        if type(value) is dict and type(known := value.get(name)) is str:
            about[key] = recordable.text(known)
    tool = facts.get("tool")
    if type(tool) is dict:
        for key, name in NAMED_TOOL_FACTS:
            if type(known := tool.get(name)) is str and known:
                about[key] = recordable.text(known)
    if recordable.how is not RecordedFacts.NONE:
        about["facts"] = recordable.value(facts)
    return about


TextRecorder = Callable[[str], str]


def _text_recorder(decision: Decision, recordable: AsTheyAre) -> TextRecorder:
    """How to record what a hook said. Without facts, only what stands in the hook's file: any other text may quote them."""
    if recordable.how is not RecordedFacts.NONE:
        return recordable.text
    fixed = {f"Blocked by hook {decision.by}"}
    for ran in decision.trace:
        if (answer := ran.hook.then.constant) is not None:
            fixed.update((answer.reason, *(note.text for note in answer.notes)))
    return lambda text: recordable.text(text) if text in fixed else MASK


def _failure_entry(failure: Failure, text: TextRecorder) -> dict[str, Any]:
    return {"hook": failure.hook, "kind": str(failure.kind), "text": text(failure.text)}


def _outcome_without_facts(outcome: Outcome, text: TextRecorder) -> Outcome:
    return replace(
        outcome,
        reason=text(outcome.reason) if outcome.reason else "",
        notes=tuple(replace(note, text=text(note.text)) for note in outcome.notes),
        changes=tuple((path, new if new is REMOVED else MASK) for path, new in outcome.changes),
    )


def _trace_entry(
    ran: TraceEntry, text: TextRecorder, recordable: AsTheyAre, removed: RemovedFacts | None
) -> dict[str, Any]:
    entry: dict[str, Any] = {"hook": ran.hook.id, "file": ran.hook.origin.file, "line": ran.hook.origin.line}
    if ran.outcome is not None:
        outcome = ran.outcome if removed is None else removed.hide_in(ran.outcome)
        if recordable.how is RecordedFacts.NONE:
            outcome = _outcome_without_facts(outcome, text)
        entry["outcome"] = recordable.value(outcome_json(outcome))
    if not ran.applied:
        entry["applied"] = False
    if ran.failure is not None:
        entry["failure"] = _failure_entry(ran.failure, text)
    if ran.undecided:
        entry["undecided"] = ran.undecided
    entry["ms"] = round(ran.seconds * 1000, 3)
    return entry
