"""Hooks in microai's own words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hookline.dialects.dialect import Written
from hookline.dialects.microai.dialect import (
    BLOCKED,
    BLOCKING,
    CONDITION_TIMEOUT,
    ENDED,
    NAME,
    TIMEOUT,
    TOOL_EVENTS,
    environment,
    program,
    reading,
)
from hookline.dialects.microai.matcher import matcher_texts
from hookline.dialects.settings import command_of, refuse_more, run_of
from hookline.dialects.unsaid import Unsaid
from hookline.hooks.actions.program import Program, Run
from hookline.hooks.actions.reading import Reads
from hookline.hooks.conditions.logic import ALWAYS
from hookline.hooks.events import name_in
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import SILENT, Outcome, Verdict


def written(hooks: Iterable[Hook]) -> Written:
    said: dict[str, list[dict[str, Any]]] = {}
    unsaid: list[str] = []
    for hook in hooks:
        try:
            named = name_in(NAME, hook.event)
            if named is None:
                raise Unsaid(f"the event {hook.event}")
            said.setdefault(named, []).extend(_entries(hook, unsaid))
        except Unsaid as missing:
            unsaid.append(f"{_whose(hook)}: {missing}")
    return Written({"hooks": said}, "json", tuple(unsaid))


def _whose(hook: Hook) -> str:
    return f"{hook.id} ({hook.origin.file}:{hook.origin.line})"


def _entries(hook: Hook, unsaid: list[str]) -> list[dict[str, Any]]:
    """One for each matcher; `unsaid` takes what is lost of a hook that is said nevertheless."""
    refuse_more(hook)
    run = run_of(hook)
    if hook.wait is (hook.event == "tool.after"):
        raise Unsaid("that the agent waits for it" if hook.wait else "that the agent does not wait for it")
    entry: dict[str, Any] = {"command": _command(run.program, hook.event)}
    if run.timeout != TIMEOUT:
        entry["timeout"] = _milliseconds(run)
    if not _goes_on(hook, run, unsaid):
        entry["continueOnFailure"] = False
    if run.only_if is not None:
        entry["condition"] = _condition(run, hook.event)
    if hook.event not in TOOL_EVENTS:
        if hook.when != ALWAYS:
            raise Unsaid("its condition")
        return [entry]
    return [entry if text == "*" else {"matcher": text, **entry} for text in matcher_texts(hook.when)]


def _milliseconds(run: Run) -> int | float:
    milliseconds = run.timeout.total_seconds() * 1000
    return int(milliseconds) if milliseconds.is_integer() else milliseconds


def _command(told: Program, event: str) -> str:
    """It may be told more here than it was; never less, and nothing in other words."""
    command = command_of(told)
    ours = program(command, event)
    if told.stdin is not None and told.stdin != ours.stdin:
        raise Unsaid("what it reads on stdin")
    known = dict(environment(event))
    for name, text in told.env:
        if name not in known or known[name] != text:
            raise Unsaid(f"the variable {name}")
    return command


def _condition(run: Run, event: str) -> str:
    assert run.only_if is not None
    if run.only_if_timeout != CONDITION_TIMEOUT:
        raise Unsaid("the time that only_if has")
    return _command(run.only_if, event)


def _goes_on(hook: Hook, run: Run, unsaid: list[str]) -> bool:
    """continueOnFailure."""
    how, plain = run.reading, reading(hook.event)
    if how.tell is not plain.tell:
        raise Unsaid("whom its output is for")
    if how.how is Reads.NONZERO and hook.event == "tool.before" and hook.on_error.verdict is Verdict.DENY:
        if (how.reason, hook.on_error) != (BLOCKING.reason, BLOCKED):
            unsaid.append(f"{_whose(hook)}: its own words for a deny; here they are {BLOCKED.reason!r}")
        return False
    if how.how is Reads.ERROR and hook.on_error == SILENT:
        return True
    if how.how is Reads.NEVER and hook.on_error == SILENT:
        unsaid.append(f"{_whose(hook)}: that a non-zero exit is no failure; here it is reported")
        return True
    if how.how is Reads.ERROR and hook.on_error == ENDED and hook.event != "tool.before":
        return False
    raise Unsaid(f"how its end is read: {how.how}, and {_error(hook.on_error)} on an error")


def _error(outcome: Outcome) -> str:
    return "the end of its group" if outcome.final else outcome.verdict.word
