"""`handler`: a program, a URL, or a question for a model."""

from __future__ import annotations

import os.path
import shlex
import sys
from collections.abc import Callable
from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

from hookline.config.node import Node
from hookline.dialects.hook_interchange.names import (
    DEFAULT_TIMEOUT,
    HANDLER_KEYS,
    PLATFORMS,
    TIMEOUT_ACTIONS,
    VOCABULARY,
    can_block,
    result_parser,
    stdin_of,
)
from hookline.dialects.settings_json import MAX_TIMEOUT_SECONDS
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.post import URL_PATTERN, PostEvent
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import Action
from hookline.hooks.templates import ShellTemplate, Template, escape_braces, parse_template
from hookline.lazy_imports import lazy_pattern

_SCRIPT: Final = lazy_pattern(r"(?:\.{1,2}/|[\w.+@-]+/)[\w.+@/-]*(?=\s|\Z)")
"""A relative path as the first word of a command: a script in the manifest's directory."""
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")


def parse_handler(at: Node, event_name: str, blocking: bool) -> Action | None:
    """None after a problem."""
    if at.mapping() is None:
        return None
    place = at.require("type", 'Write "type": "command".')
    type_ = None if place is None else place.one_of(tuple(HANDLER_KEYS))
    if type_ is None:
        return None
    comments = [key for key in at.value if key.startswith("_")]
    known = (*HANDLER_KEYS[type_], *comments)
    at.warn_unknown_keys(known, f"a handler of type {type_}", essential=("timeout_action",))
    timeout, timeout_blocks = _parse_timeout(at), _parse_timeout_action(at)
    if (status := at.get("status_message")) is not None:
        status.text(empty=True)
    if type_ == "command":
        return _parse_command(at, event_name, blocking, timeout, timeout_blocks)
    return _PARSERS[type_](at, event_name, blocking, timeout)


def _parse_timeout(at: Node) -> timedelta:
    """Absent or 0 means the default."""
    place = at.get("timeout")
    hint = "The format counts seconds; write 60 for a minute."
    number = None if place is None else place.number(least=0, most=MAX_TIMEOUT_SECONDS, hint=hint)
    return timedelta(seconds=number) if number else DEFAULT_TIMEOUT


def _parse_timeout_action(at: Node) -> bool:
    place = at.get("timeout_action")
    return place is not None and place.one_of(TIMEOUT_ACTIONS) == "block"


def _parse_command(
    at: Node, event_name: str, blocking: bool, timeout: timedelta, timeout_blocks: bool
) -> Action | None:
    place = at.require("command", "Write command and a shell command or the path of a script.")
    command = None if place is None else place.text()
    override = _parse_platform(at)
    if (flag := at.get("async")) is not None:
        flag.flag()
    env, cwd = _parse_env(at), at.get("cwd")
    directory = None if cwd is None else cwd.text()
    if command is None:
        return None
    program = CommandTemplate(
        shell_template(override or command, at.document.file, at.document.directory),
        stdin=stdin_of(event_name),
        env=env,
        cwd=None if directory is None else _working_directory(directory),
    )
    return RunProgram(
        program,
        result_parser(blocking),
        timeout,
        hold_if_broken=blocking and can_block(event_name),
        timeout_blocks=blocking and timeout_blocks,
    )


def _parse_platform(at: Node) -> str | None:
    """The command for this operating system, if there is one of its own."""
    place = at.get("platform")
    if place is None or place.mapping() is None:
        return None
    place.warn_unknown_keys(PLATFORMS, "platform")
    commands = {name: each.text() for name, each in place.entries() if name in PLATFORMS}
    return commands.get({"win32": "windows"}.get(sys.platform, sys.platform))


def _parse_env(at: Node) -> tuple[tuple[str, Template | None], ...]:
    place = at.get("env")
    if place is None or place.mapping() is None:
        return ()
    given = [(name, each.text(empty=True)) for name, each in place.entries()]
    return tuple((name, _literal(text)) for name, text in given if text is not None)


def _literal(text: str) -> Template:
    return parse_template(escape_braces(text), PlaceholderResolver(VOCABULARY))


def _working_directory(directory: str) -> Template:
    """Relative to the project."""
    if os.path.isabs(directory):
        return _literal(directory)
    path = os.path.normpath(directory)
    source = "{{workspace}}" if path == "." else "{{workspace}}/" + escape_braces(path)
    return parse_template(source, PlaceholderResolver(VOCABULARY))


def shell_template(command: str, file: str = "", directory: str = "") -> ShellTemplate:
    """A script is in the manifest's directory, wherever the program runs. `source` says so from where the file is seen."""
    found = _SCRIPT.match(command)
    if found is None:
        return ShellTemplate(command, (), (command,))
    script, rest = found[0], command[found.end() :]
    shown = os.path.join(os.path.dirname(file), script) if os.path.dirname(file) else script
    run = os.path.normpath(os.path.join(directory, script)) if directory else shown
    quoted = shown if shown == script else shlex.quote(os.path.normpath(shown))
    return ShellTemplate(quoted + rest, (), (shlex.quote(run) + rest,))


def _parse_http(at: Node, event_name: str, blocking: bool, timeout: timedelta) -> Action | None:
    place, headers = at.require("url", "Write url and an https URL."), at.get("headers")
    url = None if place is None else place.text()
    given = () if headers is None else tuple((name, each.text(empty=True) or "") for name, each in headers.entries())
    if place is None or url is None:
        return None
    if not URL_PATTERN.fullmatch(url) or not _is_safe(url):
        what = f"{place.location}: the format posts to https only, and to http on this machine."
        place.add_problem("bad-url", what, "Write https://….")
        return None
    return PostEvent(url, stdin_of(event_name), result_parser(blocking), timeout, given)


def _is_safe(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or parts.hostname in _LOOPBACK


def _parse_prompt(at: Node, event_name: str, blocking: bool, timeout: timedelta) -> Action | None:
    prompt = _parse_prompt_text(at)
    return None if prompt is None else AskModel(prompt, stdin_of(event_name))


def _parse_agent(at: Node, event_name: str, blocking: bool, timeout: timedelta) -> Action | None:
    prompt = _parse_prompt_text(at)
    return None if prompt is None else AskModel(prompt, stdin_of(event_name), investigates=True)


def _parse_prompt_text(at: Node) -> str | None:
    place = at.require("prompt", "Write prompt and the question.")
    return None if place is None else place.text()


_PARSERS: Final[dict[str, Callable[[Node, str, bool, timedelta], Action | None]]] = {
    "http": _parse_http,
    "prompt": _parse_prompt,
    "agent": _parse_agent,
}
