"""What a hook is: events, conditions, actions, outcomes and hosts.

The names below are public; each is imported when it is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline.hooks.event import MISSING, REMOVED, Changes, Event, FactPath
    from hookline.hooks.hook import Hook, Limit, Origin, Scope
    from hookline.hooks.host import NO_HOST, Host, NullHost, ToolResult
    from hookline.hooks.outcome import ActionError, Audience, Compact, FailureKind, Note, NotePlace, Outcome, Verdict
    from hookline.hooks.protocols import Action, Condition, May, Need

__all__ = [
    "MISSING",
    "NO_HOST",
    "REMOVED",
    "Action",
    "ActionError",
    "Audience",
    "Changes",
    "Compact",
    "Condition",
    "Event",
    "FactPath",
    "FailureKind",
    "Hook",
    "Host",
    "Limit",
    "May",
    "Need",
    "Note",
    "NotePlace",
    "NullHost",
    "Origin",
    "Outcome",
    "Scope",
    "ToolResult",
    "Verdict",
]

_NAMES_BY_MODULE = {
    "event": ("MISSING", "REMOVED", "Changes", "Event", "FactPath"),
    "hook": ("Hook", "Limit", "Origin", "Scope"),
    "host": ("NO_HOST", "Host", "NullHost", "ToolResult"),
    "outcome": ("ActionError", "Audience", "Compact", "FailureKind", "Note", "NotePlace", "Outcome", "Verdict"),
    "protocols": ("Action", "Condition", "May", "Need"),
}
_MODULES = {name: f"hookline.hooks.{module}" for module, names in _NAMES_BY_MODULE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(_MODULES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
