"""Hooks in the words of Claude Code's settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from hookline.dialects.claude_code.handlers import facts_by_stdin_key
from hookline.dialects.claude_code.matchers import TOOL_FAILED as AFTER_FAILURE
from hookline.dialects.claude_code.matchers import TOOL_SUCCEEDED, write_matcher_and_rule
from hookline.dialects.claude_code.names import (
    BLOCK,
    FAILURE_OUTCOME,
    NAME,
    POWERSHELL_ARGV,
    RESULT_PARSER,
    TOOL_EVENTS,
    body_result_parser,
    default_timeout,
    failure_outcome,
    hook_environment,
    stdin_template,
    template_sources,
)
from hookline.dialects.conversion import NotExpressible, action_not_expressible
from hookline.dialects.dialect import WriteResult
from hookline.dialects.settings_json import check_expressible, require_shell_command
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.call_tool import CallTool, TellWhen
from hookline.hooks.actions.post import PostEvent
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.conditions.logic import All, AnyOf, Never, Not, all_of
from hookline.hooks.conditions.text import Exists
from hookline.hooks.events import event_name_in
from hookline.hooks.hook import UNLIMITED, Hook, Limit
from hookline.hooks.outcome import NotePlace
from hookline.hooks.protocols import Condition
from hookline.hooks.templates import Template

_PLACEHOLDER: Final = re.compile(r"\{\{([\w.]+)\}\}")
_ONCE_LIMIT: Final = Limit(max_fires=1)

GroupsByEvent = dict[str, list[dict[str, Any]]]


def write_hooks(hooks: Iterable[Hook]) -> WriteResult:
    listed = list(hooks)
    disabled = bool(listed) and not any(hook.enabled for hook in listed)
    groups: GroupsByEvent = {}
    unsaid: list[str] = []
    for hook in listed:
        try:
            _add_hook(groups, hook, disabled)
        except NotExpressible as missing:
            unsaid.append(f"{hook.id} ({hook.origin.file}:{hook.origin.line}): {missing}")
    value: dict[str, Any] = {"disableAllHooks": True} if disabled else {}
    return WriteResult({**value, "hooks": groups}, "json", tuple(unsaid))


def _add_hook(groups: GroupsByEvent, hook: Hook, disabled: bool) -> None:
    """Hooks that follow each other with one matcher share a group."""
    found = list(_group_entries(hook, disabled))
    for named, matcher, value in found:
        of_event = groups.setdefault(named, [])
        if not of_event or of_event[-1].get("matcher") != matcher:
            of_event.append({"hooks": []} if matcher is None else {"matcher": matcher, "hooks": []})
        of_event[-1]["hooks"].append(value)


def _group_entries(hook: Hook, disabled: bool) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    """Event, matcher and handler, for each group in which the hook stands."""
    for part in _alternatives(hook.when):
        named, when = _event_and_condition(part, hook.event)
        value = _write_handler(hook, named, disabled)
        if isinstance(when, Never) or (isinstance(when, All) and any(isinstance(each, Never) for each in when.parts)):
            if named in TOOL_EVENTS:
                raise NotExpressible("that it never runs")
            texts: tuple[str | None, str | None] = (None, "Never")
        else:
            texts = write_matcher_and_rule(when, named)
        matcher, rule = texts
        yield named, matcher, {**value, "if": rule} if rule is not None else value


def _alternatives(when: Condition) -> Iterator[Condition]:
    """What any of the hook's groups hears."""
    match when:
        case AnyOf((_, Not(Exists()))):
            yield when
        case AnyOf(parts):
            for part in parts:
                yield from _alternatives(part)
        case _:
            yield when


def _event_and_condition(when: Condition, event: str) -> tuple[str, Condition]:
    """What Claude Code calls the event, and the rest of the condition."""
    if event != "tool.after":
        named = event_name_in(NAME, event)
        if named is None:
            raise NotExpressible(f"the event {event}")
        return named, when
    parts = when.parts if isinstance(when, All) else (when,)
    for named, outcome in (("PostToolUse", TOOL_SUCCEEDED), ("PostToolUseFailure", AFTER_FAILURE)):
        if outcome in parts:
            return named, all_of(part for part in parts if part != outcome)
    raise NotExpressible("that it runs whether the tool succeeded or failed")


def _write_handler(hook: Hook, named: str, disabled: bool) -> dict[str, Any]:
    match hook.then:
        case RunProgram():
            value = _write_command(hook.then, named)
        case PostEvent():
            value = _write_http(hook.then, named, blocks=hook.on_error != FAILURE_OUTCOME)
        case CallTool():
            value = _write_mcp_tool(hook.then, named)
        case AskModel(prompt, given) if given == stdin_template(named):
            value = {"type": "prompt", "prompt": prompt}
        case _:
            raise action_not_expressible(hook.then)
    _check_handler_expressible(hook, disabled)
    value |= _write_on_failure(hook, named, value["type"])
    if hook.timeout != default_timeout(named, value["type"]):
        value["timeout"] = _write_seconds(hook.timeout)
    if hook.limit == _ONCE_LIMIT:
        value["once"] = True
    if not hook.wait and value["type"] != "command":
        raise NotExpressible("that the agent does not wait for it")
    return value if hook.wait else {**value, "async": True}


