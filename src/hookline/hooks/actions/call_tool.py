"""Call a tool and use its result. A pipe is a call whose input comes from the event."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from enum import StrEnum
from typing import Any, Final

from hookline.errors import BadTemplate, HooklineError
from hookline.hooks.actions.description import describe_json
from hookline.hooks.actions.notify import current_hook_id
from hookline.hooks.actions.program_result import ResultParser
from hookline.hooks.event import Event, FactPath
from hookline.hooks.host import Host, ProgramResult, ToolResult
from hookline.hooks.kind_guess import is_command_field
from hookline.hooks.masking import mask
from hookline.hooks.outcome import NOT_APPLIED, SILENT, ActionError, FailureKind, Note, NotePlace, Outcome
from hookline.hooks.protocols import May
from hookline.hooks.templates import (
    DataTemplate,
    Resolver,
    Template,
    as_text,
    escape_braces,
    parse_arguments,
    parse_shell_template,
)
from hookline.hooks.tool_name import likely_kind
from hookline.hooks.tools import ToolKind
from hookline.lazy_dataclasses import dataclass, field, replace
from hookline.lazy_imports import lazy_logger, logging

_log = lazy_logger("hookline")


_DIAGNOSTIC_KEYS: Final = ("range", "line", "severity")


class TellWhen(StrEnum):
    """When the agent gets the result of the call."""

    NEVER = "never"
    ON_ERRORS = "errors"  # the call failed, its errors or diagnostics are not empty, or it is a list of diagnostics
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class CallTool:
    tool: str
    input: DataTemplate
    literal: tuple[tuple[str, Any], ...] = ()  # fields that are not templates
    tell: TellWhen = TellWhen.NEVER
    prefix: str = ""
    place: NotePlace = NotePlace.CONTEXT
    role: str = "user"  # of a separate message
    result_parser: ResultParser | None = None  # reads the result as an answer, like a program's output
    is_quiet: bool = field(
        default=False, compare=False
    )  # a failure is only logged, as debug output, and changes nothing
    instant = False
    constant = None
    label = "the action call"

    @property
    def may(self) -> May:
        notes = May.NOTHING if self.tell is TellWhen.NEVER else May.NOTES
        return notes if self.result_parser is None else notes | self.result_parser.may

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return self.input.reads()

    def describe(self) -> Iterator[tuple[str, str]]:
        input = self.input.value if isinstance(self.input.value, dict) else {"": self.input.value}
        yield "call", f"{self.tool} {describe_json({**dict(self.literal), **input})}"

    async def run(self, event: Event, host: Host) -> Outcome:
        if not self.is_quiet:
            return await self._call(event, host)
        try:
            return await self._call(event, host)
        except (ActionError, HooklineError) as error:
            _log.debug("[%s] %s failed and is ignored: %s", current_hook_id(), self.tool, MaskedValue(str(error)))
            return NOT_APPLIED

    async def _call(self, event: Event, host: Host) -> Outcome:
        input = {**copy.deepcopy(dict(self.literal)), **self.input.render(event)}
        _log.debug("[%s] %s gets %s", current_hook_id(), self.tool, MaskedValue(input))
        result = await host.call_tool(self.tool, input)
        level = logging.DEBUG if self.is_quiet and not result.ok else logging.INFO
        _log.log(level, "[%s] %s: %s", current_hook_id(), self.tool, MaskedValue(_call_status(result)))
        report = self._report_outcome(result)
        if not result.ok:
            failed = f"{self.tool}: {describe_result(result)}"[:500]
            raise ActionError(FailureKind.RAISED, failed, report if report.notes else None)
        if self.result_parser is None:
            return report
        answer = self.result_parser.parse(ProgramResult(0, tool_result_text(result), ""), event)
        return replace(answer, notes=(*answer.notes, *report.notes))

    def _report_outcome(self, result: ToolResult) -> Outcome:
        if self.tell is TellWhen.NEVER or (self.tell is TellWhen.ON_ERRORS and not reports_errors(result)):
            return SILENT
        return Outcome(notes=(Note(self.prefix + describe_result(result), place=self.place, role=self.role),))


def quote_commands(tool: str, input: DataTemplate, resolve: Resolver) -> DataTemplate:
    """The input with a shell's command as shell text, in which a value is one word. Raises BadTemplate.

    A command that is handed on whole stays a command.
    """
    given = input.value
    if not isinstance(given, dict) or likely_kind({"name": tool, "input": given}) is not ToolKind.SHELL:
        return input
    quoted = {
        name: _quote_command(value, resolve) if is_command_field(name) else value for name, value in given.items()
    }
    return DataTemplate(quoted)


def _quote_command(value: Any, resolve: Resolver) -> Any:
    if isinstance(value, Template) and value.reads():
        is_command = value.is_single_placeholder and is_command_field(str(value.reads()[0][-1]))
        return value if is_command else parse_shell_template(value.source, resolve)
    if not isinstance(value, list) or not any(isinstance(word, Template) for word in value):
        return value
    words = [word.source if isinstance(word, Template) else escape_braces(as_text(word)) for word in value]
    arguments = parse_arguments(words, resolve)
    for argument in arguments:
        if isinstance(argument, BadTemplate):
            raise argument
    return arguments


@dataclass(frozen=True, slots=True)
class MaskedValue:
    """A value for the log, converted to text only if the line is written."""

    value: Any

    def __str__(self) -> str:
        return mask(as_text(self.value))


def reports_errors(result: ToolResult) -> bool:
    if not result.ok:
        return True
    content = result.content
    if isinstance(content, list):
        return any(map(_is_diagnostic, content))
    return isinstance(content, dict) and bool(content.get("errors") or content.get("diagnostics"))


def _is_diagnostic(value: Any) -> bool:
    """A message with a place or a severity, as language servers write it."""
    return isinstance(value, dict) and "message" in value and not value.keys().isdisjoint(_DIAGNOSTIC_KEYS)


def tool_result_text(result: ToolResult) -> str:
    """The text of a result, which may be in parts like an MCP server's."""
    content = result.content.get("content") if isinstance(result.content, dict) else result.content
    if not isinstance(content, list):
        return as_text(result.content)
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def describe_result(result: ToolResult) -> str:
    return as_text(result.content) if result.ok else result.error or as_text(result.content)


def _call_status(result: ToolResult) -> str:
    if not result.was_called:
        return "would be called"
    return "done" if result.ok else f"failed: {describe_result(result)}"
