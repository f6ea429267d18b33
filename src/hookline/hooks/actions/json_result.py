"""A JSON object as an answer: finding it in a text, and what one counts as that cannot be read."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection
from difflib import get_close_matches
from typing import Any, Final

from hookline.hooks.actions.notify import current_hook_id
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hooks.masking import mask
from hookline.hooks.outcome import ActionError, Audience, FailureKind, Note, Outcome, Verdict
from hookline.hooks.protocols import May

_log = logging.getLogger("hookline")

MAX_REASON_CHARS: Final = 20_000  # characters of a program's output that a reason repeats
_MAX_SHOWN_CHARS: Final = 60
_MAX_WARNINGS: Final = 5


class DuplicateKey(Exception):
    """A key that stands twice in one object: who reads the first and who reads the last would disagree."""


def strip_padding(text: str) -> str:
    """Without what says nothing: spaces around it, and a byte order mark, as for JavaScript."""
    return text.strip().strip("\ufeff").strip()


def parse_answer_object(text: str) -> dict[str, Any] | None:
    """All of the text as one JSON object, or None. Raises SaidTwice."""
    text = strip_padding(text)
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text, object_pairs_hook=_reject_duplicate_keys)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for key, value in pairs:
        if key in held:
            raise DuplicateKey(f"answered {_format_value(key)} twice")
        held[key] = value
    return held


def text_value(answer: dict[str, Any], key: str) -> str:
    value = answer.get(key)
    return value if isinstance(value, str) else ""


def log_answer_warnings(answer: dict[str, Any], keys: Collection[str]) -> None:
    """In the log: what of an answer says nothing, though whoever wrote it may think that it does."""
    said = [
        f"{_format_value(key)}, which is no key of an answer{_suggest_key(key, keys)}"
        for key in answer
        if key not in keys
    ]
    goes_on = answer.get("continue")
    if goes_on is not None and type(goes_on) is not bool:
        said.append(f"{_format_value(goes_on)} for continue, which is neither true nor false, so it stops nothing")
    for what in said[:_MAX_WARNINGS]:
        _log.warning("[%s] answered %s", current_hook_id(), mask(what))


def _suggest_key(key: str, keys: Collection[str]) -> str:
    close = get_close_matches(key[:_MAX_SHOWN_CHARS], keys, 1)
    return f"; {close[0]} is" if close else ""


def _format_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:_MAX_SHOWN_CHARS]


def block_outcome(text: str, event: Event) -> Outcome:
    """Where the event can be denied, a deny; after the fact, words for the agent."""
    text = text[:MAX_REASON_CHARS]
    if EVENTS[event.name].accepts & May.DENY:
        return Outcome(Verdict.DENY, text)
    return Outcome(notes=(Note(text or f"Blocked by hook {current_hook_id()}"),))


def unreadable_error(what: str, event: Event, reason: str = "", beside: tuple[Note, ...] = ()) -> ActionError:
    """Before a tool somebody must look; elsewhere the event goes on. The user sees it either way."""
    told = (*beside, Note(f"hook {current_hook_id()} {what}", Audience.USER))
    asks = bool(EVENTS[event.name].accepts & May.ASK)
    counts_as = (
        Outcome(Verdict.ASK, reason or f"hook {current_hook_id()} {what}", notes=told) if asks else Outcome(notes=told)
    )
    return ActionError(FailureKind.UNREADABLE_ANSWER, what, counts_as)


def unreadable_as_deny(what: str, event: Event) -> ActionError:
    """As `unreadable`, of an answer that may well have been a no: where nobody can be asked, it is one."""
    if EVENTS[event.name].accepts & (May.DENY | May.ASK) == May.DENY:
        return ActionError(FailureKind.UNREADABLE_ANSWER, what, block_outcome(what, event))
    return unreadable_error(what, event)


def describe_bad_decision(said: Any, event: Event) -> str:
    """What is wrong with a decision that is none."""
    return f"answered {_format_value(said)}, which is no decision about {event.name}"
