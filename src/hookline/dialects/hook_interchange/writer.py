"""Writes hooks as a manifest."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any, Final

from hookline.dialects.conversion import NotExpressible, event_not_expressible, flatten_all, write_duration, write_each
from hookline.dialects.dialect import WriteResult
from hookline.dialects.hook_interchange.matchers import write_matcher
from hookline.dialects.hook_interchange.names import (
    DEFAULT_STRATEGIES,
    DEFAULT_TIMEOUT,
    FAILURE_OUTCOME,
    MODEL_GUARDS,
    MODEL_TYPES,
    NAME,
    OUTCOME_CONDITIONS,
    SPEC,
    TOOL_EVENTS,
    can_block,
    stdin_of,
)
from hookline.dialects.settings_json import check_expressible
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.post import PostEvent
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.conditions.logic import ALWAYS, all_of
from hookline.hooks.events import event_name_in
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import SILENT
from hookline.hooks.protocols import Condition
from hookline.hooks.templates import OPEN_BRACES, Template
from hookline.lazy_dataclasses import replace

_WORKSPACE: Final = "{{workspace}}"
_BLOCKING: Final = (
    ResultFormat.INTERCHANGE, ResultFormat.CLAUDE, ResultFormat.JSON, ResultFormat.EXIT2, ResultFormat.CODEX,
    ResultFormat.DROID, ResultFormat.GEMINI, ResultFormat.QWEN,
)  # fmt: skip
"""Exit code 2 blocks, and no other; what JSON says beyond the format's own keys is lost."""


def write_hooks(hooks: Iterable[Hook]) -> WriteResult:
    written: list[dict[str, Any]] = []
    kept = map(_with_degradation_kept, hooks)
    not_expressible = write_each(kept, lambda hook, losses: written.append(_write_hook(hook, losses)))
    return WriteResult({"spec": SPEC, "hooks": written}, "json", not_expressible)


def _with_degradation_kept(hook: Hook) -> Hook:
    unconverted = tuple(each for each in hook.origin.unconverted if each != "degradation")
    return replace(hook, origin=replace(hook.origin, unconverted=unconverted))


def _write_hook(hook: Hook, losses: list[str]) -> dict[str, Any]:
    check_expressible(hook)
    event_name, when = _event_and_condition(hook)
    value: dict[str, Any] = {} if _is_generated(hook) else {"name": hook.id}
    value["event"] = event_name
    if when != ALWAYS:
        if event_name not in TOOL_EVENTS:
            raise NotExpressible("its condition")
        value["matcher"] = write_matcher(when)
    value["handler"] = _write_handler(hook, event_name, losses)
    if _blocks(hook, event_name):
        value["blocking"] = True
    strategies = dict(hook.origin.degradation)
    if given := {name: each for name, each in strategies.items() if DEFAULT_STRATEGIES.get(name) != each}:
        value["degradation"] = given
    return value


def _is_generated(hook: Hook) -> bool:
    """Whether its id only says where it stands."""
    return hook.id.endswith("]") and "[" in hook.id


def _event_and_condition(hook: Hook) -> tuple[str, Condition]:
    """The event's name here, and the condition without what the name already says."""
    if hook.event != "tool.after":
        event_name = event_name_in(NAME, hook.event)
        if event_name is None:
            raise event_not_expressible(hook)
        return event_name, hook.when
    parts = flatten_all(hook.when)
    for event_name, outcome in OUTCOME_CONDITIONS.items():
        if outcome in parts:
            return event_name, all_of(part for part in parts if part != outcome)
    raise NotExpressible("that it runs whether the tool succeeded or failed")


def _blocks(hook: Hook, event_name: str) -> bool:
    parser = getattr(hook.then, "result_parser", None)
    return can_block(event_name) and (parser is None or parser.format in _BLOCKING)


def _write_handler(hook: Hook, event_name: str, losses: list[str]) -> dict[str, Any]:
    match hook.then:
        case RunProgram():
            value = _write_command(hook.then, hook, event_name, losses)
        case PostEvent(url, body, parser, timeout, headers, ()) if body == stdin_of(event_name):
            _check_result(parser, hook, losses)
            value = {"type": "http", "url": url, **({"headers": dict(headers)} if headers else {})}
        case AskModel(prompt, payload, investigates) if payload == stdin_of(event_name):
            value = {"type": "agent" if investigates else "prompt", "prompt": prompt}
        case _:
            raise NotExpressible(action=hook.then)
    guard = MODEL_GUARDS.get(event_name) if value["type"] in MODEL_TYPES else None
    if hook.on_error not in (guard or FAILURE_OUTCOME, FAILURE_OUTCOME, SILENT):
        raise NotExpressible("what a failure counts as")
    if hook.on_error == SILENT:
        losses.append("that a failure is not shown to the user")
    timeout = getattr(hook.then, "timeout", hook.timeout)
    if timeout != DEFAULT_TIMEOUT:
        value["timeout"] = write_duration(timeout, timedelta(seconds=1))
    if isinstance(hook.then, RunProgram) and hook.then.timeout_blocks:
        value["timeout_action"] = "block"
    if not hook.wait and value["type"] != "command":
        raise NotExpressible("that the agent does not wait for it")
    return value if hook.wait else {**value, "async": True}


def _write_command(run: RunProgram, hook: Hook, event_name: str, losses: list[str]) -> dict[str, Any]:
    program = run.program
    if run.only_if is not None:
        raise NotExpressible(hook.origin.wording.only_if)
    _check_result(run.result_parser, hook, losses)
    if program.shell is None:
        raise NotExpressible("a program without a shell")
    if program.shell.names:
        raise NotExpressible(f"{{{{{program.shell.names[0]}}}}} in its command")
    if program.inherit_env is not True:
        raise NotExpressible("a restricted environment")
    if program.stdin not in (None, stdin_of(event_name)):
        losses.append("what it reads on stdin, which the format leaves to the agent")
    value: dict[str, Any] = {"type": "command", "command": program.shell.source}
    if program.cwd is not None:
        value["cwd"] = _write_directory(program.cwd)
    env = _write_env(program, hook, losses)
    return {**value, "env": env} if env else value


def _check_result(parser: ResultParser, hook: Hook, losses: list[str]) -> None:
    if parser.format in (ResultFormat.INTERCHANGE, ResultFormat.INTERCHANGE_ADVISORY):
        return
    if parser.format not in _BLOCKING or parser.tell is not None:
        raise NotExpressible(hook.origin.wording.result(parser.format))
    if parser.format is ResultFormat.EXIT2:
        losses.append("that its stdout is ignored: the format reads it as JSON")
    else:
        losses.append("the keys of its JSON answers: other tools read only decision, reason, continue and context")


def _write_directory(cwd: Template) -> str:
    path = cwd.source.removeprefix(_WORKSPACE).lstrip("/") if cwd.source.startswith(_WORKSPACE) else cwd.source
    return _plain_text(path, "its working directory") or "."


def _write_env(program: CommandTemplate, hook: Hook, losses: list[str]) -> dict[str, str]:
    """Variables that its dialect gives to every program are not the author's."""
    own = hook.origin.wording.author_variables(program.env)
    if own != program.env:
        losses.append("the variables that its agent gives to every hook")
    return {name: _plain_text("" if text is None else text.source, f"the variable {name}") for name, text in own}


def _plain_text(source: str, what: str) -> str:
    text = source.replace("{{" + OPEN_BRACES + "}}", "\0")
    if "{{" in text:
        raise NotExpressible(f"a placeholder in {what}")
    return text.replace("\0", "{{")
