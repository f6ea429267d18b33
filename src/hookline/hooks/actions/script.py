"""Run a script and read its return value."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any, Final

from hookline.hooks.actions.description import describe_input
from hookline.hooks.actions.hold import holding_error
from hookline.hooks.event import Changes, Event, FactPath
from hookline.hooks.host import Host, ScriptCall
from hookline.hooks.outcome import SILENT, ActionError, FailureKind, Outcome, Verdict
from hookline.hooks.protocols import InlineAction, May
from hookline.hooks.templates import DataTemplate
from hookline.hooks.tool_input import to_host_fields
from hookline.lazy_dataclasses import dataclass

_DECISION_VERDICTS: Final = {"allow": Verdict.ALLOW, "ask": Verdict.ASK, "deny": Verdict.DENY}

_ANSWER_KEYS: Final = ("decision", "reason", "modifiedInput", "modifiedPrompt")


@dataclass(frozen=True, slots=True)
class RunScript(InlineAction):
    """The script returns nothing, or `{decision, reason, modifiedInput, modifiedPrompt}`."""

    source: str
    variables: DataTemplate
    timeout: timedelta
    hold_if_broken: bool = False  # a script with a syntax error holds the event
    may_run_in_page: bool = True
    instant = False
    constant = None
    label = "the action script"
    may = May.JUDGE | May.CHANGE

    def needs_task(self, host: Host) -> bool:
        return not getattr(host.run_script, "starts_without_task", False)

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return self.variables.reads()

    def describe(self) -> Iterator[tuple[str, str]]:
        yield "script", self.source
        yield from describe_input("variables", self.variables)

    async def run(self, event: Event, host: Host) -> Outcome:
        try:
            returned = await host.run_script(
                ScriptCall(self.source, self.variables.render(event), self.timeout, self.may_run_in_page)
            )
        except ActionError as failed:
            if self.hold_if_broken:
                raise holding_error(failed.failure, event.name) from None
            raise
        return _parse_returned(returned, event)


def _parse_returned(returned: Any, event: Event) -> Outcome:
    if returned is None:
        return SILENT
    if not isinstance(returned, dict):
        raise ActionError(FailureKind.UNREADABLE_ANSWER, f"returned {_type_name(returned)}, not an object")
    if returned and not any(key in returned for key in _ANSWER_KEYS):
        first = next(iter(returned))[:60]
        raise ActionError(FailureKind.UNREADABLE_ANSWER, f"returned an object with {first!r} and without decision")
    decision, reason = returned.get("decision"), returned.get("reason")
    if decision is not None and decision not in _DECISION_VERDICTS:
        raise ActionError(FailureKind.UNREADABLE_ANSWER, f"returned the unknown decision {str(decision)[:60]!r}")
    verdict = _DECISION_VERDICTS[decision] if decision is not None else Verdict.SILENT
    words = reason if isinstance(reason, str) else ""
    return Outcome(verdict, words, () if verdict is Verdict.DENY else _parse_changes(returned, event))


def _type_name(value: Any) -> str:
    """As JavaScript calls it."""
    if isinstance(value, bool):
        return "a boolean"
    return "a string" if isinstance(value, str) else "an array" if isinstance(value, list) else "a number"


def _parse_changes(returned: dict[str, Any], event: Event) -> Changes:
    return tuple(
        change
        for key, read in (("modifiedInput", _input_change), ("modifiedPrompt", _prompt_change))
        if returned.get(key) is not None
        for change in read(returned[key], event)
    )


def _input_change(value: Any, event: Event) -> Changes:
    if not isinstance(value, dict):
        raise ActionError(FailureKind.UNREADABLE_ANSWER, "returned a modifiedInput that is not an object")
    return ((("tool", "input"), to_host_fields(event, value)),)


def _prompt_change(value: Any, event: Event) -> Changes:
    if not isinstance(value, str):
        raise ActionError(FailureKind.UNREADABLE_ANSWER, "returned a modifiedPrompt that is not text")
    return ((("prompt",), value),)