def _check_handler_expressible(hook: Hook, disabled: bool) -> None:
    """Raises Unsaid for what no handler can say, whatever it does."""
    enabled = True if disabled else hook.enabled
    check_expressible(replace(hook, enabled=enabled, limit=UNLIMITED if hook.limit == _ONCE_LIMIT else hook.limit))


def _write_on_failure(hook: Hook, named: str, type_: str) -> dict[str, str]:
    if hook.on_error == FAILURE_OUTCOME:
        return {}
    if type_ not in ("command", "http") or not hook.wait or hook.on_error != failure_outcome(named, BLOCK):
        raise NotExpressible("what a failure counts as")
    return {"onFailure": BLOCK}


def _write_seconds(length: timedelta) -> int | float:
    seconds = length.total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


def _write_command(run: RunProgram, named: str) -> dict[str, Any]:
    program = run.program
    if run.only_if is not None:
        raise NotExpressible("only_if")
    if run.result_parser != RESULT_PARSER:
        raise NotExpressible(f"how its end is read: {run.result_parser.format}")
    if program.stdin not in (None, stdin_template(named)) or not set(program.env) <= set(hook_environment()):
        raise NotExpressible("what it is told on stdin and in its environment")
    if program.shell is not None:
        return {"type": "command", "command": require_shell_command(program)}
    return {"type": "command", **_write_argv(program)}


def _write_argv(program: CommandTemplate) -> dict[str, Any]:
    if program.inherit_env is not True or program.cwd is not None:
        raise NotExpressible("an environment or a directory of its own")
    command, *args = (_write_argument(part) for part in program.argv)
    if (command, *args[:-1]) == POWERSHELL_ARGV:
        return {"command": args[-1], "shell": "powershell"}
    return {"command": command, "args": args}


def _write_argument(text: Template) -> str:
    known = {"workspace": "${CLAUDE_PROJECT_DIR}", "open_braces": "{{"}
    return _replace_placeholders(text.source, known)


def _replace_placeholders(text: str, known: dict[str, str]) -> str:
    def said_as(found: re.Match[str]) -> str:
        if found[1] not in known:
            raise NotExpressible(f"{found[0]} in its words")
        return known[found[1]]

    return _PLACEHOLDER.sub(said_as, text)


def _write_http(action: PostEvent, named: str, *, blocks: bool) -> dict[str, Any]:
    if action.result_parser != body_result_parser(named, blocks=blocks):
        raise NotExpressible(f"how the answer is read: {action.result_parser.format}")
    if action.body != stdin_template(named):
        raise NotExpressible("what is posted")
    value: dict[str, Any] = {"type": "http", "url": action.url}
    if action.headers:
        value["headers"] = dict(action.headers)
    if action.variables:
        value["allowedEnvVars"] = list(action.variables)
    return value


def _write_mcp_tool(call: CallTool, named: str) -> dict[str, Any]:
    start, server, tool = (*call.tool.split("__", 2), "", "")[:3]
    if start != "mcp" or not server or not tool:
        raise NotExpressible(f"the tool {call.tool}, which is of no MCP server")
    if call.result_parser != RESULT_PARSER or call.tell is not TellWhen.NEVER or call.place is not NotePlace.CONTEXT:
        raise NotExpressible("what becomes of the tool's answer")
    known = {fact: f"${{{key}}}" for key, fact in facts_by_stdin_key(named).items()}
    input = {**dict(call.literal), **_write_interpolations(template_sources(call.input.value), known)}
    return {"type": "mcp_tool", "server": server, "tool": tool, **({"input": input} if input else {})}


def _write_interpolations(value: Any, known: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _write_interpolations(held, known) for key, held in value.items()}
    if isinstance(value, list):
        return [_write_interpolations(held, known) for held in value]
    return (
        _PLACEHOLDER.sub(lambda found: _fact_placeholder(found[1], known), value) if isinstance(value, str) else value
    )


def _fact_placeholder(fact: str, known: dict[str, str]) -> str:
    if fact == "open_braces":
        return "{{"
    for held, said_as in known.items():
        if fact == held:
            return said_as
        if fact.startswith(f"{held}."):
            return f"{said_as[:-1]}{fact[len(held) :]}}}"
    raise NotExpressible(f"{{{{{fact}}}}} in its input")
