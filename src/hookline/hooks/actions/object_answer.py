"""A JSON object as an answer: finding it in a text, and what one counts as that cannot be read."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection
from difflib import get_close_matches
from typing import Any, Final

from hookline.hooks.action import May
from hookline.hooks.actions.tell import who
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hooks.outcome import Audience, Failed, FailureKind, Note, Outcome, Verdict
from hookline.hooks.secrets import mask

_log = logging.getLogger("hookline")

MOST: Final = 20_000  # characters of a program's output that a reason repeats
_LONGEST_SHOWN: Final = 60
_MOST_WARNINGS: Final = 5


class SaidTwice(Exception):
    """A key that stands twice in one object: who reads the first and who reads the last would disagree."""


def bare(text: str) -> str:
    """Without what says nothing: spaces around it, and a byte order mark, as for JavaScript."""
    return text.strip().strip("\ufeff").strip()


def object_in(text: str) -> dict[str, Any] | None:
    """All of the text as one JSON object, or None. Raises SaidTwice."""
    text = bare(text)
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held: dict[str, Any] = {}
    for key, value in pairs:
        if key in held:
            raise SaidTwice(f"answered {_shown(key)} twice")
        held[key] = value
    return held


def text_in(answer: dict[str, Any], key: str) -> str:
    value = answer.get(key)
    return value if isinstance(value, str) else ""


def warn_of(answer: dict[str, Any], keys: Collection[str]) -> None:
    """In the log: what of an answer says nothing, though whoever wrote it may think that it does."""
    said = [f"{_shown(key)}, which is no key of an answer{_meant(key, keys)}" for key in answer if key not in keys]
    goes_on = answer.get("continue")
    if goes_on is not None and type(goes_on) is not bool:
        said.append(f"{_shown(goes_on)} for continue, which is neither true nor false, so it stops nothing")
    for what in said[:_MOST_WARNINGS]:
        _log.warning("[%s] answered %s", who(), mask(what))


def _meant(key: str, keys: Collection[str]) -> str:
    close = get_close_matches(key[:_LONGEST_SHOWN], keys, 1)
    return f"; {close[0]} is" if close else ""


def _shown(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:_LONGEST_SHOWN]


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


def rather_not(what: str, event: Event) -> Failed:
    """As `unreadable`, of an answer that may well have been a no: where nobody can be asked, it is one."""
    if EVENTS[event.name].accepts & (May.DENY | May.ASK) == May.DENY:
        return Failed(FailureKind.UNREADABLE_ANSWER, what, blocked(what, event))
    return unreadable(what, event)


def no_word(said: Any, event: Event) -> str:
    """What is wrong with a decision that is none."""
    return f"answered {_shown(said)}, which is no decision about {event.name}"
