"""One record: what an agent wanted to do, what the hooks decided, and what came of it."""

from __future__ import annotations

from typing import Any, Final

from hookline.engine.decision import Decision, TraceEntry, outcome_json
from hookline.hooks.event import Event
from hookline.hooks.host import ToolResult
from hookline.hooks.outcome import SILENT, Failure
from hookline.hooks.record_settings import RecordedFacts
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


def decision_entry(asked: Event, decision: Decision, seconds: float, recordable: AsTheyAre) -> dict[str, Any]:
    """The record of a decision about the event as it was before any hook changed it."""
    entry = _about("decision", asked, recordable)
    entry["verdict"] = decision.verdict.word
    if decision.reason:
        entry["reason"] = recordable.text(decision.reason)
    if decision.by is not None:
        entry["hook"] = decision.by
        origin = decision.origin
        if origin is not None:
            entry["file"], entry["line"], entry["dialect"] = origin.file, origin.line, origin.dialect
    if decision.halt:
        entry["halt"] = True
    if decision.notes:
        entry["notes"] = [{"for": str(note.audience), "text": recordable.text(note.text)} for note in decision.notes]
    if decision.failures:
        entry["failures"] = [_failure_entry(failure, recordable) for failure in decision.failures]
    if decision.trace:
        entry["trace"] = [_trace_entry(ran, recordable) for ran in decision.trace if not ran.skip_reason]
    entry["ms"] = round(seconds * 1000, 3)
    return entry


def outcome_entry(call: Event, result: ToolResult, recordable: AsTheyAre) -> dict[str, Any]:
    """The record of what came of a tool call about which no hook was asked afterwards."""
    said = {"result": result.content} if result.ok else {"error": result.error}
    tool = {**call.facts.get("tool", {}), "ok": result.ok, **said}
    ended = Event("tool.after" if result.ok else "tool.failed", {**call.facts, "tool": tool})
    return _about("outcome", ended, recordable)


def answer_entry(event: Event, approved: bool, by: str, recordable: AsTheyAre) -> dict[str, Any]:
    """The record of a person's answer."""
    return {**_about("answer", event, recordable), "approved": approved, "by": by}


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


def _failure_entry(failure: Failure, recordable: AsTheyAre) -> dict[str, Any]:
    return {"hook": failure.hook, "kind": str(failure.kind), "text": recordable.text(failure.text)}


def _trace_entry(ran: TraceEntry, recordable: AsTheyAre) -> dict[str, Any]:
    entry: dict[str, Any] = {"hook": ran.hook.id, "file": ran.hook.origin.file, "line": ran.hook.origin.line}
    if ran.outcome is not None:
        entry["outcome"] = recordable.value(outcome_json(ran.outcome))
    if not ran.applied:
        entry["applied"] = False
    if ran.failure is not None:
        entry["failure"] = _failure_entry(ran.failure, recordable)
    if ran.undecided:
        entry["undecided"] = ran.undecided
    entry["ms"] = round(ran.seconds * 1000, 3)
    return entry
