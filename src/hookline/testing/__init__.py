"""What people need to test their hooks: cases as data, `fire()` for Python, a host that only pretends, a clock to turn.

from hookline.testing import hook_cases

test_hooks = hook_cases("tests/hooks")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from hookline.testing.case import Case, Step, find_case_files, load_cases
    from hookline.testing.facts import session_facts
    from hookline.testing.firing import fire
    from hookline.testing.host import FakeClock, ScriptedHost
    from hookline.testing.parametrized import hook_cases
    from hookline.testing.run import Result, run_case

_HOMES: Final = {
    "Case": "case",
    "FakeClock": "host",
    "Result": "run",
    "ScriptedHost": "host",
    "Step": "case",
    "find_case_files": "case",
    "fire": "firing",
    "hook_cases": "parametrized",
    "load_cases": "case",
    "run_case": "run",
    "session_facts": "facts",
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
    return getattr(import_module(f"hookline.testing.{_HOMES[name]}"), name)
