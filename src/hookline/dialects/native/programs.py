"""`run:` — the whole contract of a program."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from hookline.config.shape import Reader
from hookline.dialects.native.texts import filled, filled_text, shell_of, text_of
from hookline.hooks.action import Action, May
from hookline.hooks.actions.http import URL, PostEvent
from hookline.hooks.actions.program import Program, Run
from hookline.hooks.actions.reading import REASON, Reading, Reads
from hookline.hooks.events import EVENTS
from hookline.hooks.facts import Names
from hookline.hooks.filled import Filled
from hookline.hooks.outcome import Audience
from hookline.hooks.template import ShellTemplate, Template, template
from hookline.hooks.tools import Tongue

PROGRAM_KEYS: Final = ("tell", "stdin", "env", "inherit_env", "cwd", "reads", "reason", "only_if")
POST_KEYS: Final = ("tell", "body", "headers", "variables", "reads", "reason")
ONLY_IF_TIMEOUT: Final = timedelta(seconds=1)


def run(at: Reader, value: Reader, event: str, tongue: Tongue, timeout: timedelta) -> Action | None:
    before = len(at.problems)
    program = _program(at, value, tongue)
    reading = reading_of(at, default_reads(event))
    only_if = at.get("only_if")
    asked = None if only_if is None or program is None else _like(program, only_if, tongue)
    if program is None or reading is None or len(at.problems) > before:
        return None
    return Run(program, reading, timeout, asked, ONLY_IF_TIMEOUT)


def default_reads(event: str) -> Reads:
    """Before something happens a non-zero exit denies it; afterwards the exit code says nothing."""
    return Reads.NONZERO if EVENTS[event].accepts & May.DENY else Reads.NEVER


def post(at: Reader, value: Reader, event: str, tongue: Tongue, timeout: timedelta) -> Action | None:
    before = len(at.problems)
    url, body, reading = value.text(), at.get("body"), reading_of(at, Reads.JSON)
    if url is not None and not URL.fullmatch(url):
        value.problem("bad-url", f"{value.place}: this is no URL to post to.", "Write http://… or https://….")
    given = _stdin(body, tongue)
    headers, variables = at.get("headers"), at.get("variables")
    named = [(name, place.text(empty=True)) for name, place in headers.entries()] if headers is not None else []
    allowed = () if variables is None else variables.texts() or ()
    if url is None or given is None or reading is None or len(at.problems) > before:
        return None
    return PostEvent(url, given, reading, timeout, tuple((name, text or "") for name, text in named), allowed)


def reading_of(at: Reader, usual: Reads, *, telling: bool = True) -> Reading | None:
    """`telling`: the key `tell` says whom stdout is for."""
    reads, tell, reason = at.get("reads"), at.get("tell") if telling else None, at.get("reason")
    how = usual if reads is None else reads.one_of([str(each) for each in Reads])
    to = None if tell is None else tell.one_of([str(each) for each in Audience])
    words = REASON if reason is None else reason.text()
    if how is None or words is None or (tell is not None and to is None):
        return None
    return Reading(Reads(how), None if to is None else Audience(to), words)


def _program(at: Reader, value: Reader, tongue: Tongue) -> Program | None:
    shell, argv = _told(value, tongue)
    stdin, cwd = at.get("stdin"), at.get("cwd")
    given = _stdin(stdin, tongue)
    place = None if cwd is None else text_of(cwd, tongue)
    if (shell is None and argv is None) or given is None:
        return None
    handed = given if given.value is not None else None
    return Program(shell, argv or (), handed, _env(at, tongue), _inherited(at), place)


def _told(value: Reader, tongue: Tongue) -> tuple[ShellTemplate | None, tuple[Template, ...] | None]:
    """Shell text, or an argv; `{literal: text}` is shell text in which nothing is a placeholder."""
    if isinstance(value.value, list):
        return None, _argv(value, tongue)
    if not isinstance(value.value, dict):
        return shell_of(value, tongue), None
    value.keys(("literal",), "a command")
    literal = value.get("literal")
    text = None if literal is None else literal.text()
    if literal is None:
        value.problem("missing-key", f"{value.place}: literal is missing.", "Write {literal: the command}.")
    return (None if text is None else ShellTemplate(text, (), (text,))), None


def _argv(value: Reader, tongue: Tongue) -> tuple[Template, ...] | None:
    parts = [text_of(place, tongue, empty=True) for place in value.items()]
    found = tuple(part for part in parts if part is not None)
    if not parts:
        value.problem("empty", f"{value.place}: a program's name is missing.", "Write [program, argument, …].")
        return None
    return found if len(found) == len(parts) else None


def _stdin(at: Reader | None, tongue: Tongue) -> Filled | None:
    """Absent or `event`: the whole event as JSON; `none`: nothing; else the JSON of what is written there."""
    if at is None or at.value == "event":
        return Filled(template("{{event}}", Names(tongue)))
    if at.value == "none":
        return Filled(None)
    return filled(at, tongue)


def _env(at: Reader, tongue: Tongue) -> tuple[tuple[str, Template | None], ...]:
    """A variable that is null is not set, even where our own environment has it."""
    env = at.get("env")
    if env is None:
        return ()
    return tuple((name, _env_text(place, tongue)) for name, place in env.entries())


def _env_text(at: Reader, tongue: Tongue) -> Template | None:
    if at.value is None:
        return None
    if isinstance(at.value, (int, float)) and not isinstance(at.value, bool):
        return filled_text(at, str(at.value), tongue)
    return text_of(at, tongue, empty=True)


def _inherited(at: Reader) -> bool | tuple[str, ...]:
    inherit = at.get("inherit_env")
    if inherit is None:
        return True
    if isinstance(inherit.value, bool):
        return inherit.value
    return inherit.texts() or ()


def _like(program: Program, at: Reader, tongue: Tongue) -> Program | None:
    """The program of `only_if` gets what the hook's own program gets."""
    shell, argv = _told(at, tongue)
    if shell is None and argv is None:
        return None
    return Program(shell, argv or (), program.stdin, program.env, program.inherit_env, program.cwd)
