"""The values in which the hook files of coding agents differ: events, keys, matchers, stdin, timeouts, results."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from functools import lru_cache
from pathlib import PurePath
from typing import Any, Final

from hookline.dialects.settings_json import TOOL_SUCCEEDED
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.call_tool import CallTool
from hookline.hooks.actions.post import PostEvent
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.conditions.logic import ALWAYS
from hookline.hooks.conditions.text import Equals
from hookline.hooks.event import FactPath
from hookline.hooks.events import events_by_name
from hookline.hooks.outcome import Audience, Note, Outcome
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import Action, Condition, May
from hookline.hooks.templates import DataTemplate, Template, parse_template
from hookline.hooks.tools import VOCABULARIES, Vocabulary
from hookline.hooks.wording import NATIVE_ANSWERS, OK_PHRASES, Wording
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern

SECOND: Final = timedelta(seconds=1)
MILLISECOND: Final = timedelta(milliseconds=1)
TOOL_FAILED: Final = Equals(("tool", "ok"), False)
BY_OUTCOME: Final[Mapping[str, Condition]] = {"PostToolUse": TOOL_SUCCEEDED, "PostToolUseFailure": TOOL_FAILED}
"""For agents in which a failed tool is an event of its own."""
FAILURE_OUTCOME: Final = Outcome(notes=(Note("", Audience.USER),))
"""Blocks nothing; the user sees the failure."""
_FAILURES: Final[Mapping[ResultFormat | str, str]] = {
    **dict.fromkeys(ResultFormat, "exit code 2 blocks, another failure is shown"),
    **dict.fromkeys((ResultFormat.ERROR, ResultFormat.CLINE), "a failure is shown, and blocks nothing"),
    ResultFormat.COPILOT: "before a tool, any exit code but 0 blocks; another failure is shown",
    "blocks": "a failure blocks",
}
HOOK_NAME: Final = lazy_pattern(r"(?=.{1,60}$)[\w.-]+( [\w.-]+)*")  # without brackets, so no name looks like a position
_WHOLE_PLACEHOLDER: Final = lazy_pattern(r"\{\{\s*([\w.]+)\s*(?:\|[^}]*)?\}\}")

StdinTemplates = Mapping[str, Any]
"""Each key of what a hook reads, as a template, a mapping of templates, or a constant that is not text."""


class Matching(StrEnum):
    """How a matcher is compared with a tool's name."""

    NAMES = "names"  # names separated by |; with any other character, a regular expression to search for
    REGEX = "regex"  # a regular expression to search for
    WHOLE = "whole"  # a regular expression for the whole name
    GLOB = "glob"  # with *; @server and @server/tool are MCP tools, @builtin the others
    ALIASES = "aliases"  # a regular expression to search for in each of the tool's names; @builtin and @mcp as in GLOB


class BadPatternPolicy(StrEnum):
    """What a regular expression that cannot be read means."""

    SKIPS = "skips"  # the hook never runs
    LITERAL = "literal"  # it is compared as a name
    RUNS = "runs"  # the hook runs for every tool


class Layout(StrEnum):
    """Where an event's handlers stand."""

    GROUPS = "groups"  # in groups with a matcher
    FLAT = "flat"  # directly in the event's list
    EITHER = "either"
    LIST = "list"  # in one list for all events


@dataclass(frozen=True, kw_only=True)
class HandlerType:
    """One value of `type`."""

    keys: tuple[str, ...]  # besides `type`
    required: tuple[str, ...]
    timeout: timedelta | None = None  # None: the file's default
    not_here: str = ""  # why hookline does not run such hooks
    read_as: str = ""  # the name of this type in the agent's other files, if it differs


