"""Run a script, and read what it returned."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from hookline.hooks.action import May
from hookline.hooks.event import Changes, Event, Path
from hookline.hooks.fields import input_back
from hookline.hooks.filled import Filled
from hookline.hooks.host import Host, Script
from hookline.hooks.outcome import SILENT, Failed, FailureKind, Outcome, Verdict

_VERDICTS: Final = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY}


@dataclass(frozen=True, slots=True)
class RunScript:
    """It returns nothing, or `{decision, reason, modifiedInput, modifiedPrompt}`."""

    source: str
    variables: Filled
    timeout: timedelta
    instant = False
    constant = None
    may = May.JUDGE | May.CHANGE

    def changes(self) -> tuple[Path, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return self.variables.reads()

    async def run(self, event: Event, host: Host) -> Outcome:
        returned = await host.run_script(Script(self.source, self.variables.render(event), self.timeout))
        return _read(returned, event)


def _read(returned: Any, event: Event) -> Outcome:
    if returned is None:
        return SILENT
    if not isinstance(returned, dict):
        raise Failed(FailureKind.UNREADABLE_ANSWER, f"the script returned {type(returned).__name__}, not an object")
    decision, reason = returned.get("decision"), returned.get("reason")
    if decision is not None and decision not in _VERDICTS:
        raise Failed(FailureKind.UNREADABLE_ANSWER, f"the script's decision {str(decision)[:60]!r} is not known")
    verdict = _VERDICTS[decision] if decision is not None else Verdict.SILENT
    words = reason if isinstance(reason, str) else ""
    return Outcome(verdict, words, () if verdict is Verdict.DENY else _changes(returned, event))


def _changes(returned: dict[str, Any], event: Event) -> Changes:
    return tuple(
        change
        for key, read in (("modifiedInput", _input), ("modifiedPrompt", _prompt))
        if returned.get(key) is not None
        for change in read(returned[key], event)
    )


def _input(value: Any, event: Event) -> Changes:
    if not isinstance(value, dict):
        raise Failed(FailureKind.UNREADABLE_ANSWER, "modifiedInput is not an object")
    return ((("tool", "input"), input_back(event, value)),)


def _prompt(value: Any, event: Event) -> Changes:
    if not isinstance(value, str):
        raise Failed(FailureKind.UNREADABLE_ANSWER, "modifiedPrompt is not text")
    return ((("prompt",), value),)
