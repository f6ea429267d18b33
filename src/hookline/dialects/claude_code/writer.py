"""Writes hooks as Claude Code's settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import Any, Final

from hookline.dialects.claude_code.handlers import facts_by_stdin_key
from hookline.dialects.claude_code.matchers import TOOL_FAILED, write_matcher_and_rule
from hookline.dialects.claude_code.names import (
    BLOCK,
    CONTINUE,
    FAILURE_OUTCOME,
    MODEL_GUARDS,
    MODEL_TYPES,
    NAME,
    POWERSHELL_ARGV,
    RESULT_PARSER,
    TOOL_EVENTS,
    body_result_parser,
    default_timeout,
    failure_outcome,
    hook_environment,
    template_sources,
)
from hookline.dialects.claude_stdin import stdin_template
from hookline.dialects.condition_form import join_names
from hookline.dialects.conversion import (
    NotExpressible,
    event_not_expressible,
    write_duration,
    write_each,
)
from hookline.dialects.dialect import WriteResult
from hookline.dialects.settings_json import (
    TOOL_SUCCEEDED,
    append_to_group,
    check_expressible,
    require_shell_command,
)
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.call_tool import CallTool, TellWhen
from hookline.hooks.actions.post import PostEvent
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.conditions.logic import All, AnyOf, Never, Not, all_of
from hookline.hooks.conditions.text import Exists
from hookline.hooks.events import event_name_in
from hookline.hooks.hook import UNLIMITED, Hook
from hookline.hooks.outcome import NotePlace
from hookline.hooks.protocols import Condition
from hookline.hooks.templates import OPEN_BRACES, ShellTemplate, Template
from hookline.hooks.wording import Wording
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import lazy_pattern

_PLACEHOLDER: Final = lazy_pattern(r"\{\{([\w.]+)\}\}")


def write_hooks(hooks: Iterable[Hook]) -> WriteResult:
    all_hooks = list(hooks)
    all_disabled = bool(all_hooks) and not any(hook.enabled for hook in all_hooks)
    groups: dict[str, list[dict[str, Any]]] = {}

    def write(hook: Hook, losses: list[str]) -> None:
        enabled = replace(hook, enabled=True) if all_disabled else hook
        for event_name, matcher, handler in list(_group_entries(enabled)):
            append_to_group(groups.setdefault(event_name, []), {} if matcher is None else {"matcher": matcher}, handler)

    not_expressible = write_each(all_hooks, write)
    value: dict[str, Any] = {"disableAllHooks": True} if all_disabled else {}
    return WriteResult({**value, "hooks": groups}, "json", not_expressible)


def _group_entries(hook: Hook) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    """Event, matcher and handler for each group that the hook needs."""
    if not hook.enabled:
        raise NotExpressible("that it is disabled")
    for part in _alternatives(hook.when):
        event_name, when = _event_and_condition(part, hook)
        value = _write_handler(hook, event_name)
        matcher: str | None
        rule: str | None
        if isinstance(when, Never) or (isinstance(when, All) and any(isinstance(each, Never) for each in when.parts)):
            if event_name in TOOL_EVENTS:
                raise NotExpressible("that it never runs")
            matcher, rule = None, "Never"
        else:
            matcher, rule = write_matcher_and_rule(when, event_name)
        yield event_name, matcher, {**value, "if": rule} if rule is not None else value


def _alternatives(when: Condition) -> Iterator[Condition]:
    """The conditions of the hook's groups."""
    match when:
        case AnyOf((_, Not(Exists()))):
            yield when
        case AnyOf(parts):
            for part in join_names(parts):
                yield from _alternatives(part)
        case _:
            yield when


def _event_and_condition(when: Condition, hook: Hook) -> tuple[str, Condition]:
    """Claude Code's name for the event, and the condition without what the name already says."""
    if hook.event != "tool.after":
        event_name = event_name_in(NAME, hook.event)
        if event_name is None:
            raise event_not_expressible(hook)
        return event_name, when
    parts = when.parts if isinstance(when, All) else (when,)
    for event_name, outcome in (("PostToolUse", TOOL_SUCCEEDED), ("PostToolUseFailure", TOOL_FAILED)):
        if outcome in parts:
            return event_name, all_of(part for part in parts if part != outcome)
    raise NotExpressible("that it runs whether the tool succeeded or failed")


def _write_handler(hook: Hook, event_name: str) -> dict[str, Any]:
    match hook.then:
        case RunProgram():
            value = _write_command(hook.then, event_name, hook.origin.wording)
        case PostEvent():
            value = _write_http(hook.then, event_name, hook.origin.wording, blocks=hook.on_error != FAILURE_OUTCOME)
        case CallTool():
            value = _write_mcp_tool(hook.then, event_name)
        case AskModel(prompt, payload, investigates) if payload == stdin_template(event_name):
            value = {"type": "agent" if investigates else "prompt", "prompt": prompt}
        case _:
            raise NotExpressible(action=hook.then)
    check_expressible(replace(hook, limit=UNLIMITED) if _runs_once(hook) else hook)
    value |= _write_on_failure(hook, event_name, value["type"])
    if hook.timeout != default_timeout(event_name, value["type"]):
        value["timeout"] = write_duration(hook.timeout, timedelta(seconds=1))
    if _runs_once(hook):
        value["once"] = True
    if not hook.wait and value["type"] != "command":
        raise NotExpressible("that the agent does not wait for it")
    return value if hook.wait else {**value, "async": True}


