"""One hooks engine for every AI agent.

The names in `__all__` are public. Each one is imported on first use, so `import hookline` stays fast.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline.engine.book import Book, Layer
    from hookline.engine.decision import Decision
    from hookline.errors import ConfigError, Denied, Halted, HooklineError, MustWait, ToolFailed
    from hookline.hooks.event import Event
    from hookline.hooks.hook import Hook
    from hookline.hooks.host import NO_HOST, NOBODY
    from hookline.hooks.outcome import Note, Outcome, Verdict
    from hookline.hosts.python.guard import guard
    from hookline.hosts.python.session import Question, Session, session
    from hookline.project import load
    from hookline.runtime.runtime import Runtime
    from hookline.runtime.settings import Settings

__version__ = "0.1.0"

__all__ = [
    "NOBODY",
    "NO_HOST",
    "Book",
    "ConfigError",
    "Decision",
    "Denied",
    "Event",
    "Halted",
    "Hook",
    "HooklineError",
    "Layer",
    "MustWait",
    "Note",
    "Outcome",
    "Question",
    "Runtime",
    "Session",
    "Settings",
    "ToolFailed",
    "Verdict",
    "__version__",
    "guard",
    "load",
    "session",
]

_MODULES = {
    "NOBODY": "hookline.hooks.host",
    "NO_HOST": "hookline.hooks.host",
    "Book": "hookline.engine.book",
    "ConfigError": "hookline.errors",
    "Decision": "hookline.engine.decision",
    "Denied": "hookline.errors",
    "Event": "hookline.hooks.event",
    "Halted": "hookline.errors",
    "Hook": "hookline.hooks.hook",
    "HooklineError": "hookline.errors",
    "Layer": "hookline.engine.book",
    "MustWait": "hookline.errors",
    "Note": "hookline.hooks.outcome",
    "Outcome": "hookline.hooks.outcome",
    "Question": "hookline.hosts.python.session",
    "Runtime": "hookline.runtime.runtime",
    "Session": "hookline.hosts.python.session",
    "Settings": "hookline.runtime.settings",
    "ToolFailed": "hookline.errors",
    "Verdict": "hookline.hooks.outcome",
    "guard": "hookline.hosts.python.guard",
    "load": "hookline.project.loader",
    "session": "hookline.hosts.python.session",
}


def _import_module(module: str, name: str) -> Any:
    from importlib import import_module

    if not module.startswith("hookline.runtime."):
        from hookline.lazy_imports import import_without_gc

        return import_without_gc(module)
    from hookline.errors import extra_required

    with extra_required(f"hookline.{name} needs hookline's agent", "agent"):
        return import_module(module)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value: Any = getattr(_import_module(_MODULES[name], name), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
