"""The ai_agents dialect: `.ai_agents/settings.json`, with groups, JSON on stdin, exit codes and JSON results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.dialects.conversion import NotExpressible, event_not_expressible, write_duration, write_each
from hookline.dialects.dialect import LoadResult, WriteResult, has_errors
from hookline.dialects.json_schema import describe, optional_keys
from hookline.dialects.settings_json import (
    GROUP_KEYS,
    MAX_TIMEOUT_SECONDS,
    MIN_TIMEOUT_SECONDS,
    TOOL_SUCCEEDED,
    EventEntry,
    append_to_group,
    check_expressible,
    group_schema,
    hook_id,
    hooks_of_group,
    is_group,
    is_settings_file,
    literal_shell_template,
    load_hooks,
    parse_entries,
    recognise_entries,
    require_run_action,
    require_shell_command,
    settings_schema,
    translate_tool_names,
    warn_ignored_matcher,
    warn_placeholders,
)
from hookline.dialects.tool_names import match_tool_name
from hookline.hooks.actions.hold import HoldCall
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.conditions.logic import ALWAYS, All, Always, all_of
from hookline.hooks.conditions.text import Matches
from hookline.hooks.events import event_name_in, events_by_name
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.outcome import Audience, Note, Outcome
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import Action, Condition, May
from hookline.hooks.templates import DataTemplate, Template, parse_template
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import VOCABULARIES, Vocabulary
from hookline.hooks.wording import NATIVE_ANSWERS, OK_PHRASES, Wording
from hookline.lazy_imports import lazy_pattern
from hookline.patterns.matchers import shorthand
from hookline.patterns.pattern import BadPattern, Pattern, Syntax, pattern

NAME: Final = "ai_agents"
VOCABULARY: Final = VOCABULARIES[NAME]
_ENVIRONMENT: Final = {"EDITED_FILE": "{{tool.input.file_path | text}}"}
WORDING: Final = Wording(
    dialect=NAME,
    input_rule='This is only compared with names. Write "matcher": "{0}", and test tool_input in the command.',
    answers={**NATIVE_ANSWERS, May.DENY: "block"},
    facts={"tool.name": "tool_name", "tool.input": "tool_input", "tool.result": "tool_response"},
    phrases=OK_PHRASES,
    action_word=lambda action: "command" if isinstance(action, RunProgram) else None,
    unit="s",
    environment=_ENVIRONMENT,
    failures={ResultFormat.JSON: "exit code 2 blocks, another failure is shown"},
    run_earlier="move it up in the file",
    on_error="a failure",
)
EVENTS: Final = events_by_name(NAME)
TOOL_EVENTS: Final = ("tool.before", "tool.after")
HOOK_KEYS: Final = ("type", "command", "timeout")
DEFAULT_TIMEOUT: Final = timedelta(seconds=60)

RESULT_PARSER: Final = ResultParser(ResultFormat.JSON, Audience.USER)
FAILURE_OUTCOME: Final = Outcome(notes=(Note("", Audience.USER),))
"""A failure never blocks, except that a program that cannot be found holds the event; the user sees it."""
_REGEX_CHARACTERS: Final = lazy_pattern(r"[|*+?()\[\]{}^$\\]")
_STDIN_TEMPLATES: Final = {
    "session_id": "{{session.id}}",
    "cwd": "{{cwd}}",
    "hook_event_name": "",
    "tool_name": "{{tool.name}}",
    "tool_input": "{{tool.input}}",
    "tool_response": "{{tool.result | message}}",
    "prompt": "{{prompt}}",
}
_COMMON_STDIN_KEYS: Final = ("session_id", "cwd", "hook_event_name")
_STDIN_KEYS_BY_EVENT: Final = {
    "tool.before": (*_COMMON_STDIN_KEYS, "tool_name", "tool_input"),
    "tool.after": (*_COMMON_STDIN_KEYS, "tool_name", "tool_input", "tool_response"),
    "prompt.submit": (*_COMMON_STDIN_KEYS, "prompt"),
}


class AiAgentsDialect:
    name = NAME
    has_app_keys = False

    def recognises(self, document: Document) -> bool:
        if PurePath(document.file).parent.name == ".ai_agents":
            return True
        found = recognise_entries(document, EVENTS)
        if found is None or not all(is_group(entry, ("command",)) for entry in found):
            return False
        return is_settings_file(document)  # it has no key and no event that only this dialect has

    def load(self, document: Document) -> LoadResult:
        return load_hooks(document, _parse_hooks)

    def schema(self) -> dict[str, Any]:
        return settings_schema("ai_agents", EVENTS, _group_schema(), _EXAMPLE)

    def write(self, hooks: Iterable[Hook]) -> WriteResult:
        return _write_hooks(hooks)


DIALECT: Final = AiAgentsDialect()


def _parse_hooks(document: Document, problems: list[Problem]) -> Iterator[Hook]:
    for entry in parse_entries(document, problems, EVENTS):
        entry.at.warn_unknown_keys(GROUP_KEYS, "a group")
        when = _parse_condition(entry)
        for number, place in enumerate(hooks_of_group(entry.at)):
            hook = _parse_hook(place, entry, when or ALWAYS, hook_id(document, entry.event_name, entry.index, number))
            if hook is not None and when is not None:
                yield hook


def _parse_hook(at: Node, entry: EventEntry, when: Condition, id: str) -> Hook | None:
    """None after a problem."""
    before = len(at.problems)
    part = at.readable_part(())
    if part is None:
        return None
    at, damaged = part
    unknown = len(at.problems)
    at.warn_unknown_keys(HOOK_KEYS, "a hook")
    if has_errors(at.problems[unknown:]):
        return None
    if damaged:
        return _build_hook(at, entry, when, id, HoldCall(str(at.problems[before]), written=at.value), DEFAULT_TIMEOUT)
    command, timeout = _parse_command(at), _parse_timeout(at)
    errors = [problem for problem in at.problems[before:] if problem.severity is Severity.ERROR]
    action: Action = (
        HoldCall(str(errors[0]), written=at.value)  # it could have blocked
        if command is None or errors
        else RunProgram(_build_program(command, entry.event), RESULT_PARSER, timeout, hold_if_broken=True)
    )
    return _build_hook(at, entry, when, id, action, timeout)


def _build_hook(at: Node, entry: EventEntry, when: Condition, id: str, action: Action, timeout: timedelta) -> Hook:
    return Hook(
        id=id,
        event=entry.event,
        when=all_of([when, TOOL_SUCCEEDED]) if entry.event == "tool.after" else when,
        then=action,
        origin=Origin(at.document.file, at.line, NAME, wording=WORDING),
        group=NAME,
        timeout=timeout,
        on_error=FAILURE_OUTCOME,
    )


def _parse_condition(entry: EventEntry) -> Condition | None:
    place = entry.at.get("matcher")
    text = None if place is None else place.text(empty=True)
    if place is None or text is None:
        return ALWAYS if place is None else None
    if entry.event not in TOOL_EVENTS:
        warn_ignored_matcher(place, entry.event_name)
        return ALWAYS
    return _parse_matcher(place, text)


def _parse_matcher(place: Node, text: str) -> Condition:
    if text in ("", "*"):
        return ALWAYS
    if not _REGEX_CHARACTERS.search(text):
        return match_tool_name(shorthand("exactly", text), VOCABULARY)
    try:
        return match_tool_name(pattern(text, Syntax.PYTHON, whole=True), VOCABULARY)
    except BadPattern as bad:
        what = f"{place.location}: {bad.why}. The text is compared literally."
        place.add_problem("bad-pattern", what, "Write a name, names as Edit|Write, or *.")
        return match_tool_name(shorthand("exactly", text), VOCABULARY)


def _parse_command(at: Node) -> str | None:
    type_ = at.require("type", 'Write "type": "command".')
    command = at.require("command", "Write command and a shell command.")
    if type_ is not None:
        type_.one_of(("command",), hint="command is the only type.")
    if command is not None:
        warn_placeholders(command, NAME, "The program reads the event as JSON on stdin.")
    return None if command is None else command.text()


def _parse_timeout(at: Node) -> timedelta:
    timeout = at.get("timeout")
    hint = "ai_agents counts seconds; write 60 for a minute."
    number = None if timeout is None else timeout.number(least=MIN_TIMEOUT_SECONDS, most=MAX_TIMEOUT_SECONDS, hint=hint)
    return DEFAULT_TIMEOUT if number is None else timedelta(seconds=number)


def _build_program(command: str, event: str) -> CommandTemplate:
    return CommandTemplate(literal_shell_template(command), stdin=_stdin_template(event), env=_environment())


def _stdin_template(event: str) -> DataTemplate:
    """The keys in the order of the ai_agents documentation."""
    values: dict[str, Any] = {
        key: parse_template(_STDIN_TEMPLATES[key], PlaceholderResolver(VOCABULARY))
        for key in _STDIN_KEYS_BY_EVENT[event]
    }
    return DataTemplate({**values, "hook_event_name": event_name_in(NAME, event)})


def _environment() -> tuple[tuple[str, Template | None], ...]:
    names = PlaceholderResolver(VOCABULARY)
    return tuple((name, parse_template(text, names)) for name, text in _ENVIRONMENT.items())


_EXAMPLE: Final = {
    "hooks": {"PreToolUse": [{"matcher": "FileWriter", "hooks": [{"type": "command", "command": "./check.sh"}]}]}
}


def _group_schema() -> dict[str, Any]:
    timeout = {"type": "number", "minimum": MIN_TIMEOUT_SECONDS, "maximum": MAX_TIMEOUT_SECONDS}
    hook = {
        "type": "object",
        "additionalProperties": False,
        "required": ["type", "command"],
        "properties": optional_keys(
            {
                "type": describe("Always command.", {"const": "command"}),
                "command": describe("Bash command.", {"type": "string", "minLength": 1}, "./check.sh"),
                "timeout": describe("Seconds.", timeout, 10, default=DEFAULT_TIMEOUT.seconds),
            },
            ("type", "command"),
        ),
    }
    return group_schema("A tool's name, a regular expression for it, or *.", hook, _EXAMPLE)


def _write_hooks(hooks: Iterable[Hook]) -> WriteResult:
    groups: dict[str, list[dict[str, Any]]] = {}

    def write(hook: Hook, losses: list[str]) -> None:
        event_name = event_name_in(NAME, hook.event)
        if event_name is None:
            raise event_not_expressible(hook)
        matcher, value = _write_matcher(hook), _write_hook(hook)
        append_to_group(groups.setdefault(event_name, []), {} if matcher is None else {"matcher": matcher}, value)

    not_expressible = write_each(hooks, write)
    return WriteResult({"hooks": groups}, "json", not_expressible)


def _write_hook(hook: Hook) -> dict[str, Any]:
    check_expressible(hook)
    run = require_run_action(hook)
    if not hook.wait:
        raise NotExpressible("that the agent does not wait for it")
    if run.only_if is not None:
        raise NotExpressible(hook.origin.wording.only_if)
    if (run.result_parser, hook.on_error) != (RESULT_PARSER, FAILURE_OUTCOME):
        raise NotExpressible(hook.origin.wording.result(run.result_parser.format))
    command = require_shell_command(run.program)
    if run.program.stdin not in (None, _stdin_template(hook.event)) or not set(run.program.env) <= set(_environment()):
        raise NotExpressible("its stdin and environment")
    value: dict[str, Any] = {"type": "command", "command": command}
    if run.timeout != DEFAULT_TIMEOUT:
        value["timeout"] = write_duration(run.timeout, timedelta(seconds=1))
    return value


def _write_matcher(hook: Hook) -> str | None:
    """None if it runs for every tool."""
    when = hook.when
    if hook.event == "tool.after":
        when = _strip_success_check(when)
    if isinstance(when, Always):
        return None
    if hook.event not in TOOL_EVENTS or not isinstance(when, Matches) or not isinstance(when.subject, ToolName):
        raise NotExpressible("its condition")
    return _write_name_pattern(when.pattern, when.subject.vocabulary)


def _strip_success_check(when: Condition) -> Condition:
    if when == TOOL_SUCCEEDED:
        return ALWAYS
    if isinstance(when, All) and TOOL_SUCCEEDED in when.parts:
        return all_of(part for part in when.parts if part != TOOL_SUCCEEDED)
    raise NotExpressible("that it also runs after a failed tool")


def _write_name_pattern(compiled: Any, vocabulary: Vocabulary) -> str:
    if (
        isinstance(compiled, Pattern)
        and compiled.syntax is Syntax.PYTHON
        and compiled.whole
        and vocabulary == VOCABULARY
    ):
        return compiled.source
    names = translate_tool_names(compiled, vocabulary, VOCABULARY)
    return "|".join(re.escape(name) if _REGEX_CHARACTERS.search(name) else name for name in names)
