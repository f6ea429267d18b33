"""Reads the `hooks` of `.microai/settings.json`: shell commands with a matcher and environment variables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import chain
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.dialects.dialect import LoadResult, WriteResult, has_errors
from hookline.dialects.json_schema import describe, optional_keys
from hookline.dialects.microai.matcher import MATCHER_PATTERN, VOCABULARY, BadMatcher, parse_matcher
from hookline.dialects.microai.wording import VARIABLES, WORDING
from hookline.dialects.settings_json import (
    EventEntry,
    hook_id,
    is_settings_file,
    literal_shell_template,
    load_hooks,
    parse_entries,
    recognise_entries,
    settings_schema,
    warn_ignored_matcher,
    warn_placeholders,
)
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.conditions.logic import ALWAYS
from hookline.hooks.events import event_name_in, events_by_name
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.outcome import SILENT, Audience, Outcome, Verdict
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import Condition, May
from hookline.hooks.templates import DataTemplate, Template, parse_template
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import lazy_pattern

NAME: Final = "microai"
EVENTS: Final = events_by_name(NAME)
TOOL_EVENTS: Final = ("tool.before", "tool.after")
ENTRY_KEYS: Final = ("matcher", "command", "timeout", "continueOnFailure", "condition")
_OWN_EVENTS: Final = {"SessionStart", "SessionEnd"}
_OWN_KEYS: Final = {"continueOnFailure", "condition"}  # no other dialect with this shape has them
DEFAULT_TIMEOUT: Final = timedelta(milliseconds=5000)
CONDITION_TIMEOUT: Final = timedelta(milliseconds=1000)
MAX_TIMEOUT_MILLISECONDS: Final = 86_400_000  # one day

_SESSION_VARIABLES: Final = ("SESSION_ID", "TIMESTAMP", "PROJECT_ROOT", "PLATFORM", "AGENT_NAME")
VARIABLES_BY_EVENT: Final = {
    "tool.before": ("TOOL_NAME", "INPUT", "TIMESTAMP", "SESSION_ID"),
    "tool.after": ("TOOL_NAME", "INPUT", "OUTPUT", "TIMESTAMP", "SESSION_ID"),
    "prompt.submit": ("PROMPT", "TIMESTAMP", "SESSION_ID", "USER_NAME"),
    "session.start": _SESSION_VARIABLES,
    "session.end": _SESSION_VARIABLES,
}
_NAMES: Final = "|".join(VARIABLES)
_VARIABLE: Final = lazy_pattern(rf"(?<!\\)\$\{{?({_NAMES})\b(?!:?[-+=?])")
"""One that is read; ${OUTPUT:-} knows that it may be unset."""
_ASSIGNMENT: Final = lazy_pattern(rf"\b(?:({_NAMES})=|(?:read|for)\s[^;&|\n$]*?\b({_NAMES})\b)")
CONTEXT_EVENTS: Final = ("session.start", "prompt.submit")
"""On these events stdout is context for the agent."""

BLOCKING_RESULT_PARSER: Final = ResultParser(ResultFormat.NONZERO, reason="Hook blocked: {output}")
BLOCK_OUTCOME: Final = Outcome(Verdict.DENY, "Hook blocked: {failure}")
END_GROUP_OUTCOME: Final = Outcome(final=True)


class MicroaiDialect:
    name = NAME
    has_app_keys = False

    def recognises(self, document: Document) -> bool:
        if PurePath(document.file).parent.name == ".microai":
            return True
        found = recognise_entries(document, EVENTS)
        if found is None or not all("command" in entry and entry.keys() <= set(ENTRY_KEYS) for entry in found):
            return False
        has_own_event = not _OWN_EVENTS.isdisjoint(document.value["hooks"])
        return is_settings_file(document) or has_own_event or any(_OWN_KEYS & entry.keys() for entry in found)

    def load(self, document: Document) -> LoadResult:
        return load_hooks(document, _parse_hooks)

    def schema(self) -> dict[str, Any]:
        return settings_schema("microai", EVENTS, _entry_schema(), _EXAMPLE)

    def write(self, hooks: Iterable[Hook]) -> WriteResult:
        from hookline.dialects.microai.writer import write_hooks

        return write_hooks(hooks)


DIALECT: Final = MicroaiDialect()


def _parse_hooks(document: Document, problems: list[Problem]) -> Iterator[Hook]:
    for entry in parse_entries(document, problems, EVENTS, with_conflicts=True):
        hook = _parse_hook(entry, hook_id(document, entry.event_name, entry.index))
        if hook is not None:
            yield hook


def _parse_hook(entry: EventEntry, id: str) -> Hook | None:
    """None after a problem."""
    syntax = len(entry.at.problems)
    part = entry.at.readable_part(("matcher", "condition"))
    if part is None:
        return None
    at, damaged = part
    entry = replace(entry, at=at)
    at.warn_unknown_keys(ENTRY_KEYS, "a microai hook", essential=("continueOnFailure",))
    before = len(at.problems)
    if damaged:
        return _hold_if_damaged(entry, id, damaged, at.problems[syntax])
    when, condition = _parse_condition(entry), at.get("condition")
    only_if = None if condition is None else condition.text(empty=True)
    is_readable = not has_errors(at.problems[before:])
    command, timeout, continues = _parse_command(at), _parse_timeout(at), _parse_continue_on_failure(at)
    blocks = entry.event == "tool.before" and not continues
    if not continues and not blocks:
        _warn_blocks_nothing(at, entry)
    _warn_absent_variables(at, entry)
    errors = [problem for problem in at.problems[before:] if problem.severity is Severity.ERROR]
    if when is None or not is_readable or (errors and not blocks):
        return None
    if command is None or errors:  # it could have blocked, so it does
        return _broken_hook(entry, id, when, errors[0])
    run = RunProgram(
        build_program(command, entry.event),
        BLOCKING_RESULT_PARSER if blocks else result_parser(entry.event),
        timeout,
        build_program(only_if, entry.event) if only_if else None,
        CONDITION_TIMEOUT,
    )
    return Hook(
        id=id,
        event=entry.event,
        when=when,
        then=run,
        origin=Origin(at.document.file, at.line, NAME, wording=WORDING),
        group=NAME,
        timeout=run.total_timeout,
        wait=entry.event != "tool.after",
        on_error=BLOCK_OUTCOME if blocks else SILENT if continues else END_GROUP_OUTCOME,
    )


def _warn_absent_variables(at: Node, entry: EventEntry) -> None:
    """Variables of another event are unset here, unless the command sets them itself."""
    for key in ("command", "condition"):
        place = at.get(key)
        if place is None or not isinstance(place.value, str):
            continue
        warn_placeholders(place, NAME, 'Use a variable: "$INPUT".')
        known = {*VARIABLES_BY_EVENT[entry.event], *chain.from_iterable(_ASSIGNMENT.findall(place.value))}
        for name in dict.fromkeys(_VARIABLE.findall(place.value)):
            if name not in known:
                events = [event_name_in(NAME, event) for event, names in VARIABLES_BY_EVENT.items() if name in names]
                what = f"{place.location}: ${name} is not set on {event_name_in(NAME, entry.event)}."
                hint = f"These events have it: {', '.join(filter(None, events))}."
                place.add_problem("unset-variable", what, hint, severity=Severity.WARNING)


def _warn_blocks_nothing(at: Node, entry: EventEntry) -> None:
    name = event_name_in(NAME, entry.event)
    what = (
        f"{at.location}.continueOnFailure: {name} cannot be blocked; a failure only ends microai's later hooks on it."
    )
    hint = "Only PreToolUse blocks."
    (at.get("continueOnFailure") or at).add_problem("never-blocks", what, hint, severity=Severity.WARNING)


def _broken_hook(entry: EventEntry, id: str, when: Condition, problem: Problem) -> Hook:
    return Hook(
        id=id,
        event=entry.event,
        when=when,
        then=InvalidAction(f"cannot run: {problem}", May.DENY, written=entry.at.value),
        origin=Origin(entry.at.document.file, entry.at.line, NAME, wording=WORDING),
        group=NAME,
        on_error=BLOCK_OUTCOME,
    )


def _hold_if_damaged(entry: EventEntry, id: str, damaged: frozenset[str], problem: Problem) -> Hook | None:
    """A hook with a key that occurs twice; it blocks if it could have blocked."""
    errors = len(entry.at.problems)
    when = _parse_condition(entry)
    could_block = "continueOnFailure" in damaged or not _parse_continue_on_failure(entry.at)
    if when is None or has_errors(entry.at.problems[errors:]) or entry.event != "tool.before" or not could_block:
        return None
    return _broken_hook(entry, id, when, problem)


def _parse_condition(entry: EventEntry) -> Condition | None:
    place = entry.at.get("matcher")
    text = None if place is None else place.text(empty=True)
    if place is None or text is None:
        return ALWAYS if place is None else None
    if entry.event not in TOOL_EVENTS:
        warn_ignored_matcher(place, entry.event_name)
        return ALWAYS
    try:
        matcher = parse_matcher(text)
    except BadMatcher as bad:
        place.add_problem("bad-matcher", f"{place.location}: {bad.what}", bad.hint)
        return None
    if matcher.warning:
        what = f"{place.location}: {matcher.warning}"
        blocks = entry.at.value.get("continueOnFailure") is False
        place.add_problem("never-applies", what, matcher.hint, severity=Severity.ERROR if blocks else Severity.WARNING)
    return matcher.condition


def _parse_command(at: Node) -> str | None:
    command = at.require("command", "Write command and a shell command.")
    return None if command is None else command.text()


def _parse_timeout(at: Node) -> timedelta:
    """Absent or 0 means the default."""
    timeout = at.get("timeout")
    hint = "microai counts milliseconds; write 5000 for five seconds."
    number = None if timeout is None else timeout.number(least=0, most=MAX_TIMEOUT_MILLISECONDS, hint=hint)
    return timedelta(milliseconds=number) if number else DEFAULT_TIMEOUT


def _parse_continue_on_failure(at: Node) -> bool:
    """Absent means true. What cannot be read could have been false."""
    flag = at.get("continueOnFailure")
    return flag is None or flag.flag() is True


def build_program(command: str, event: str) -> CommandTemplate:
    names = PlaceholderResolver(VOCABULARY)
    return CommandTemplate(
        literal_shell_template(command),
        stdin=DataTemplate(parse_template("{{event}}", names)),
        env=hook_environment(event),
    )


def hook_environment(event: str) -> tuple[tuple[str, Template | None], ...]:
    """Every variable of microai. Those that the event does not have are removed from the inherited environment."""
    names, available = PlaceholderResolver(VOCABULARY), VARIABLES_BY_EVENT[event]
    return tuple((name, parse_template(text, names) if name in available else None) for name, text in VARIABLES.items())


def result_parser(event: str) -> ResultParser:
    """For a hook that cannot block: a non-zero exit code is an error."""
    return ResultParser(ResultFormat.ERROR, Audience.AGENT if event in CONTEXT_EVENTS else None)


_EXAMPLE: Final = {"hooks": {"PreToolUse": [{"matcher": "Bash(git:*)", "command": "./check.sh"}]}}


def _entry_schema() -> dict[str, Any]:
    text = {"type": "string", "minLength": 1}
    matcher = {"type": "string", "pattern": MATCHER_PATTERN}
    timeout = {"type": "number", "minimum": 0, "maximum": MAX_TIMEOUT_MILLISECONDS}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["command"],
        "properties": optional_keys(
            {
                "matcher": describe("A tool: Bash, Bash(git:*) or *.", matcher, "Bash(git:*)", default="*"),
                "command": describe("Shell command.", text, "./check.sh"),
                "timeout": describe("Milliseconds.", timeout, 10_000, default=DEFAULT_TIMEOUT.seconds * 1000),
                "continueOnFailure": describe(
                    "false: before a tool, a failure blocks it.", {"type": "boolean"}, default=True
                ),
                "condition": describe("Runs first; the hook runs if it exits 0.", {"type": "string"}, "test -f .guard"),
            },
            ("command",),
        ),
    }
