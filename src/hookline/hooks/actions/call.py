"""Call a tool, and route what comes back; a pipe is a call whose input comes from the event."""

from __future__ import annotations

import copy
import logging
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from hookline.hooks.action import May
from hookline.hooks.actions.reading import Reading
from hookline.hooks.actions.tell import who
from hookline.hooks.event import Event, Path
from hookline.hooks.filled import Filled
from hookline.hooks.host import Finished, Host, ToolResult
from hookline.hooks.outcome import SILENT, Failed, FailureKind, Note, Outcome, Place
from hookline.hooks.secrets import mask
from hookline.hooks.template import as_text

_log = logging.getLogger("hookline")


class Tell(StrEnum):
    """When the agent is told what the call returned."""

    NEVER = "never"
    ON_ERRORS = "errors"  # the call failed, or its errors or diagnostics are not empty
    ALWAYS = "always"


@dataclass(frozen=True, slots=True)
class Call:
    tool: str
    input: Filled
    literal: tuple[tuple[str, Any], ...] = ()  # fields given as they are, never templated
    tell: Tell = Tell.NEVER
    prefix: str = ""
    place: Place = Place.CONTEXT
    role: str = "user"  # of a message of its own
    reading: Reading | None = None  # what it returned is an answer, as if a program had written it
    instant = False
    constant = None

    @property
    def may(self) -> May:
        told = May.NOTHING if self.tell is Tell.NEVER else May.NOTES
        return told if self.reading is None else told | self.reading.may

    def changes(self) -> tuple[Path, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return self.input.reads()

    async def run(self, event: Event, host: Host) -> Outcome:
        input = {**copy.deepcopy(dict(self.literal)), **self.input.render(event)}
        _log.debug("[%s] %s gets %s", who(), self.tool, Masked(input))
        result = await host.call_tool(self.tool, input)
        _log.info("[%s] %s: %s", who(), self.tool, Masked(_end_of(result)))
        told = self._told(result)
        if not result.ok:
            failed = f"{self.tool}: {words_of(result)}"[:500]
            raise Failed(FailureKind.RAISED, failed, told if told.notes else None)
        if self.reading is None:
            return told
        answer = self.reading.outcome(Finished(0, text_in_result(result), ""), event)
        return replace(answer, notes=(*answer.notes, *told.notes))

    def _told(self, result: ToolResult) -> Outcome:
        if self.tell is Tell.NEVER or (self.tell is Tell.ON_ERRORS and not speaks_of_errors(result)):
            return SILENT
        return Outcome(notes=(Note(self.prefix + words_of(result), place=self.place, role=self.role),))


@dataclass(frozen=True, slots=True)
class Masked:
    """A value for the log, made to text only if somebody reads it."""

    value: Any

    def __str__(self) -> str:
        return mask(as_text(self.value))


def speaks_of_errors(result: ToolResult) -> bool:
    if not result.ok:
        return True
    content = result.content
    return isinstance(content, dict) and bool(content.get("errors") or content.get("diagnostics"))


def text_in_result(result: ToolResult) -> str:
    """The words of a result that may be in parts, as an MCP server's are."""
    content = result.content.get("content") if isinstance(result.content, dict) else result.content
    if not isinstance(content, list):
        return as_text(result.content)
    texts = [part.get("text") for part in content if isinstance(part, dict)]
    return "\n".join(text for text in texts if isinstance(text, str))


def words_of(result: ToolResult) -> str:
    return as_text(result.content) if result.ok else result.error or as_text(result.content)


def _end_of(result: ToolResult) -> str:
    if not result.made:
        return "would be called"
    return "done" if result.ok else f"failed: {words_of(result)}"
