"""Call a tool, and route what comes back; a pipe is a call whose input comes from the event."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from hookline.hooks.action import May
from hookline.hooks.actions.tell import who
from hookline.hooks.event import Event, Path
from hookline.hooks.filled import Filled
from hookline.hooks.host import Host, ToolResult
from hookline.hooks.outcome import SILENT, Failed, FailureKind, Note, Outcome, Place
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
    instant = False
    constant = None

    @property
    def may(self) -> May:
        return May.NOTHING if self.tell is Tell.NEVER else May.NOTES

    def changes(self) -> tuple[Path, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return self.input.reads()

    async def run(self, event: Event, host: Host) -> Outcome:
        result = await host.call_tool(self.tool, {**dict(self.literal), **self.input.render(event)})
        _log.info("[%s] %s: %s", who(), self.tool, "done" if result.ok else f"failed: {result.error}")
        if self.tell is not Tell.NEVER and (self.tell is Tell.ALWAYS or speaks_of_errors(result)):
            return Outcome(notes=(Note(self.prefix + words_of(result), place=self.place),))
        if not result.ok:
            raise Failed(FailureKind.RAISED, f"{self.tool}: {result.error or as_text(result.content)}"[:500])
        return SILENT


def speaks_of_errors(result: ToolResult) -> bool:
    if not result.ok:
        return True
    content = result.content
    return isinstance(content, dict) and bool(content.get("errors") or content.get("diagnostics"))


def words_of(result: ToolResult) -> str:
    return as_text(result.content) if result.ok else result.error or as_text(result.content)
