"""Tools to test hooks: cases as data, `fire()` for Python, a scripted host, a clock that you control.

from hookline.testing import hook_cases

test_hooks = hook_cases("tests/hooks")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from hookline.hooks.session_facts import session_facts
    from hookline.testing.case import Case, Step, find_case_files, load_cases
    from hookline.testing.case_runner import Result, run_case
    from hookline.testing.fire_event import fire, hook_cases
    from hookline.testing.scripted_host import FakeClock, ScriptedHost

_HOMES: Final = {
    "Case": "hookline.testing.case",
    "FakeClock": "hookline.testing.scripted_host",
    "Result": "hookline.testing.case_runner",
    "ScriptedHost": "hookline.testing.scripted_host",
    "Step": "hookline.testing.case",
    "find_case_files": "hookline.testing.case",
    "fire": "hookline.testing.fire_event",
    "hook_cases": "hookline.testing.fire_event",
    "load_cases": "hookline.testing.case",
    "run_case": "hookline.testing.case_runner",
    "session_facts": "hookline.hooks.session_facts",
}
__all__ = [
    "Case",
    "FakeClock",
    "Result",
    "ScriptedHost",
    "Step",
    "find_case_files",
    "fire",
    "hook_cases",
    "load_cases",
    "run_case",
    "session_facts",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
