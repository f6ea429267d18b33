"""`run:` — the whole contract of a program.

`diagnose:` and `custom:` — what a language server or somebody else's function does.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from hookline.config.node import Node
from hookline.dialects import custom
from hookline.dialects.native.keys import compile_template, read_data_template, read_shell_template, read_template
from hookline.extensions import Registration, Registry
from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.actions.post import URL_PATTERN, PostEvent
from hookline.hooks.actions.program_result import DEFAULT_REASON, ResultFormat, ResultParser
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.conditions.logic import all_of
from hookline.hooks.events import EVENTS
from hookline.hooks.outcome import Audience
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import Action, Condition, May
from hookline.hooks.templates import DataTemplate, ShellTemplate, Template, parse_template
from hookline.hooks.tools import Vocabulary

DIAGNOSE_KEYS: Final = ("path", "content", "publish", "inject", "read_from_disk")


def parse_diagnose(at: Node, value: Node, doing: object) -> Action | None:
    usual = Diagnose()
    if value.value is True:
        return usual
    before = len(at.problems)
    value.check_keys(DIAGNOSE_KEYS, "diagnose")
    fields = {key: place.texts() for key in ("path", "content") if (place := value.get(key)) is not None}
    flags = {key: place.flag() for key in DIAGNOSE_KEYS[2:] if (place := value.get(key)) is not None}
    if len(at.problems) > before:
        return None
    return Diagnose(
        fields.get("path", usual.path_fields) or (),
        fields.get("content", usual.content_fields) or (),
        flags.get("publish") is not False,
        flags.get("inject") is not False,
        flags.get("read_from_disk") is not False,
    )


def write_diagnose(action: Diagnose) -> Any:
    if action == Diagnose():
        return True
    return {
        "path": list(action.path_fields),
        "content": list(action.content_fields),
        "publish": action.publish,
        "inject": action.inject,
        "read_from_disk": action.read_from_disk,
    }


def parse_custom_action(at: Node, value: Node, doing: object) -> Action | None:
    if value.mapping() is None:
        return None
    if len(value.value) != 1:
        value.add_problem("no-action", f"{value.location}: one action is expected here.", "Write custom: {name: {…}}.")
        return None
    [(name, place)] = value.entries()
    params = _parse_params(place)
    entry = _find_entry(custom.ACTION_REGISTRY, name, place)
    return None if entry is None or params is None else custom.build_registered_action(entry, place, params)


def parse_custom_conditions(at: Node, asked: object) -> Condition | None:
    """All that are named must hold."""
    if at.mapping() is None:
        return None
    parts = [_parse_custom_condition(name, place) for name, place in at.entries()]
    found = [part for part in parts if part is not None]
    return all_of(found) if len(found) == len(parts) else None


def _parse_custom_condition(name: str, at: Node) -> Condition | None:
    params = _parse_params(at)
    entry = _find_entry(custom.CONDITION_REGISTRY, name, at)
    return None if entry is None or params is None else custom.build_registered_condition(entry, at, params)


def _parse_params(at: Node) -> dict[str, Any] | None:
    return {} if at.value is None else at.mapping()


def _find_entry(register: Registry, name: str, at: Node) -> Registration | None:
    before = len(at.problems)
    entry = custom.find_registered(register, name, at)
    if entry is None and len(at.problems) == before:
        custom.report_unknown_name(register, name, at)
    return entry


PROGRAM_KEYS: Final = ("tell", "stdin", "env", "inherit_env", "cwd", "reads", "reason", "only_if")
POST_KEYS: Final = ("tell", "body", "headers", "variables", "reads", "reason")
ONLY_IF_TIMEOUT: Final = timedelta(seconds=1)


def parse_run(at: Node, value: Node, event: str, vocabulary: Vocabulary, timeout: timedelta) -> Action | None:
    before = len(at.problems)
    program = _parse_program(at, value, vocabulary)
    reading = parse_result_keys(at, default_result_format(event))
    only_if = at.get("only_if")
    asked = None if only_if is None or program is None else _parse_only_if(program, only_if, vocabulary)
    if program is None or reading is None or len(at.problems) > before:
        return None
    return RunProgram(program, reading, timeout, asked, ONLY_IF_TIMEOUT)


def default_result_format(event: str) -> ResultFormat:
    """Before something happens a non-zero exit denies it; afterwards the exit code says nothing."""
    return ResultFormat.NONZERO if EVENTS[event].accepts & May.DENY else ResultFormat.NEVER


def parse_post(at: Node, value: Node, event: str, vocabulary: Vocabulary, timeout: timedelta) -> Action | None:
    before = len(at.problems)
    url, body, reading = value.text(), at.get("body"), parse_result_keys(at, ResultFormat.JSON)
    if url is not None and not URL_PATTERN.fullmatch(url):
        value.add_problem("bad-url", f"{value.location}: this is no URL to post to.", "Write http://… or https://….")
    given = _parse_stdin(body, vocabulary)
    headers, variables = at.get("headers"), at.get("variables")
    named = [(name, place.text(empty=True)) for name, place in headers.entries()] if headers is not None else []
    allowed = () if variables is None else variables.texts() or ()
    if url is None or given is None or reading is None or len(at.problems) > before:
        return None
    return PostEvent(url, given, reading, timeout, tuple((name, text or "") for name, text in named), allowed)


def parse_result_keys(at: Node, usual: ResultFormat, *, telling: bool = True) -> ResultParser | None:
    """`telling`: the key `tell` says whom stdout is for."""
    reads, tell, reason = at.get("reads"), at.get("tell") if telling else None, at.get("reason")
    how = usual if reads is None else reads.one_of([str(each) for each in ResultFormat])
    to = None if tell is None else tell.one_of([str(each) for each in Audience])
    words = DEFAULT_REASON if reason is None else reason.text()
    if how is None or words is None or (tell is not None and to is None):
        return None
    return ResultParser(ResultFormat(how), None if to is None else Audience(to), words)


def _parse_program(at: Node, value: Node, vocabulary: Vocabulary) -> CommandTemplate | None:
    shell, argv = _parse_command(value, vocabulary)
    stdin, cwd = at.get("stdin"), at.get("cwd")
    given = _parse_stdin(stdin, vocabulary)
    place = None if cwd is None else read_template(cwd, vocabulary)
    if (shell is None and argv is None) or given is None:
        return None
    handed = given if given.value is not None else None
    return CommandTemplate(shell, argv or (), handed, _parse_env(at, vocabulary), _parse_inherit_env(at), place)


def _parse_command(value: Node, vocabulary: Vocabulary) -> tuple[ShellTemplate | None, tuple[Template, ...] | None]:
    """Shell text, or an argv; `{literal: text}` is shell text in which nothing is a placeholder."""
    if isinstance(value.value, list):
        return None, _parse_argv(value, vocabulary)
    if not isinstance(value.value, dict):
        return read_shell_template(value, vocabulary), None
    value.check_keys(("literal",), "a command")
    literal = value.get("literal")
    text = None if literal is None else literal.text()
    if literal is None:
        value.add_problem("missing-key", f"{value.location}: literal is missing.", "Write {literal: the command}.")
    return (None if text is None else ShellTemplate(text, (), (text,))), None


def _parse_argv(value: Node, vocabulary: Vocabulary) -> tuple[Template, ...] | None:
    parts = [read_template(place, vocabulary, empty=True) for place in value.items()]
    found = tuple(part for part in parts if part is not None)
    if not parts:
        value.add_problem("empty", f"{value.location}: a program's name is missing.", "Write [program, argument, …].")
        return None
    return found if len(found) == len(parts) else None


def _parse_stdin(at: Node | None, vocabulary: Vocabulary) -> DataTemplate | None:
    """Absent or `event`: the whole event as JSON; `none`: nothing; else the JSON of what is written there."""
    if at is None or at.value == "event":
        return DataTemplate(parse_template("{{event}}", PlaceholderResolver(vocabulary)))
    if at.value == "none":
        return DataTemplate(None)
    return read_data_template(at, vocabulary)


def _parse_env(at: Node, vocabulary: Vocabulary) -> tuple[tuple[str, Template | None], ...]:
    """A variable that is null is not set, even where our own environment has it."""
    env = at.get("env")
    if env is None:
        return ()
    return tuple((name, _parse_env_value(place, vocabulary)) for name, place in env.entries())


def _parse_env_value(at: Node, vocabulary: Vocabulary) -> Template | None:
    if at.value is None:
        return None
    if isinstance(at.value, (int, float)) and not isinstance(at.value, bool):
        return compile_template(at, str(at.value), vocabulary)
    return read_template(at, vocabulary, empty=True)


def _parse_inherit_env(at: Node) -> bool | tuple[str, ...]:
    inherit = at.get("inherit_env")
    if inherit is None:
        return True
    if isinstance(inherit.value, bool):
        return inherit.value
    return inherit.texts() or ()


def _parse_only_if(program: CommandTemplate, at: Node, vocabulary: Vocabulary) -> CommandTemplate | None:
    """The program of `only_if` gets what the hook's own program gets."""
    shell, argv = _parse_command(at, vocabulary)
    if shell is None and argv is None:
        return None
    return CommandTemplate(shell, argv or (), program.stdin, program.env, program.inherit_env, program.cwd)