def _runs_once(hook: Hook) -> bool:
    return hook.limit.keys == ("max_fires",) and hook.limit.max_fires == 1


def _write_on_failure(hook: Hook, event_name: str, type_: str) -> dict[str, str]:
    if type_ in MODEL_TYPES:
        if hook.on_error != MODEL_GUARDS.get(event_name, FAILURE_OUTCOME):
            raise NotExpressible("what a failure counts as")
        return {}
    if hook.on_error == FAILURE_OUTCOME:
        lets_through = event_name == "PreToolUse" and isinstance(hook.then, RunProgram) and not hook.then.hold_if_broken
        return {"onFailure": CONTINUE} if lets_through else {}
    if type_ not in ("command", "http") or not hook.wait or hook.on_error != failure_outcome(event_name, BLOCK):
        raise NotExpressible("what a failure counts as")
    return {"onFailure": BLOCK}


def _write_command(run: RunProgram, event_name: str, words: Wording) -> dict[str, Any]:
    program = run.program
    if run.only_if is not None:
        raise NotExpressible(words.only_if)
    if run.timeout_blocks:
        raise NotExpressible("that a timeout blocks")
    if run.result_parser != RESULT_PARSER:
        raise NotExpressible(words.result(run.result_parser.format))
    if program.stdin not in (None, stdin_template(event_name)) or not set(program.env) <= set(hook_environment()):
        raise NotExpressible("its stdin and environment")
    if program.shell is not None:
        return {"type": "command", "command": require_shell_command(program)}
    return {"type": "command", **_write_argv(program)}


def _write_argv(program: CommandTemplate) -> dict[str, Any]:
    if program.inherit_env is not True or program.cwd is not None:
        raise NotExpressible("a restricted environment or a working directory")
    command, *args = (_write_argument(part) for part in program.argv)
    if (command, *args[:-1]) == POWERSHELL_ARGV:
        return {"command": args[-1], "shell": "powershell"}
    return {"command": command, "args": args}


def _write_argument(text: Template | ShellTemplate) -> str:
    known = {"workspace": "${CLAUDE_PROJECT_DIR}", OPEN_BRACES: "{{"}
    return _replace_placeholders(text.source, known)


def _replace_placeholders(text: str, known: dict[str, str]) -> str:
    def write_placeholder(found: re.Match[str]) -> str:
        if found[1] not in known:
            raise NotExpressible(f"{found[0]} in its arguments")
        return known[found[1]]

    return _PLACEHOLDER.sub(write_placeholder, text)


def _write_http(action: PostEvent, event_name: str, words: Wording, *, blocks: bool) -> dict[str, Any]:
    if action.result_parser != body_result_parser(event_name, blocks=blocks):
        raise NotExpressible(words.result(action.result_parser.format))
    if action.body != stdin_template(event_name):
        raise NotExpressible("the body that it posts")
    value: dict[str, Any] = {"type": "http", "url": action.url}
    if action.headers:
        value["headers"] = dict(action.headers)
    if action.variables:
        value["allowedEnvVars"] = list(action.variables)
    return value


def _write_mcp_tool(call: CallTool, event_name: str) -> dict[str, Any]:
    start, server, tool = (*call.tool.split("__", 2), "", "")[:3]
    if start != "mcp" or not server or not tool:
        raise NotExpressible(f"the tool {call.tool}, which belongs to no MCP server")
    if call.result_parser != RESULT_PARSER or call.tell is not TellWhen.NEVER or call.place is not NotePlace.CONTEXT:
        raise NotExpressible("how the tool's result is used")
    known = {fact: f"${{{key}}}" for key, fact in facts_by_stdin_key(event_name).items()}
    input = {**dict(call.literal), **_write_interpolations(template_sources(call.input.value), known)}
    return {"type": "mcp_tool", "server": server, "tool": tool, **({"input": input} if input else {})}


def _write_interpolations(value: Any, known: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _write_interpolations(each, known) for key, each in value.items()}
    if isinstance(value, list):
        return [_write_interpolations(each, known) for each in value]
    return (
        _PLACEHOLDER.sub(lambda found: _fact_placeholder(found[1], known), value) if isinstance(value, str) else value
    )


def _fact_placeholder(fact: str, known: dict[str, str]) -> str:
    if fact == OPEN_BRACES:
        return "{{"
    for path, placeholder in known.items():
        if fact == path:
            return placeholder
        if fact.startswith(f"{path}."):
            return f"{placeholder[:-1]}{fact[len(path) :]}}}"
    raise NotExpressible(f"{{{{{fact}}}}} in its input")
