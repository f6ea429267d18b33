"""Hooks in microai's own words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hookline.dialects.conversion import NotExpressible
from hookline.dialects.dialect import WriteResult
from hookline.dialects.microai.dialect import (
    BLOCK_OUTCOME,
    BLOCKING_RESULT_PARSER,
    CONDITION_TIMEOUT,
    DEFAULT_TIMEOUT,
    END_GROUP_OUTCOME,
    NAME,
    TOOL_EVENTS,
    build_program,
    hook_environment,
    result_parser,
)
from hookline.dialects.microai.matcher import write_matchers
from hookline.dialects.settings_json import check_expressible, require_run_action, require_shell_command
from hookline.hooks.actions.program_result import ResultFormat
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.conditions.logic import ALWAYS
from hookline.hooks.events import event_name_in
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import SILENT, Outcome, Verdict


def write_hooks(hooks: Iterable[Hook]) -> WriteResult:
    said: dict[str, list[dict[str, Any]]] = {}
    unsaid: list[str] = []
    for hook in hooks:
        try:
            named = event_name_in(NAME, hook.event)
            if named is None:
                raise NotExpressible(f"the event {hook.event}")
            said.setdefault(named, []).extend(_write_entries(hook, unsaid))
        except NotExpressible as missing:
            unsaid.append(f"{_hook_label(hook)}: {missing}")
    return WriteResult({"hooks": said}, "json", tuple(unsaid))


def _hook_label(hook: Hook) -> str:
    return f"{hook.id} ({hook.origin.file}:{hook.origin.line})"


def _write_entries(hook: Hook, unsaid: list[str]) -> list[dict[str, Any]]:
    """One for each matcher; `unsaid` takes what is lost of a hook that is said nevertheless."""
    check_expressible(hook)
    run = require_run_action(hook)
    if hook.wait is (hook.event == "tool.after"):
        raise NotExpressible("that the agent waits for it" if hook.wait else "that the agent does not wait for it")
    entry: dict[str, Any] = {"command": _write_command(run.program, hook.event)}
    if run.timeout != DEFAULT_TIMEOUT:
        entry["timeout"] = _write_milliseconds(run)
    if not _write_continue_on_failure(hook, run, unsaid):
        entry["continueOnFailure"] = False
    if run.only_if is not None:
        entry["condition"] = _write_condition(run, hook.event)
    if hook.event not in TOOL_EVENTS:
        if hook.when != ALWAYS:
            raise NotExpressible("its condition")
        return [entry]
    return [entry if text == "*" else {"matcher": text, **entry} for text in write_matchers(hook.when)]


def _write_milliseconds(run: RunProgram) -> int | float:
    milliseconds = run.timeout.total_seconds() * 1000
    return int(milliseconds) if milliseconds.is_integer() else milliseconds


def _write_command(told: CommandTemplate, event: str) -> str:
    """It may be told more here than it was; never less, and nothing in other words."""
    command = require_shell_command(told)
    ours = build_program(command, event)
    if told.stdin is not None and told.stdin != ours.stdin:
        raise NotExpressible("what it reads on stdin")
    known = dict(hook_environment(event))
    for name, text in told.env:
        if name not in known or known[name] != text:
            raise NotExpressible(f"the variable {name}")
    return command


def _write_condition(run: RunProgram, event: str) -> str:
    assert run.only_if is not None
    if run.only_if_timeout != CONDITION_TIMEOUT:
        raise NotExpressible("the time that only_if has")
    return _write_command(run.only_if, event)


def _write_continue_on_failure(hook: Hook, run: RunProgram, unsaid: list[str]) -> bool:
    """continueOnFailure."""
    how, plain = run.result_parser, result_parser(hook.event)
    if how.tell is not plain.tell:
        raise NotExpressible("whom its output is for")
    if how.format is ResultFormat.NONZERO and hook.event == "tool.before" and hook.on_error.verdict is Verdict.DENY:
        if (how.reason, hook.on_error) != (BLOCKING_RESULT_PARSER.reason, BLOCK_OUTCOME):
            unsaid.append(f"{_hook_label(hook)}: its own words for a deny; here they are {BLOCK_OUTCOME.reason!r}")
        return False
    if how.format is ResultFormat.ERROR and hook.on_error == SILENT:
        return True
    if how.format is ResultFormat.NEVER and hook.on_error == SILENT:
        unsaid.append(f"{_hook_label(hook)}: that a non-zero exit is no failure; here it is reported")
        return True
    if how.format is ResultFormat.ERROR and hook.on_error == END_GROUP_OUTCOME and hook.event != "tool.before":
        return False
    raise NotExpressible(f"how its end is read: {how.format}, and {_describe_outcome(hook.on_error)} on an error")


def _describe_outcome(outcome: Outcome) -> str:
    return "the end of its group" if outcome.final else outcome.verdict.word
