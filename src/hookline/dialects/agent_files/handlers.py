"""Reads one handler: a command, a URL, a tool of an MCP server or a prompt for the model."""

from __future__ import annotations

import os.path
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import PurePath
from typing import Final

from hookline.config.node import Node, format_value
from hookline.config.problem import Severity
from hookline.dialects.agent_files.format import MILLISECOND, SECOND, AgentFormat
from hookline.dialects.dialect import CONFIG_LOCATIONS
from hookline.dialects.settings_json import MAX_TIMEOUT_SECONDS, agent_of_own_entry, literal_shell_template
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.call_tool import CallTool
from hookline.hooks.actions.post import URL_PATTERN, PostEvent
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.outcome import Audience, Note, Outcome
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import Action
from hookline.hooks.templates import DataTemplate, Template, escape_braces, parse_template

_MAX_TIMEOUT: Final = timedelta(seconds=MAX_TIMEOUT_SECONDS)
_DIRECTORY_KEYS: Final = ("cwd", "working_directory")
_WORKSPACE: Final = "{{workspace}}"


def handler_type(format: AgentFormat, at: Node) -> str | None:
    """None after a problem."""
    if format.default_type and at.value.get("type") is None:
        return format.default_type
    place = at.require("type", f'Write "type": "{next(iter(format.handlers))}".')
    return None if place is None else place.one_of(format.handlers)


def is_own_entry(format: AgentFormat, handler: object) -> bool:
    """hookline's own entry is not a hook: through it, other agents would ask every hook a second time."""
    if isinstance(handler, Mapping) and format.action_key:
        handler = handler.get(format.action_key)
    if not isinstance(handler, Mapping):
        return False
    texts = (handler.get(key) for key in (*format.command_keys, "url"))
    return any(agent_of_own_entry(text) is not None for text in texts if isinstance(text, str))


def parse_timeout(format: AgentFormat, at: Node, default: timedelta) -> timedelta:
    place = next((found for key in format.timeout_keys if (found := at.get(key)) is not None), None)
    unit, word = format.timeout_unit, "milliseconds" if format.timeout_unit == MILLISECOND else "seconds"
    if format.timeout_unit == MILLISECOND or (place is not None and str(place.path[-1]).endswith("_ms")):
        unit, word = MILLISECOND, "milliseconds"
    hint = f"{format.title} counts {word}; write {timedelta(minutes=1) // unit} for a minute."
    number = None if place is None else place.number(least=0, hint=hint)
    if place is None or not number:  # 0 is the default
        return default
    limit = format.reads_milliseconds_from
    if limit is not None and number >= limit and unit == SECOND:
        unit = MILLISECOND
    if number * unit.total_seconds() > MAX_TIMEOUT_SECONDS:
        what = f"{place.location}: {format_value(number)} {word} are more than a day; a day is the limit here."
        place.add_problem("out-of-range", what, hint, severity=Severity.WARNING)
        return _MAX_TIMEOUT
    return max(number * unit, MILLISECOND)


def parse_action(format: AgentFormat, at: Node, event_name: str, type_: str, timeout: timedelta) -> Action | None:
    """None after a problem."""
    return _PARSERS[format.handlers[type_].read_as or type_](format, at, event_name, timeout)


def _parse_command(format: AgentFormat, at: Node, event_name: str, timeout: timedelta) -> Action | None:
    key = next((each for each in format.command_keys if at.value.get(each) is not None), format.command_keys[0])
    command = _require_text(at, key)
    if command is None:
        return None
    if format.expand_command is not None:
        command = format.expand_command(command, at.document.file)
    program = CommandTemplate(
        literal_shell_template(command),
        stdin=format.stdin_template(event_name),
        env=(*format.environment_templates(event_name), *_parse_environment(format, at)),
        cwd=_parse_directory(format, at, event_name),
    )
    is_program, takes_args = key == format.program_key, "args" in _command_keys(format)
    if format.program_key and not is_program:
        _warn_unread_program(format, at, key)
    args = at.get("args") if takes_args and (is_program or not format.program_key) else None
    if args is not None or is_program:
        places = () if args is None else args.items()
        texts = [text for place in places if (text := place.text(empty=True)) is not None]
        program = CommandTemplate(
            argv=tuple(_constant(format, text) for text in (command, *texts)),
            stdin=program.stdin,
            env=program.env,
            cwd=program.cwd,
        )
    holds = format.events[event_name] == "tool.before"
    return RunProgram(program, format.result_parser(event_name), timeout, hold_if_broken=holds)


def _warn_unread_program(format: AgentFormat, at: Node, key: str) -> None:
    for name in (format.program_key, "args"):
        place = at.get(name)
        if place is not None:
            what = f"{place.location} is not read, because {key} is given."
            place.add_problem("not-read", what, f"Remove {name} or {key}.", at_key=True, severity=Severity.WARNING)


