"""A JSON object as an answer: finding it in a text, and what one counts as that cannot be read."""

from __future__ import annotations

import json
from typing import Any, Final

from hookline.hooks.action import May
from hookline.hooks.actions.tell import who
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hooks.outcome import Audience, Failed, FailureKind, Note, Outcome, Verdict

MOST: Final = 20_000  # characters of a program's output that a reason repeats


def object_in(text: str) -> dict[str, Any] | None:
    """All of the text as one JSON object, or None."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def text_in(answer: dict[str, Any], key: str) -> str:
    value = answer.get(key)
    return value if isinstance(value, str) else ""


def blocked(text: str, event: Event) -> Outcome:
    """Where the event can be denied, a deny; after the fact, words for the agent."""
    text = text[:MOST]
    if EVENTS[event.name].accepts & May.DENY:
        return Outcome(Verdict.DENY, text)
    return Outcome(notes=(Note(text or f"Blocked by hook {who()}"),))


def unreadable(what: str, event: Event, reason: str = "", beside: tuple[Note, ...] = ()) -> Failed:
    """Before a tool somebody must look; elsewhere the event goes on. The user sees it either way."""
    told = (*beside, Note(f"hook {who()} {what}", Audience.USER))
    asks = bool(EVENTS[event.name].accepts & May.ASK)
    counts_as = Outcome(Verdict.ASK, reason or f"hook {who()} {what}", notes=told) if asks else Outcome(notes=told)
    return Failed(FailureKind.UNREADABLE_ANSWER, what, counts_as)


def no_word(said: Any, event: Event) -> str:
    """What is wrong with a decision that is none."""
    return f"answered {json.dumps(said, ensure_ascii=False)[:60]}, which is no decision about {event.name}"
