"""Parses a JSON object as an answer, and decides what an unreadable answer counts as."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from hookline.hooks.actions.notify import current_hook_id
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hooks.host import current_hook
from hookline.hooks.masking import mask
from hookline.hooks.outcome import ActionError, Audience, FailureKind, Note, Outcome, Verdict
from hookline.hooks.protocols import May
from hookline.lazy_imports import difflib, json, lazy_logger

_log = lazy_logger("hookline")

MAX_REASON_CHARS: Final = 20_000  # characters of a program's output in a reason
_MAX_SHOWN_CHARS: Final = 60
_MAX_WARNINGS: Final = 5
_FOREIGN_DECISIONS: Final = ("hookSpecificOutput", "permissionDecision", "permission", "behavior", "verdict")
_STOPPING_WORDS: Final = frozenset(
    ("deny", "denied", "block", "blocked", "ask", "reject", "rejected", "stop", "refuse", "false", "no")
)
_SIMILAR: Final = 0.8


class DuplicateKey(Exception):
    """One object has the same key twice. Readers disagree on which one counts, so it is refused."""


def strip_padding(text: str) -> str:
    """Removes surrounding white space and a byte order mark."""
    return text.strip().strip("\ufeff").strip()


def parse_answer_object(text: str) -> dict[str, Any] | None:
    """The whole text as one JSON object, or None. Raises DuplicateKey."""
    text = strip_padding(text)
    if not text.startswith("{"):
        return None
    try:
        value = json.loads(text, object_pairs_hook=_reject_duplicate_keys)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _reject_duplicate_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise DuplicateKey(f"answered {_format_value(key)} twice")
        found[key] = value
    return found


def text_value(answer: dict[str, Any], key: str) -> str:
    value = answer.get(key)
    return value if isinstance(value, str) else ""


def log_answer_warnings(answer: dict[str, Any], keys: Collection[str]) -> None:
    """Logs the parts of an answer that have no effect."""
    warnings = [
        f"{_format_value(key)}, which is not a key of an answer, so it is ignored.{_suggest_key(key, keys)}"
        for key in answer
        if key not in keys
    ]
    for what in warnings[:_MAX_WARNINGS]:
        _log.warning("[%s] answered %s", current_hook_id(), mask(what))


def _suggest_key(key: str, keys: Collection[str]) -> str:
    close = difflib.get_close_matches(key[:_MAX_SHOWN_CHARS], keys, 1)
    return f" Did you mean {close[0]}?" if close else ""


def _format_value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:_MAX_SHOWN_CHARS]


def block_outcome(text: str, event: Event) -> Outcome:
    """A deny if the event can be denied; otherwise a note for the agent."""
    text = text[:MAX_REASON_CHARS]
    if EVENTS[event.name].accepts & May.DENY:
        return Outcome(Verdict.DENY, text)
    return Outcome(notes=(Note(text or f"Blocked by hook {current_hook_id()}"),))


def unreadable_error(what: str, event: Event, reason: str = "", beside: tuple[Note, ...] = ()) -> ActionError:
    """Before a tool it counts as ask; elsewhere the event proceeds. The user is notified in both cases."""
    notes = (*beside, Note(f"hook {current_hook_id()} {what}", Audience.USER))
    asks = bool(EVENTS[event.name].accepts & May.ASK)
    counts_as = (
        Outcome(Verdict.ASK, reason or f"hook {current_hook_id()} {what}", notes=notes)
        if asks
        else Outcome(notes=notes)
    )
    return ActionError(FailureKind.UNREADABLE_ANSWER, what, counts_as)


def unreadable_as_deny(what: str, event: Event) -> ActionError:
    """Like `unreadable_error`, for an answer that may have been a deny: if the event cannot ask, it counts as one."""
    if EVENTS[event.name].accepts & (May.DENY | May.ASK) == May.DENY:
        return ActionError(FailureKind.UNREADABLE_ANSWER, what, block_outcome(what, event))
    return unreadable_error(what, event)


def describe_bad_continue(answer: dict[str, Any]) -> str | None:
    """None if `continue` is absent, true or false."""
    goes_on = answer.get("continue")
    if goes_on is None or type(goes_on) is bool:
        return None
    return f"answered {_format_value(goes_on)} for continue, which is neither true nor false"


def describe_unread_decision(answer: dict[str, Any]) -> str | None:
    """A decision under a misspelt key, or under a key of another format. None if there is none, or if it allows."""
    if answer.get("decision") is not None or answer.get("continue") is False:
        return None
    for key, value in answer.items():
        meant = _decision_key(key)
        if meant is not None and _stops(value):
            return f"answered {_format_value(key)}, which is not a key of an answer. Write {_format_value(meant)}"
    return None


def _decision_key(key: str) -> str | None:
    if key in ("decision", "continue"):
        return None
    if key in _FOREIGN_DECISIONS:
        return "decision"
    close = difflib.get_close_matches(key[:_MAX_SHOWN_CHARS].lower(), ("decision", "continue"), 1, _SIMILAR)
    return close[0] if close else None


def _stops(value: Any) -> bool:
    """Other programs print such keys too: `{"verdict": "pass"}`, `{"precision": 0.9}`."""
    if isinstance(value, dict):
        return any(_stops(inner) for key, inner in value.items() if key in (*_FOREIGN_DECISIONS, "decision"))
    return value is False or (isinstance(value, str) and value.strip().lower() in _STOPPING_WORDS)


def describe_bad_decision(decision: Any, event: Event) -> str:
    """Describes an unknown decision."""
    who = current_hook.get()
    name = who.event_name if who is not None and who.event_name else event.name
    return f"answered {_format_value(decision)}, which is not a decision for {name}"
