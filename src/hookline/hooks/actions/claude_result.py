"""The JSON output of Claude Code hooks: keys that every event has, and keys of each event."""

from __future__ import annotations

from typing import Any, Final

from hookline.hooks.actions import json_result
from hookline.hooks.actions.json_result import (
    DuplicateKey,
    describe_bad_decision,
    parse_answer_object,
    text_value,
    unreadable_error,
)
from hookline.hooks.event import Changes, Event
from hookline.hooks.events import ENDING_EVENTS, EVENTS
from hookline.hooks.outcome import SILENT, Audience, Note, NotePlace, Outcome, Verdict
from hookline.hooks.protocols import May
from hookline.hooks.tool_input import to_host_fields
from hookline.lazy_dataclasses import replace

DISPLAY_ONLY_EVENTS: Final = ("session.start", "session.end", "subagent.start")
"""On these events, a block stops nothing: the user sees its text."""
TEXT_CONTEXT_EVENTS: Final = ("session.start", "prompt.submit")
"""On these events, plain text output is context for the agent."""
_PERMISSION_VERDICTS: Final = {
    "allow": Verdict.ALLOW,
    "ask": Verdict.ASK,
    "defer": Verdict.ASK,  # means that the caller decides later, so a person has to decide
    "deny": Verdict.DENY,
}


def claude_block_outcome(text: str, event: Event) -> Outcome:
    if event.name not in DISPLAY_ONLY_EVENTS:
        return json_result.block_outcome(text, event)
    return Outcome(notes=(Note(text[: json_result.MAX_REASON_CHARS], Audience.USER),)) if text else SILENT


def is_missing_program(stderr: str, event: Event) -> bool:
    """Whether exit 2 only means that a script is missing, which never keeps an agent from stopping.

    Interpreters such as python3 and perl also exit with 2 then. Before a tool, such a hook still blocks.
    """
    return event.name in ENDING_EVENTS and "No such file" in stderr


def is_async_result(stdout: str) -> bool:
    """Whether the first line says that the result comes later."""
    try:
        first = parse_answer_object(stdout.lstrip().partition("\n")[0])
    except DuplicateKey:
        return False
    return first is not None and first.get("async") is True


def parse_claude_result(answer: dict[str, Any], event: Event) -> Outcome:
    specific = _specific_output(answer, event)
    notes = _parse_notes(answer, specific, event)
    if answer.get("continue") is False and EVENTS[event.name].accepts & May.HALT:
        why = text_value(answer, "stopReason") or text_value(answer, "reason")
        stop_notes = (Note(why, Audience.USER),) if why else ()
        return Outcome(reason=why, notes=(*stop_notes, *_user_notes(notes)), halt=True)
    decided = _stronger_outcome(_parse_decision(answer, event), _parse_permission(specific, event, notes))
    context = text_value(specific, "additionalContext")
    if context and event.name in ENDING_EVENTS and decided.verdict is not Verdict.DENY:
        return Outcome(Verdict.DENY, context, notes=_user_notes(notes))
    changes = () if decided.verdict is Verdict.DENY else _parse_changes(specific, event)
    return replace(decided, changes=changes, notes=(*decided.notes, *notes))


def _specific_output(answer: dict[str, Any], event: Event) -> dict[str, Any]:
    """The keys for this event."""
    specific = answer.get("hookSpecificOutput")
    if specific is None:
        return {}
    if not isinstance(specific, dict):
        raise unreadable_error("answered a hookSpecificOutput that is not an object", event)
    named, known = specific.get("hookEventName"), EVENTS[event.name].names.get("claude_code", ())
    if named is not None and named not in known:
        raise unreadable_error(f"answered about {str(named)[:60]!r}, not about {' or '.join(known)}", event)
    return specific


def _parse_notes(answer: dict[str, Any], specific: dict[str, Any], event: Event) -> tuple[Note, ...]:
    message = text_value(answer, "systemMessage")
    notes: tuple[Note, ...] = (Note(message, Audience.USER),) if message else ()
    if EVENTS[event.name].accepts & May.NOTES:
        context, first = text_value(specific, "additionalContext"), text_value(specific, "initialUserMessage")
        notes += (Note(context),) if context else ()
        notes += (Note(first, place=NotePlace.MESSAGE),) if first and event.name == "session.start" else ()
    return notes


def _user_notes(notes: tuple[Note, ...]) -> tuple[Note, ...]:
    return tuple(note for note in notes if note.audience is Audience.USER)


def _parse_decision(answer: dict[str, Any], event: Event) -> Outcome:
    """Reads the keys that every event has."""
    decision, reason = answer.get("decision"), text_value(answer, "reason")
    if decision is None:
        return SILENT
    if decision == "block":
        return claude_block_outcome(reason, event)
    if decision != "approve":
        raise unreadable_error(describe_bad_decision(decision, event), event, reason)
    return Outcome(Verdict.ALLOW, reason) if event.name == "tool.before" else SILENT


def _parse_permission(specific: dict[str, Any], event: Event, beside: tuple[Note, ...]) -> Outcome:
    if event.name == "tool.before":
        said, reason = specific.get("permissionDecision"), text_value(specific, "permissionDecisionReason")
        if said is None:
            return SILENT
        if not isinstance(said, str) or said not in _PERMISSION_VERDICTS:
            raise unreadable_error(describe_bad_decision(said, event), event, reason, beside)
        return Outcome(_PERMISSION_VERDICTS[said], reason)
    if event.name == "approval.request" and specific.get("decision") is not None:
        return _parse_approval(specific["decision"], event, beside)
    return SILENT


def _parse_approval(decision: Any, event: Event, beside: tuple[Note, ...]) -> Outcome:
    decision = decision if isinstance(decision, dict) else {"behavior": decision}
    behavior = decision.get("behavior")
    if behavior == "deny":
        return Outcome(Verdict.DENY, text_value(decision, "message"), halt=decision.get("interrupt") is True)
    if behavior != "allow":
        raise unreadable_error(describe_bad_decision(behavior, event), event, beside=beside)
    if (
        decision.get("updatedInput") is not None
    ):  # the input cannot change here, and allowing the old one would be unsafe
        raise unreadable_error("answered an updatedInput, but the input can no longer change", event, beside=beside)
    return Outcome(Verdict.ALLOW)


def _stronger_outcome(one: Outcome, other: Outcome) -> Outcome:
    first = one if one.verdict >= other.verdict else other
    return replace(first, notes=(*one.notes, *other.notes))


def _parse_changes(specific: dict[str, Any], event: Event) -> Changes:
    if event.name == "tool.before" and specific.get("updatedInput") is not None:
        input = specific["updatedInput"]
        if not isinstance(input, dict):
            raise unreadable_error("answered an updatedInput that is not an object", event)
        return (
            ()
            if specific.get("permissionDecision") == "defer"
            else ((("tool", "input"), to_host_fields(event, input)),)
        )
    if event.name == "tool.after" and event.read(("tool", "ok")) is not False:
        return _parse_result_change(specific, event)
    return ()


def _parse_result_change(specific: dict[str, Any], event: Event) -> Changes:
    name = event.read(("tool", "name"))
    of_mcp = isinstance(name, str) and name.startswith("mcp")
    for key in ("updatedToolOutput", "updatedMCPToolOutput") if of_mcp else ("updatedToolOutput",):
        if specific.get(key) is not None:
            return ((("tool", "result"), specific[key]),)
    return ()
