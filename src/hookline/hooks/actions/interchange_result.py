"""The JSON output of hooks in the Hook Interchange Format."""

from __future__ import annotations

from typing import Any, Final

from hookline.hooks.actions.claude_result import parse_claude_result
from hookline.hooks.actions.json_result import block_outcome, describe_bad_decision, text_value, unreadable_as_deny
from hookline.hooks.event import Changes, Event
from hookline.hooks.events import EVENTS
from hookline.hooks.outcome import SILENT, Audience, Note, NotePlace, Outcome, Verdict
from hookline.hooks.protocols import May
from hookline.hooks.tool_input import to_host_fields
from hookline.lazy_dataclasses import replace

_CLAUDE_DECISIONS: Final = ("block", "approve")


def parse_interchange_result(answer: dict[str, Any], event: Event) -> Outcome:
    """Many hooks of this format were written for Claude Code: an answer in its keys counts as there."""
    if "hookSpecificOutput" in answer or answer.get("decision") in _CLAUDE_DECISIONS:
        return parse_claude_result(answer, event)
    decided = _parse_decision(answer, event)
    notes = (*decided.notes, *_parse_notes(answer, event))
    if answer.get("continue") is False and EVENTS[event.name].accepts & May.HALT:
        why = text_value(answer, "reason")
        halted = (Note(why, Audience.USER),) if why and decided.verdict is not Verdict.DENY else ()
        return replace(decided, reason=decided.reason or why, notes=(*halted, *notes), halt=True)
    changes = () if decided.verdict is Verdict.DENY else _parse_changes(answer, event)
    return replace(decided, changes=changes, notes=notes)


def _parse_decision(answer: dict[str, Any], event: Event) -> Outcome:
    decision, reason = answer.get("decision"), text_value(answer, "reason")
    if decision is None:
        return SILENT
    accepts = EVENTS[event.name].accepts
    if decision == "deny" or (decision == "ask" and not accepts & May.ASK):
        return block_outcome(reason, event)
    if decision == "ask":
        return Outcome(Verdict.ASK, reason)
    if decision == "allow":
        return Outcome(Verdict.ALLOW, reason) if accepts & May.ALLOW else SILENT
    raise unreadable_as_deny(describe_bad_decision(decision, event), event)


def _parse_notes(answer: dict[str, Any], event: Event) -> tuple[Note, ...]:
    if not EVENTS[event.name].accepts & May.NOTES:
        return ()
    context, system = text_value(answer, "context"), text_value(answer, "system_message")
    notes = (Note(context),) if context else ()
    return (*notes, Note(system, place=NotePlace.SYSTEM)) if system else notes


def _parse_changes(answer: dict[str, Any], event: Event) -> Changes:
    given = answer.get("updated_input")
    if given is None or event.name != "tool.before":
        return ()
    if not isinstance(given, dict):
        raise unreadable_as_deny("answered an updated_input that is not an object", event)
    return ((("tool", "input"), to_host_fields(event, given)),)
