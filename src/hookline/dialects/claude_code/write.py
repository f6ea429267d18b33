"""Hooks in the words of Claude Code's settings."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, Final

from hookline.dialects.claude_code.handlers import facts_of
from hookline.dialects.claude_code.rules import FAILED as AFTER_FAILURE
from hookline.dialects.claude_code.rules import SUCCEEDED, said
from hookline.dialects.claude_code.words import (
    BLOCK,
    FAILED,
    NAME,
    POWERSHELL,
    READING,
    TOOL_EVENTS,
    body_reading,
    environment,
    failing,
    sources,
    stdin,
    usual_timeout,
)
from hookline.dialects.dialect import Written
from hookline.dialects.settings import command_of, refuse_more
from hookline.dialects.unsaid import Unsaid, unsaid_action
from hookline.hooks.actions.call import Call, Tell
from hookline.hooks.actions.http import PostEvent
from hookline.hooks.actions.judge import Judge
from hookline.hooks.actions.program import Program, Run
from hookline.hooks.condition import Condition
from hookline.hooks.conditions.logic import All, AnyOf, Never, Not, all_of
from hookline.hooks.conditions.text import Exists
from hookline.hooks.events import name_in
from hookline.hooks.hook import UNLIMITED, Hook, Limit
from hookline.hooks.outcome import Place
from hookline.hooks.template import Template

_PLACEHOLDER: Final = re.compile(r"\{\{([\w.]+)\}\}")
_ONCE: Final = Limit(max_fires=1)

Groups = dict[str, list[dict[str, Any]]]


def written(hooks: Iterable[Hook]) -> Written:
    listed = list(hooks)
    disabled = bool(listed) and not any(hook.enabled for hook in listed)
    groups: Groups = {}
    unsaid: list[str] = []
    for hook in listed:
        try:
            _add(groups, hook, disabled)
        except Unsaid as missing:
            unsaid.append(f"{hook.id} ({hook.origin.file}:{hook.origin.line}): {missing}")
    value: dict[str, Any] = {"disableAllHooks": True} if disabled else {}
    return Written({**value, "hooks": groups}, "json", tuple(unsaid))


def _add(groups: Groups, hook: Hook, disabled: bool) -> None:
    """Hooks that follow each other with one matcher share a group."""
    found = list(_entries(hook, disabled))
    for named, matcher, value in found:
        of_event = groups.setdefault(named, [])
        if not of_event or of_event[-1].get("matcher") != matcher:
            of_event.append({"hooks": []} if matcher is None else {"matcher": matcher, "hooks": []})
        of_event[-1]["hooks"].append(value)


def _entries(hook: Hook, disabled: bool) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    """Event, matcher and handler, for each group in which the hook stands."""
    for part in _alternatives(hook.when):
        named, when = _named(part, hook.event)
        value = _handler(hook, named, disabled)
        if isinstance(when, Never) or (isinstance(when, All) and any(isinstance(each, Never) for each in when.parts)):
            if named in TOOL_EVENTS:
                raise Unsaid("that it never runs")
            texts: tuple[str | None, str | None] = (None, "Never")
        else:
            texts = said(when, named)
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


def _named(when: Condition, event: str) -> tuple[str, Condition]:
    """What Claude Code calls the event, and the rest of the condition."""
    if event != "tool.after":
        named = name_in(NAME, event)
        if named is None:
            raise Unsaid(f"the event {event}")
        return named, when
    parts = when.parts if isinstance(when, All) else (when,)
    for named, outcome in (("PostToolUse", SUCCEEDED), ("PostToolUseFailure", AFTER_FAILURE)):
        if outcome in parts:
            return named, all_of(part for part in parts if part != outcome)
    raise Unsaid("that it runs whether the tool succeeded or failed")


def _handler(hook: Hook, named: str, disabled: bool) -> dict[str, Any]:
    match hook.then:
        case Run():
            value = _command(hook.then, named)
        case PostEvent():
            value = _http(hook.then, named, blocks=hook.on_error != FAILED)
        case Call():
            value = _mcp_tool(hook.then, named)
        case Judge(prompt, given) if given == stdin(named):
            value = {"type": "prompt", "prompt": prompt}
        case _:
            raise unsaid_action(hook.then)
    _refuse(hook, disabled)
    value |= _on_failure(hook, named, value["type"])
    if hook.timeout != usual_timeout(named, value["type"]):
        value["timeout"] = _seconds(hook.timeout)
    if hook.limit == _ONCE:
        value["once"] = True
    if not hook.wait and value["type"] != "command":
        raise Unsaid("that the agent does not wait for it")
    return value if hook.wait else {**value, "async": True}


def _refuse(hook: Hook, disabled: bool) -> None:
    """Raises Unsaid for what no handler can say, whatever it does."""
    enabled = True if disabled else hook.enabled
    refuse_more(replace(hook, enabled=enabled, limit=UNLIMITED if hook.limit == _ONCE else hook.limit))


def _on_failure(hook: Hook, named: str, type_: str) -> dict[str, str]:
    if hook.on_error == FAILED:
        return {}
    if type_ not in ("command", "http") or not hook.wait or hook.on_error != failing(named, BLOCK):
        raise Unsaid("what a failure counts as")
    return {"onFailure": BLOCK}


def _seconds(length: timedelta) -> int | float:
    seconds = length.total_seconds()
    return int(seconds) if seconds.is_integer() else seconds


def _command(run: Run, named: str) -> dict[str, Any]:
    program = run.program
    if run.only_if is not None:
        raise Unsaid("only_if")
    if run.reading != READING:
        raise Unsaid(f"how its end is read: {run.reading.how}")
    if program.stdin not in (None, stdin(named)) or not set(program.env) <= set(environment()):
        raise Unsaid("what it is told on stdin and in its environment")
    if program.shell is not None:
        return {"type": "command", "command": command_of(program)}
    return {"type": "command", **_argv(program)}


def _argv(program: Program) -> dict[str, Any]:
    if program.inherit_env is not True or program.cwd is not None:
        raise Unsaid("an environment or a directory of its own")
    command, *args = (_exec_text(part) for part in program.argv)
    if (command, *args[:-1]) == POWERSHELL:
        return {"command": args[-1], "shell": "powershell"}
    return {"command": command, "args": args}


def _exec_text(text: Template) -> str:
    known = {"workspace": "${CLAUDE_PROJECT_DIR}", "open_braces": "{{"}
    return _said_with(text.source, known)


def _said_with(text: str, known: dict[str, str]) -> str:
    def said_as(found: re.Match[str]) -> str:
        if found[1] not in known:
            raise Unsaid(f"{found[0]} in its words")
        return known[found[1]]

    return _PLACEHOLDER.sub(said_as, text)


def _http(action: PostEvent, named: str, *, blocks: bool) -> dict[str, Any]:
    if action.reading != body_reading(named, blocks=blocks):
        raise Unsaid(f"how the answer is read: {action.reading.how}")
    if action.body != stdin(named):
        raise Unsaid("what is posted")
    value: dict[str, Any] = {"type": "http", "url": action.url}
    if action.headers:
        value["headers"] = dict(action.headers)
    if action.variables:
        value["allowedEnvVars"] = list(action.variables)
    return value


def _mcp_tool(call: Call, named: str) -> dict[str, Any]:
    start, server, tool = (*call.tool.split("__", 2), "", "")[:3]
    if start != "mcp" or not server or not tool:
        raise Unsaid(f"the tool {call.tool}, which is of no MCP server")
    if call.reading != READING or call.tell is not Tell.NEVER or call.place is not Place.CONTEXT:
        raise Unsaid("what becomes of the tool's answer")
    known = {fact: f"${{{key}}}" for key, fact in facts_of(named).items()}
    input = {**dict(call.literal), **_interpolated(sources(call.input.value), known)}
    return {"type": "mcp_tool", "server": server, "tool": tool, **({"input": input} if input else {})}


def _interpolated(value: Any, known: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _interpolated(held, known) for key, held in value.items()}
    if isinstance(value, list):
        return [_interpolated(held, known) for held in value]
    return _PLACEHOLDER.sub(lambda found: _fact_as(found[1], known), value) if isinstance(value, str) else value


def _fact_as(fact: str, known: dict[str, str]) -> str:
    if fact == "open_braces":
        return "{{"
    for held, said_as in known.items():
        if fact == held:
            return said_as
        if fact.startswith(f"{held}."):
            return f"{said_as[:-1]}{fact[len(held) :]}}}"
    raise Unsaid(f"{{{{{fact}}}}} in its input")
