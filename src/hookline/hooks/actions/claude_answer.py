"""What Claude Code's hooks answer: a JSON object with words for every event, and others for each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from hookline.hooks.action import May
from hookline.hooks.actions import object_answer
from hookline.hooks.actions.object_answer import SaidTwice, no_word, object_in, text_in, unreadable
from hookline.hooks.event import Changes, Event
from hookline.hooks.events import EVENTS
from hookline.hooks.fields import input_back
from hookline.hooks.outcome import SILENT, Audience, Note, Outcome, Place, Verdict

ONLY_SHOWN: Final = ("session.start", "session.end", "subagent.start")
"""Here a block stops nothing: the user sees its words."""
_ENDINGS: Final = ("stop", "subagent.end")
"""Here context for the agent makes it go on."""
TEXT_IS_CONTEXT: Final = ("session.start", "prompt.submit")
"""Here words that are no answer are for the agent."""
_PERMISSIONS: Final = {
    "allow": Verdict.ALLOW,
    "ask": Verdict.ASK,
    "defer": Verdict.ASK,  # left to a caller who comes back later: somebody has to decide it
    "deny": Verdict.DENY,
}


def blocked(text: str, event: Event) -> Outcome:
    if event.name not in ONLY_SHOWN:
        return object_answer.blocked(text, event)
    return Outcome(notes=(Note(text[: object_answer.MOST], Audience.USER),)) if text else SILENT


def goes_on_later(stdout: str) -> bool:
    """Whether its first line says that what it finds out is for later."""
    try:
        first = object_in(stdout.lstrip().partition("\n")[0])
    except SaidTwice:
        return False
    return first is not None and first.get("async") is True


def answered(answer: dict[str, Any], event: Event) -> Outcome:
    specific = _specific(answer, event)
    notes = _notes(answer, specific, event)
    if answer.get("continue") is False and EVENTS[event.name].accepts & May.HALT:
        why = text_in(answer, "stopReason") or text_in(answer, "reason")
        told = (Note(why, Audience.USER),) if why else ()
        return Outcome(reason=why, notes=(*told, *_for_user(notes)), halt=True)
    decided = _stronger(_decided(answer, event), _permitted(specific, event, notes))
    context = text_in(specific, "additionalContext")
    if context and event.name in _ENDINGS and decided.verdict is not Verdict.DENY:
        return Outcome(Verdict.DENY, context, notes=_for_user(notes))
    changes = () if decided.verdict is Verdict.DENY else _changes(specific, event)
    return replace(decided, changes=changes, notes=(*decided.notes, *notes))


def _specific(answer: dict[str, Any], event: Event) -> dict[str, Any]:
    """What it says in the words of this very event."""
    specific = answer.get("hookSpecificOutput")
    if specific is None:
        return {}
    if not isinstance(specific, dict):
        raise unreadable("answered a hookSpecificOutput that is no object", event)
    named, known = specific.get("hookEventName"), EVENTS[event.name].names.get("claude_code", ())
    if named is not None and named not in known:
        raise unreadable(f"answered about {str(named)[:60]!r}, not about {' or '.join(known)}", event)
    return specific


def _notes(answer: dict[str, Any], specific: dict[str, Any], event: Event) -> tuple[Note, ...]:
    message = text_in(answer, "systemMessage")
    notes: tuple[Note, ...] = (Note(message, Audience.USER),) if message else ()
    if EVENTS[event.name].accepts & May.NOTES:
        context, first = text_in(specific, "additionalContext"), text_in(specific, "initialUserMessage")
        notes += (Note(context),) if context else ()
        notes += (Note(first, place=Place.MESSAGE),) if first and event.name == "session.start" else ()
    return notes


def _for_user(notes: tuple[Note, ...]) -> tuple[Note, ...]:
    return tuple(note for note in notes if note.audience is Audience.USER)


def _decided(answer: dict[str, Any], event: Event) -> Outcome:
    """What the words say that every event knows."""
    decision, reason = answer.get("decision"), text_in(answer, "reason")
    if decision is None:
        return SILENT
    if decision == "block":
        return blocked(reason, event)
    if decision != "approve":
        raise unreadable(no_word(decision, event), event, reason)
    return Outcome(Verdict.ALLOW, reason) if event.name == "tool.before" else SILENT


def _permitted(specific: dict[str, Any], event: Event, beside: tuple[Note, ...]) -> Outcome:
    if event.name == "tool.before":
        said, reason = specific.get("permissionDecision"), text_in(specific, "permissionDecisionReason")
        if said is None:
            return SILENT
        if not isinstance(said, str) or said not in _PERMISSIONS:
            raise unreadable(no_word(said, event), event, reason, beside)
        return Outcome(_PERMISSIONS[said], reason)
    if event.name == "approval.request" and specific.get("decision") is not None:
        return _approved(specific["decision"], event, beside)
    return SILENT


def _approved(decision: Any, event: Event, beside: tuple[Note, ...]) -> Outcome:
    decision = decision if isinstance(decision, dict) else {"behavior": decision}
    behavior = decision.get("behavior")
    if behavior == "deny":
        return Outcome(Verdict.DENY, text_in(decision, "message"), halt=decision.get("interrupt") is True)
    if behavior != "allow":
        raise unreadable(no_word(behavior, event), event, beside=beside)
    if decision.get("updatedInput") is not None:  # to allow what it did not want to be run would open a door
        raise unreadable("answered another input, which cannot be changed any more", event, beside=beside)
    return Outcome(Verdict.ALLOW)


def _stronger(one: Outcome, other: Outcome) -> Outcome:
    first = one if one.verdict >= other.verdict else other
    return replace(first, notes=(*one.notes, *other.notes))


def _changes(specific: dict[str, Any], event: Event) -> Changes:
    if event.name == "tool.before" and specific.get("updatedInput") is not None:
        input = specific["updatedInput"]
        if not isinstance(input, dict):
            raise unreadable("answered an updatedInput that is no object", event)
        return () if specific.get("permissionDecision") == "defer" else ((("tool", "input"), input_back(event, input)),)
    if event.name == "tool.after" and event.read(("tool", "ok")) is not False:
        return _result(specific, event)
    return ()


def _result(specific: dict[str, Any], event: Event) -> Changes:
    name = event.read(("tool", "name"))
    of_mcp = isinstance(name, str) and name.startswith("mcp")
    for key in ("updatedToolOutput", "updatedMCPToolOutput") if of_mcp else ("updatedToolOutput",):
        if specific.get(key) is not None:
            return ((("tool", "result"), specific[key]),)
    return ()
