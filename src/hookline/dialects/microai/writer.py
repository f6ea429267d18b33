"""Writes hooks as microai's settings."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from hookline.dialects.conversion import NotExpressible, event_not_expressible, write_duration, write_each
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
from hookline.hooks.outcome import SILENT, Verdict


def write_hooks(hooks: Iterable[Hook]) -> WriteResult:
    entries: dict[str, list[dict[str, Any]]] = {}

    def write(hook: Hook, losses: list[str]) -> None:
        event_name = event_name_in(NAME, hook.event)
        if event_name is None:
            raise event_not_expressible(hook)
        entries.setdefault(event_name, []).extend(_write_entries(hook, losses))

    not_expressible = write_each(hooks, write)
    return WriteResult({"hooks": entries}, "jsonc", not_expressible)


def _write_entries(hook: Hook, losses: list[str]) -> list[dict[str, Any]]:
    """One entry for each matcher."""
    check_expressible(hook)
    run = require_run_action(hook)
    if hook.wait is (hook.event == "tool.after"):
        raise NotExpressible("that the agent waits for it" if hook.wait else "that the agent does not wait for it")
    entry: dict[str, Any] = {"command": _write_command(run.program, hook.event)}
    if run.timeout != DEFAULT_TIMEOUT:
        entry["timeout"] = write_duration(run.timeout, timedelta(milliseconds=1))
    if not _write_continue_on_failure(hook, run, losses):
        entry["continueOnFailure"] = False
    if run.only_if is not None:
        entry["condition"] = _write_condition(run, hook.event)
    if hook.event not in TOOL_EVENTS:
        if hook.when != ALWAYS:
            raise NotExpressible("its condition")
        return [entry]
    return [entry if text == "*" else {"matcher": text, **entry} for text in write_matchers(hook.when)]


def _write_command(program: CommandTemplate, event: str) -> str:
    """microai may give the program more stdin and variables than it had, but none with another value."""
    command = require_shell_command(program)
    if program.stdin not in (None, build_program(command, event).stdin):
        raise NotExpressible("what it reads on stdin")
    known = dict(hook_environment(event))
    for name, text in program.env:
        if name not in known or known[name] != text:
            raise NotExpressible(f"the variable {name}")
    return command


def _write_condition(run: RunProgram, event: str) -> str:
    assert run.only_if is not None
    if run.only_if_timeout != CONDITION_TIMEOUT:
        raise NotExpressible("the timeout of only_if")
    return _write_command(run.only_if, event)


def _write_continue_on_failure(hook: Hook, run: RunProgram, losses: list[str]) -> bool:
    parser = run.result_parser
    if parser.tell is not result_parser(hook.event).tell:
        raise NotExpressible("who reads its output")
    if parser.format is ResultFormat.NONZERO and hook.event == "tool.before" and hook.on_error.verdict is Verdict.DENY:
        if (parser.reason, hook.on_error) != (BLOCKING_RESULT_PARSER.reason, BLOCK_OUTCOME):
            losses.append(f"its own reason for a deny; it becomes {BLOCK_OUTCOME.reason!r}")
        return False
    if parser.format is ResultFormat.ERROR and hook.on_error == SILENT:
        return True
    if parser.format is ResultFormat.NEVER and hook.on_error == SILENT:
        losses.append("that a non-zero exit code is not a failure; it will be reported as one")
        return True
    if parser.format is ResultFormat.ERROR and hook.on_error == END_GROUP_OUTCOME and hook.event != "tool.before":
        return False
    raise NotExpressible(hook.origin.wording.result(parser.format))