@dataclass(frozen=True, kw_only=True)
class AgentFormat:
    """One agent's hook files."""

    name: str
    title: str
    layout: Layout
    handlers: Mapping[str, HandlerType]
    matching: Matching
    result: ResultFormat
    timeout: timedelta  # of a hook that names none
    common_stdin: StdinTemplates
    stdin: Mapping[str, StdinTemplates]  # by the event's name
    event_names: frozenset[str] = frozenset()  # in files of this shape; empty: all names that the agent has
    event_key: str = "hook_event_name"  # of the event's name on stdin; empty: it is not there
    default_type: str = ""  # the type of a handler that names none; empty: it must name one
    group_keys: tuple[str, ...] = ("matcher", "hooks")
    places: tuple[str, ...] = ()  # of the files of this shape, if the agent has others
    entry_event_key: str = "event"  # of the event's name in an entry, if one list is for all events
    action_key: str = ""  # of the handler in such an entry; empty: its keys are the entry's own
    entry_keys: tuple[str, ...] = ()  # of such an entry, beside its event, matcher and handler
    command_keys: tuple[str, ...] = ("command",)  # the first one that a handler has is its command
    program_key: str = ""  # the command key whose program runs without a shell, with `args`; empty: `args` says so
    fail_closed: tuple[str, Any] = ("failClosed", True)  # the key and the value that make a failure deny
    timeout_keys: tuple[str, ...] = ("timeout",)
    timeout_unit: timedelta = SECOND
    reads_milliseconds_from: float | None = None  # a timeout of this size counts milliseconds
    timeouts: Mapping[str, timedelta] = field(default_factory=dict)  # by the event's name
    bad_matcher: BadPatternPolicy = BadPatternPolicy.SKIPS
    tool_aliases: Mapping[str, str] = field(default_factory=dict)  # other names that a matcher may use
    matcher_facts: Mapping[str, tuple[FactPath, str]] = field(default_factory=dict)
    """By the event's name: the fact that a matcher tests where there is no tool, and its value if it is missing."""
    conditions: Mapping[str, Condition] = field(default_factory=dict)  # what an event's name says, besides the event
    results: Mapping[str, ResultParser] = field(default_factory=dict)  # by the event's name, where it differs
    environment: Mapping[str, str] = field(default_factory=dict)  # templates
    expand_command: Callable[[str, str], str] | None = None  # replaces names in a command; given it and its file
    claude_events: frozenset[str] = frozenset()  # events for which tools and matchers are as in Claude Code
    events_with_agent_stdin: frozenset[str] = frozenset()  # of these, those whose stdin has the agent's names of tools
    runs_in_project: bool = False  # commands run in the project's directory, and a user's own beside their file
    unsupported_events: tuple[str, ...] = ()  # events that no other agent has
    other_hook_keys: tuple[str, ...] = ()  # keys beside the events that are not about single hooks
    file_kind: str = "json"  # how its files are written
    file_keys: tuple[str, ...] = ()  # top-level keys of a file with nothing but hooks; empty: any
    settings_files: tuple[str, ...] = ()  # places of its files that have other keys, too
    deduplicates: bool = False  # handlers that do the same run once
    switch: Callable[[Any], tuple[bool, tuple[str, ...]]] | None = None
    """From the file's value: whether all hooks are off, and the names of hooks that are."""
    write_switch: Callable[[Sequence[str] | None], dict[str, Any] | None] | None = None
    """The reverse: the top-level keys that disable the hooks of these names, or all. None if it has no names."""
    events_at_top: Callable[[str], bool] | None = None  # whether the file of this name has its events at the top
    own_events: frozenset[str] = frozenset()  # events that tell a file of this agent wherever it is
    own_keys: frozenset[str] = frozenset()  # keys of a handler that do
    rewrite: Callable[[Any], Any] | None = None
    """Converts the value of a file with another shape to this one; None if the file does not have that shape."""
    restore: Callable[[list[dict[str, Any]]], Any] | None = None  # the reverse, from the entries of one hook
    ignored_by: tuple[str, ...] = ()  # agents that read the other files of the dialect, but not these
    vocabulary_name: str = ""  # of the tools' names, if it is not the agent's

    @property
    def events(self) -> dict[str, str]:
        known = _events_of(self.name)
        return {name: known[name] for name in known if name in self.event_names} if self.event_names else known

    @property
    def vocabulary(self) -> Vocabulary:
        return VOCABULARIES[self.vocabulary_name or self.name]

    def has_only_hooks(self, file: str) -> bool:
        """Whether each top-level key of this file is about hooks."""
        return bool(self.file_keys) and not any(PurePath(file).match(place) for place in self.settings_files)

    def vocabulary_at(self, event_name: str) -> Vocabulary:
        return VOCABULARIES["claude_code"] if event_name in self.claude_events else self.vocabulary

    def matching_at(self, event_name: str) -> Matching:
        return Matching.NAMES if event_name in self.claude_events else self.matching

    def type_name(self, type_: str) -> str:
        """The value of `type` for what the agent's other files call this."""
        return next((name for name, each in self.handlers.items() if each.read_as == type_), type_)

    def result_parser(self, event_name: str) -> ResultParser:
        return self.results.get(event_name, ResultParser(self.result))

    def condition(self, event_name: str) -> Condition:
        return self.conditions.get(event_name, ALWAYS)

    def default_timeout(self, event_name: str, type_: str) -> timedelta:
        own = self.handlers[type_].timeout
        return own if own is not None else self.timeouts.get(event_name, self.timeout)

    def stdin_template(self, event_name: str) -> DataTemplate:
        named = {self.event_key: event_name} if self.event_key else {}
        value = {**self.common_stdin, **named, **self.stdin.get(event_name, {})}
        return DataTemplate(_compile(value, self.placeholders(event_name)))

    def environment_templates(self, event_name: str) -> tuple[tuple[str, Template | None], ...]:
        names = self.placeholders(event_name)
        return tuple((name, parse_template(text, names)) for name, text in self.environment.items())

    def placeholders(self, event_name: str) -> PlaceholderResolver:
        has_agent_names = event_name in self.events_with_agent_stdin
        return PlaceholderResolver(self.vocabulary if has_agent_names else self.vocabulary_at(event_name))

    @property
    def wording(self) -> Wording:
        return _wording_of(self.name)


