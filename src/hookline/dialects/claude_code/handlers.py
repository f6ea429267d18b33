"""One handler of a group: a command, a URL, a tool of an MCP server, a prompt for the model."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

from hookline.config.problem import Problem, Severity
from hookline.config.shape import Reader
from hookline.dialects.claude_code.words import (
    BLOCK,
    CONTINUE,
    HANDLER_KEYS,
    LONGEST,
    POWERSHELL,
    READING,
    SHELLS,
    SHORTEST,
    TONGUE,
    as_it_is,
    body_reading,
    environment,
    is_plugin,
    plugin_root,
    stdin,
    told,
    usual_timeout,
)
from hookline.dialects.settings import as_written
from hookline.hooks.action import Action
from hookline.hooks.actions.broken import Broken
from hookline.hooks.actions.call import Call
from hookline.hooks.actions.http import URL, PostEvent
from hookline.hooks.actions.judge import Judge
from hookline.hooks.actions.program import Program, Run
from hookline.hooks.facts import Names
from hookline.hooks.filled import Filled
from hookline.hooks.outcome import FailureKind
from hookline.hooks.template import Template, template

PLACEHOLDER: Final = re.compile(r"\$\{([\w.]+)\}")
_BAD_TEMPLATE: Final = "bad-template"
_PLAIN: Final = re.compile(r"\{\{([\w.]+)[^}]*\}\}")


def handler(at: Reader, named: str) -> tuple[Action, timedelta] | None:
    """The action, and how long it may take; None after a problem."""
    type_ = _type(at)
    if type_ is None:
        return None
    at.keys(HANDLER_KEYS[type_], f"a hook of type {type_}")
    before = len(at.problems)
    timeout, status = _timeout(at, usual_timeout(named, type_)), at.get("statusMessage")
    if status is not None:
        status.text(empty=True)
    failure = at.get("onFailure")
    if failure is not None:
        failure.one_of((CONTINUE, BLOCK))
    made = _MAKERS[type_](at, named, timeout)
    return None if made is None or disabling(at.problems[before:]) else (made, timeout)


def disabling(problems: list[Problem]) -> bool:
    """Whether there is an error in them that leaves no hook; with a name that it is not told it fails."""
    return any(each.severity is Severity.ERROR and each.code != _BAD_TEMPLATE for each in problems)


def _type(at: Reader) -> str | None:
    type_ = at.get("type")
    if type_ is None:
        at.problem("missing-key", f"{at.place}: type is missing.", 'Write "type": "command".')
        return None
    return type_.one_of(HANDLER_KEYS)


def _timeout(at: Reader, usual: timedelta) -> timedelta:
    timeout = at.get("timeout")
    hint = "Claude Code counts seconds; write 60 for a minute."
    number = None if timeout is None else timeout.number(least=SHORTEST, most=LONGEST, hint=hint)
    return usual if number is None else timedelta(seconds=number)


def _needed(at: Reader, key: str) -> str | None:
    place = at.get(key)
    if place is None:
        at.problem("missing-key", f"{at.place}: {key} is missing.", f"Write {key} and its text.")
        return None
    return place.text()


def _command(at: Reader, named: str, timeout: timedelta) -> Action | None:
    command, args, shell = _needed(at, "command"), at.get("args"), at.get("shell")
    spoken = "bash" if shell is None else shell.one_of(SHELLS)
    for key in ("async", "asyncRewake"):
        if (flag := at.get(key)) is not None:
            flag.flag()
    if command is None or spoken is None:
        return None
    file = at.document.file
    argv: tuple[Template, ...] = ()
    if args is not None:
        argv = tuple(_exec_text(text, file) for text in (command, *_args(args)))
    elif spoken == "powershell":
        argv = tuple(template(as_it_is(text), Names(TONGUE)) for text in (*POWERSHELL, command))
    program = Program(None if argv else as_written(command), argv, stdin(named), environment(file))
    return Run(program, READING, timeout)


def _args(at: Reader) -> list[str]:
    return [text for place in at.items() if (text := place.text(empty=True)) is not None]


def _exec_text(text: str, file: str) -> Template:
    """No shell stands between, so the variables that a path may begin with are filled in here."""
    root = as_it_is(plugin_root(file)) if is_plugin(file) else ""
    said = as_it_is(text).replace("${CLAUDE_PROJECT_DIR}", "{{workspace}}")
    return template(said.replace("${CLAUDE_PLUGIN_ROOT}", root), Names(TONGUE))


def _http(at: Reader, named: str, timeout: timedelta) -> Action | None:
    url, headers, allowed = _needed(at, "url"), at.get("headers"), at.get("allowedEnvVars")
    if url is not None and not URL.fullmatch(url):
        at.problem("bad-url", f"{at.place}.url: this is no URL to post to.", "Write http://… or https://….")
    given = [(name, place.text(empty=True)) for name, place in headers.entries()] if headers is not None else []
    names = () if allowed is None else tuple(place.text() for place in allowed.items())
    if url is None:
        return None
    return PostEvent(
        url,
        stdin(named),
        body_reading(named, blocks=at.value.get("onFailure") == BLOCK),
        timeout,
        tuple((name, text or "") for name, text in given),
        tuple(name for name in names if name),
    )


def _mcp_tool(at: Reader, named: str, timeout: timedelta) -> Action | None:
    server, tool, given = _needed(at, "server"), _needed(at, "tool"), at.get("input")
    if given is not None and given.mapping() is None:
        return None
    before = len(at.problems)
    input = {} if given is None else {key: _interpolated(place, named) for key, place in given.entries()}
    if server is None or tool is None:
        return None
    if len(at.problems) > before:
        return Broken(f"cannot do what it says: {at.problems[before].what.removesuffix('.')}")
    return Call(f"mcp__{server}__{tool}", Filled(input), reading=READING)


def _interpolated(at: Reader, named: str) -> Any:
    """`${tool_input.file_path}` stands for what a hook is told by that name."""
    if isinstance(at.value, dict):
        return {key: _interpolated(place, named) for key, place in at.entries()}
    if isinstance(at.value, list):
        return [_interpolated(place, named) for place in at.items()]
    if not isinstance(at.value, str) or not PLACEHOLDER.search(at.value):
        return at.value
    known, unknown = facts_of(named), []

    def filled(found: re.Match[str]) -> str:
        key, dot, rest = found[1].partition(".")
        if key not in known:
            unknown.append(found[0])
            return ""
        return f"{{{{{known[key]}{dot}{rest}}}}}"

    text = PLACEHOLDER.sub(filled, as_it_is(at.value))
    if unknown:
        what = f"{at.place}: {unknown[0]} is nothing that a hook of {named} is told."
        at.problem(_BAD_TEMPLATE, what, f"Known: {', '.join(known)}.")
        return at.value
    return template(text, Names(TONGUE))


def facts_of(named: str) -> dict[str, str]:
    """Each key of what a hook is told → the fact that it is."""
    found = {key: _PLAIN.fullmatch(text) for key, text in told(named).items()}
    return {key: match[1] for key, match in found.items() if match is not None}


def _prompt(at: Reader, named: str, timeout: timedelta) -> Action | None:
    prompt = _prompt_text(at)
    if (flag := at.get("continueOnBlock")) is not None:
        flag.flag()
    return None if prompt is None else Judge(prompt, stdin(named))


def _agent(at: Reader, named: str, timeout: timedelta) -> Action | None:
    """It would have to use tools of its own, for which there is nobody here."""
    if _prompt_text(at) is None:
        return None
    what = f"{at.place}: a hook of type agent runs in Claude Code alone; here it fails, and the user is told."
    at.problem("not-here", what, "Write a command, or type prompt.", severity=Severity.WARNING)
    return Broken("needs an agent of its own, and there is none here", kind=FailureKind.UNAVAILABLE)


def _prompt_text(at: Reader) -> str | None:
    if (model := at.get("model")) is not None:
        model.text()
    return _needed(at, "prompt")


_MAKERS: Final[dict[str, Callable[[Reader, str, timedelta], Action | None]]] = {
    "command": _command,
    "http": _http,
    "mcp_tool": _mcp_tool,
    "prompt": _prompt,
    "agent": _agent,
}
