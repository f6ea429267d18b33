"""Reads one handler of a group: a command, a URL, a tool of an MCP server or a prompt for the model."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, Final

from hookline.config.node import Node, format_value
from hookline.config.problem import Severity
from hookline.dialects.claude_code.names import (
    BLOCK,
    CONTINUE,
    HANDLER_KEYS,
    POWERSHELL_ARGV,
    RESULT_PARSER,
    SHELLS,
    VOCABULARY,
    body_result_parser,
    default_timeout,
    hook_environment,
    is_plugin_file,
    plugin_root,
)
from hookline.dialects.claude_stdin import stdin_template, stdin_templates
from hookline.dialects.dialect import has_disabling_error
from hookline.dialects.settings_json import MAX_TIMEOUT_SECONDS, MIN_TIMEOUT_SECONDS, literal_shell_template
from hookline.errors import BadTemplate
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.call_tool import CallTool, quote_commands
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.actions.post import URL_PATTERN, PostEvent
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import Action
from hookline.hooks.templates import (
    DataTemplate,
    ShellTemplate,
    Template,
    escape_braces,
    parse_arguments,
    parse_template,
)
from hookline.lazy_imports import lazy_pattern

PLACEHOLDER: Final = lazy_pattern(r"\$\{([\w.]+)\}")
_FACT_TEMPLATE: Final = lazy_pattern(r"\{\{([\w.]+)[^}]*\}\}")


def parse_handler(at: Node, event_name: str) -> tuple[Action, timedelta] | None:
    """The action and its timeout; None after a problem."""
    type_ = _parse_type(at)
    if type_ is None:
        return None
    before = len(at.problems)
    timeout, status = _parse_timeout(at, default_timeout(event_name, type_)), at.get("statusMessage")
    if status is not None:
        status.text(empty=True)
    failure = at.get("onFailure")
    if failure is not None:
        failure.one_of((CONTINUE, BLOCK))
    action = _PARSERS[type_](at, event_name, timeout)
    return None if action is None or has_disabling_error(at.problems[before:]) else (action, timeout)


def warn_unknown_handler_keys(at: Node) -> None:
    """A misspelt onFailure is an error, but the hook stays: Claude Code runs it too."""
    type_ = at.value.get("type")
    if isinstance(type_, str) and type_ in HANDLER_KEYS:
        at.warn_unknown_keys(HANDLER_KEYS[type_], f"a hook of type {type_}", essential=("onFailure",))


def _parse_type(at: Node) -> str | None:
    type_ = at.require("type", 'Write "type": "command".')
    return None if type_ is None else type_.one_of(HANDLER_KEYS)


def _parse_timeout(at: Node, default: timedelta) -> timedelta:
    timeout = at.get("timeout")
    hint = "Claude Code counts seconds; write 60 for a minute."
    number = None if timeout is None else timeout.number(least=MIN_TIMEOUT_SECONDS, hint=hint)
    if timeout is None or number is None:
        return default
    if number > MAX_TIMEOUT_SECONDS:
        what = f"{timeout.location}: {format_value(number)} seconds are more than a day; a day is the limit here."
        timeout.add_problem("out-of-range", what, hint, severity=Severity.WARNING)
    return timedelta(seconds=min(number, MAX_TIMEOUT_SECONDS))


def _require_text(at: Node, key: str) -> str | None:
    place = at.require(key, f"Write {key} and its text.")
    return None if place is None else place.text()


def _parse_command(at: Node, event_name: str, timeout: timedelta) -> Action | None:
    command, args, shell = _require_text(at, "command"), at.get("args"), at.get("shell")
    shell_name = "bash" if shell is None else shell.one_of(SHELLS)
    for key in ("async", "asyncRewake"):
        if (flag := at.get(key)) is not None:
            flag.flag()
    if command is None or shell_name is None:
        return None
    file = at.document.file
    argv: tuple[Template | ShellTemplate, ...] = ()
    if args is not None:
        argv = _argument_templates((command, *_parse_args(args)), file)
    elif shell_name == "powershell":
        argv = tuple(
            parse_template(escape_braces(text), PlaceholderResolver(VOCABULARY)) for text in (*POWERSHELL_ARGV, command)
        )
    program = CommandTemplate(
        None if argv else literal_shell_template(command), argv, stdin_template(event_name), hook_environment(file)
    )
    holds = event_name == "PreToolUse" and at.value.get("onFailure") != CONTINUE
    return RunProgram(program, RESULT_PARSER, timeout, hold_if_broken=holds)


def _parse_args(at: Node) -> list[str]:
    return [text for place in at.items() if (text := place.text(empty=True)) is not None]


def _argument_templates(texts: Sequence[str], file: str) -> tuple[Template | ShellTemplate, ...]:
    """There is no shell to expand the variables that a path may start with."""
    root = escape_braces(plugin_root(file)) if is_plugin_file(file) else ""
    resolver = PlaceholderResolver(VOCABULARY)
    sources = [
        escape_braces(text).replace("${CLAUDE_PROJECT_DIR}", "{{workspace}}").replace("${CLAUDE_PLUGIN_ROOT}", root)
        for text in texts
    ]
    # Claude Code puts the directory into any text, and no agent chooses it, so there is nothing to refuse.
    return tuple(
        parse_template(source, resolver) if isinstance(parsed, BadTemplate) else parsed
        for source, parsed in zip(sources, parse_arguments(sources, resolver), strict=True)
    )


def _parse_http(at: Node, event_name: str, timeout: timedelta) -> Action | None:
    url, headers, allowed = _require_text(at, "url"), at.get("headers"), at.get("allowedEnvVars")
    if url is not None and not URL_PATTERN.fullmatch(url):
        at.add_problem(
            "bad-url", f"{at.location}.url: this is not an http or https URL.", "Write http://… or https://…."
        )
    given = [(name, place.text(empty=True)) for name, place in headers.entries()] if headers is not None else []
    names = () if allowed is None else tuple(place.text() for place in allowed.items())
    if url is None:
        return None
    return PostEvent(
        url,
        stdin_template(event_name),
        body_result_parser(event_name, blocks=at.value.get("onFailure") == BLOCK),
        timeout,
        tuple((name, text or "") for name, text in given),
        tuple(name for name in names if name),
    )


def _parse_mcp_tool(at: Node, event_name: str, timeout: timedelta) -> Action | None:
    server, tool, given = _require_text(at, "server"), _require_text(at, "tool"), at.get("input")
    if given is not None and given.mapping() is None:
        return None
    before = len(at.problems)
    input = {} if given is None else {key: _interpolate(place, event_name) for key, place in given.entries()}
    if server is None or tool is None:
        return None
    if len(at.problems) > before:
        why = f"has an invalid input: {at.problems[before].what.removesuffix('.')}"
        return InvalidAction(why, written=dict(at.value))
    name = f"mcp__{server}__{tool}"
    try:
        quoted = quote_commands(name, DataTemplate(input), PlaceholderResolver(VOCABULARY))
    except BadTemplate as bad:
        at.add_problem("bad-template", f"{at.location}.input: {bad.what}.", bad.hint)
        return InvalidAction(f"has an invalid input: {bad.what}", written=dict(at.value))
    return CallTool(name, quoted, result_parser=RESULT_PARSER)


def _interpolate(at: Node, event_name: str) -> Any:
    """Turns `${tool_input.file_path}` into the fact that a command hook reads under that key of its stdin."""
    if isinstance(at.value, dict):
        return {key: _interpolate(place, event_name) for key, place in at.entries()}
    if isinstance(at.value, list):
        return [_interpolate(place, event_name) for place in at.items()]
    if not isinstance(at.value, str) or not PLACEHOLDER.search(at.value):
        return at.value
    known, unknown = facts_by_stdin_key(event_name), []

    def replace_placeholder(found: re.Match[str]) -> str:
        key, dot, rest = found[1].partition(".")
        if key not in known:
            unknown.append(found[0])
            return ""
        return f"{{{{{known[key]}{dot}{rest}}}}}"

    text = PLACEHOLDER.sub(replace_placeholder, escape_braces(at.value))
    if unknown:
        what = f"{at.location}: {event_name} has no value for {unknown[0]}."
        at.add_problem("bad-template", what, f"Known: {', '.join(known)}.")
        return at.value
    return parse_template(text, PlaceholderResolver(VOCABULARY))


def facts_by_stdin_key(event_name: str) -> dict[str, str]:
    """Each key of a hook's stdin → the fact that it contains."""
    texts = {key: text for key, text in stdin_templates(event_name).items() if isinstance(text, str)}
    found = {key: _FACT_TEMPLATE.fullmatch(text) for key, text in texts.items()}
    return {key: match[1] for key, match in found.items() if match is not None}


def _parse_prompt(at: Node, event_name: str, timeout: timedelta) -> Action | None:
    prompt = _parse_prompt_text(at)
    if (flag := at.get("continueOnBlock")) is not None:
        flag.flag()
    return None if prompt is None else AskModel(prompt, stdin_template(event_name))


def _parse_agent(at: Node, event_name: str, timeout: timedelta) -> Action | None:
    prompt = _parse_prompt_text(at)
    return None if prompt is None else AskModel(prompt, stdin_template(event_name), investigates=True)


def _parse_prompt_text(at: Node) -> str | None:
    if (model := at.get("model")) is not None:
        model.text()
    return _require_text(at, "prompt")


_PARSERS: Final[dict[str, Callable[[Node, str, timedelta], Action | None]]] = {
    "command": _parse_command,
    "http": _parse_http,
    "mcp_tool": _parse_mcp_tool,
    "prompt": _parse_prompt,
    "agent": _parse_agent,
}