FORMATS: Final[dict[str, AgentFormat]] = {}


def define_format(format: AgentFormat) -> AgentFormat:
    FORMATS[format.name] = format
    return format


@lru_cache
def _events_of(name: str) -> dict[str, str]:
    return events_by_name(name)


def _compile(value: Any, names: PlaceholderResolver) -> Any:
    if isinstance(value, str):
        return parse_template(value, names) if "{{" in value else value
    if isinstance(value, Mapping):
        return {key: _compile(held, names) for key, held in value.items()}
    return [_compile(held, names) for held in value] if isinstance(value, (list, tuple)) else value


def _action_word(action: Action) -> str | None:
    words = ((RunProgram, "command"), (PostEvent, "http"), (CallTool, "mcp_tool"), (AskModel, "prompt"))
    return next((word for kind, word in words if isinstance(action, kind)), None)


@lru_cache
def _wording_of(name: str) -> Wording:
    format = FORMATS[name]
    return Wording(
        dialect=name,
        answers={**NATIVE_ANSWERS, May.DENY: "block"},
        facts=_fact_words(format),
        phrases=OK_PHRASES,
        action_word=_action_word,
        unit="ms" if format.timeout_unit == MILLISECOND else "s",
        environment=format.environment,
        failures=_FAILURES,
        run_earlier="move it up in the file",
        on_error="a failure",
        variables_key="allowedEnvVars",
        input_rule="This is only compared with names. Write {0} alone, and test the input in the command.",
    )


def _fact_words(format: AgentFormat) -> dict[str, str]:
    """Facts by the key under which a hook reads them, the longest first."""
    found: dict[str, str] = {}
    for stdin in (format.common_stdin, *format.stdin.values()):
        for path, text in _texts(stdin):
            match = _WHOLE_PLACEHOLDER.fullmatch(text)
            if match is not None:
                found.setdefault(match[1], path)
    return dict(sorted(found.items(), key=lambda each: -len(each[0])))


def _texts(value: StdinTemplates, path: str = "") -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for key, held in value.items():
        place = f"{path}.{key}" if path else key
        if isinstance(held, str):
            found.append((place, held))
        elif isinstance(held, Mapping):
            found += _texts(held, place)
    return found