def _command_keys(format: AgentFormat) -> tuple[str, ...]:
    return next(each.keys for type_, each in format.handlers.items() if "command" in (type_, each.read_as))


def _parse_environment(format: AgentFormat, at: Node) -> tuple[tuple[str, Template | None], ...]:
    place = at.get("env") if "env" in _command_keys(format) else None
    if place is None:
        return ()
    given = [(name, value.text(empty=True)) for name, value in place.entries()]
    return tuple((name, _constant(format, text)) for name, text in given if text is not None)


def _parse_directory(format: AgentFormat, at: Node, event_name: str) -> Template | None:
    """Relative to the project."""
    keys = [key for key in _DIRECTORY_KEYS if key in _command_keys(format)]
    place = next((found for key in keys if (found := at.get(key)) is not None), None)
    text = None if place is None else place.text(empty=True)
    if not text:
        return _default_directory(format, at.document.file, event_name)
    expanded = escape_braces(os.path.expanduser(text))
    source = expanded if PurePath(expanded).is_absolute() else f"{{{{workspace}}}}/{expanded}"
    return parse_template(source, format.placeholders(event_name))


def _default_directory(format: AgentFormat, file: str, event_name: str) -> Template | None:
    """The project's directory; for a user's own file, the one that it is in: no project may choose its programs."""
    if not format.runs_in_project:
        return None
    directory = os.path.dirname(os.path.abspath(os.path.expanduser(file)))
    if directory in _user_directories(format):
        return _constant(format, directory)
    return parse_template(_WORKSPACE, format.placeholders(event_name))


def _user_directories(format: AgentFormat) -> list[str]:
    """Those of the user's own files."""
    places = [place.pattern for place in CONFIG_LOCATIONS[format.name] if place.user]
    return [os.path.expanduser(f"~/{os.path.dirname(place)}") for place in places]


def is_default_directory(format: AgentFormat, directory: Template) -> bool:
    """Whether a command runs there if its file, in the place that it belongs to, names no directory."""
    known = (_WORKSPACE, *map(escape_braces, _user_directories(format)))
    return format.runs_in_project and directory.source in known


def _constant(format: AgentFormat, text: str) -> Template:
    return parse_template(escape_braces(text), PlaceholderResolver(format.vocabulary))


def _parse_http(format: AgentFormat, at: Node, event_name: str, timeout: timedelta) -> Action | None:
    url, headers, allowed = _require_text(at, "url"), at.get("headers"), at.get("allowedEnvVars")
    if url is not None and not URL_PATTERN.fullmatch(url):
        what = f"{at.location}.url: this is not an http or https URL."
        at.add_problem("bad-url", what, "Write http://… or https://….")
    given = [(name, place.text(empty=True)) for name, place in headers.entries()] if headers is not None else []
    names = () if allowed is None else tuple(place.text() for place in allowed.items())
    if url is None:
        return None
    return PostEvent(
        url,
        format.stdin_template(event_name),
        format.result_parser(event_name),
        timeout,
        tuple((name, text or "") for name, text in given),
        tuple(name for name in names if name),
    )


def _parse_mcp_tool(format: AgentFormat, at: Node, event_name: str, timeout: timedelta) -> Action | None:
    server, tool, given = _require_text(at, "server"), _require_text(at, "tool"), at.get("input")
    if given is not None and given.mapping() is None:
        return None
    if server is None or tool is None:
        return None
    input = {} if given is None else given.value
    return CallTool(f"mcp__{server}__{tool}", DataTemplate(input), result_parser=format.result_parser(event_name))


def _parse_prompt(format: AgentFormat, at: Node, event_name: str, timeout: timedelta) -> Action | None:
    prompt = _require_text(at, "prompt")
    return None if prompt is None else AskModel(prompt, format.stdin_template(event_name))


def _parse_agent(format: AgentFormat, at: Node, event_name: str, timeout: timedelta) -> Action | None:
    """A text for the agent."""
    prompt = _require_text(at, "prompt")
    return None if prompt is None else FixedAnswer(Outcome(notes=(Note(prompt, Audience.AGENT),)))


def _require_text(at: Node, key: str) -> str | None:
    place = at.require(key, f"Write {key} and its text.")
    return None if place is None else place.text()


_PARSERS: Final[dict[str, Callable[[AgentFormat, Node, str, timedelta], Action | None]]] = {
    "command": _parse_command,
    "http": _parse_http,
    "mcp_tool": _parse_mcp_tool,
    "prompt": _parse_prompt,
    "agent": _parse_agent,
}
