"""What scripts say about recorded events: they run in QuickJS, and nothing is called for them."""

from __future__ import annotations

import re
import time
from datetime import timedelta
from typing import Any, Final

from hookline.errors import UnavailableError
from hookline.hooks.actions.script import RunScript
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.hooks.host import NullHost, ScriptCall, ToolResult
from hookline.hooks.outcome import ActionError, FailureKind, Outcome
from hookline.lazy_dataclasses import replace
from hookline.runners.javascript import run_script

_MAX_RUNS: Final = 500
_MAX_SECONDS: Final = 5.0  # for all of them
_TIMEOUT: Final = timedelta(seconds=0.5)  # for one
_DOCUMENT: Final = re.compile(r"\bdocument\b")  # of the agent's page, which is not recorded


class ScriptTrial:
    """For one preview: the number of runs and their time are limited."""

    def __init__(self) -> None:
        self._runs = 0
        self._seconds = 0.0
        self._too_slow: set[str] = set()

    async def answer(self, hook: Hook, event: Event) -> Outcome | None:
        """None if it is not a script, or what it says depends on more than the event. Raises ActionError if the script fails."""
        action = hook.then
        if not isinstance(action, RunScript) or not self._may_run(hook.id, action):
            return None
        host = _TrialHost()
        self._runs += 1
        started = time.monotonic()
        try:
            outcome = await replace(action, timeout=min(action.timeout, _TIMEOUT)).run(event, host)
        except ActionError as failed:
            if failed.failure.kind is FailureKind.TIMEOUT:
                self._too_slow.add(hook.id)
                return None
            if host.was_called:
                return None
            raise
        finally:
            self._seconds += time.monotonic() - started
        return None if host.was_called else outcome

    def _may_run(self, id: str, action: RunScript) -> bool:
        is_within = self._runs < _MAX_RUNS and self._seconds < _MAX_SECONDS and id not in self._too_slow
        return is_within and _DOCUMENT.search(action.source) is None


class _TrialHost(NullHost):
    was_called = False

    async def run_script(self, script: ScriptCall) -> Any:
        return await run_script(script, self, is_logged=False)

    async def call_tool(self, name: str, input: dict[str, Any]) -> ToolResult:
        self.was_called = True
        raise UnavailableError("nothing is called for a recorded event")
