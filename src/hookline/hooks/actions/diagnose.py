"""Have a file that a tool just wrote looked over by the language server."""

from __future__ import annotations

import logging
import os
import stat
from dataclasses import dataclass
from typing import Any, Final

from hookline.errors import Unavailable
from hookline.hooks.action import May
from hookline.hooks.actions.call import words_of
from hookline.hooks.actions.tell import who
from hookline.hooks.event import MISSING, Changes, Event, Path
from hookline.hooks.fields import field_value
from hookline.hooks.host import Host, Notice
from hookline.hooks.outcome import NOT_APPLIED, SILENT, Failed, FailureKind, Note, Outcome, Place
from hookline.hooks.template import as_text

_log = logging.getLogger("hookline")

CHANGED: Final = "lsp.notify_change"
DIAGNOSTICS: Final = "lsp.diagnostics"
CHANNEL: Final = "diagnostics"
_RESULT: Final[Path] = ("tool", "result")
_LARGEST: Final = 2_000_000  # bytes of a file that a language server is handed
_MOST: Final = 100  # diagnostics that are put into words
_HEAD: Final = "[Diagnostics]"


@dataclass(frozen=True, slots=True)
class Diagnose:
    """Tells the language server what the tool wrote, and the agent and those who watch what it thinks of it.

    The words go into the tool's result without harm to its shape: at the end of a text, under `diagnostics` in a
    mapping, beside anything else. Files outside of the workspace are never read, by whatever path.
    """

    path_fields: tuple[str, ...] = ("path", "file_path")
    content_fields: tuple[str, ...] = ("content",)
    publish: bool = True
    inject: bool = True
    read_from_disk: bool = True
    instant = False
    constant = None

    @property
    def may(self) -> May:
        return May.CHANGE | May.NOTES if self.inject else May.NOTHING

    def changes(self) -> tuple[Path, ...]:
        return (_RESULT,) if self.inject else ()

    def reads(self) -> tuple[Path, ...]:
        fields = (*self.path_fields, *self.content_fields)
        return (*(("tool", "input", field) for field in fields), _RESULT, ("workspace",))

    async def run(self, event: Event, host: Host) -> Outcome:
        path = _first_text(event, self.path_fields)
        if not path or event.read(("tool", "ok")) is False:
            return NOT_APPLIED
        content = _first_text(event, self.content_fields)
        if content is None:
            content = _on_disk(path, event) if self.read_from_disk else None
        if content is None:
            return NOT_APPLIED
        await _called(host, CHANGED, {"path": path, "content": content})
        if not (self.inject or self.publish):
            return SILENT
        found = await _called(host, DIAGNOSTICS, {"path": path})
        lines = _lines(path, found)
        if self.publish:
            await _published(host, path, found, lines)
        return _injected(event, f"{_HEAD}\n" + "\n".join(lines)) if self.inject and lines else SILENT


def _first_text(event: Event, fields: tuple[str, ...]) -> str | None:
    values = (field_value(event, (field,)) for field in fields)
    return next((value for value in values if isinstance(value, str)), None)


def _on_disk(path: str, event: Event) -> str | None:
    """The text of a regular file inside of the workspace, links resolved; None for anything else."""
    workspace = event.read(("workspace",))
    if not isinstance(workspace, str) or not workspace or "\0" in path:
        return None
    root = os.path.realpath(workspace)
    real = os.path.realpath(os.path.join(root, path))
    if os.path.commonpath((root, real)) != root:
        _log.warning("[%s] %s is outside of the workspace and is not read", who(), path[:200])
        return None
    try:
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(real, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            data = file.read(_LARGEST + 1)
    except (OSError, ValueError):
        return None
    return data.decode("utf-8", "replace") if len(data) <= _LARGEST else None


async def _called(host: Host, tool: str, input: dict[str, Any]) -> Any:
    result = await host.call_tool(tool, input)
    if not result.ok:
        raise Failed(FailureKind.RAISED, f"{tool}: {words_of(result)}"[:500])
    return result.content


async def _published(host: Host, path: str, found: Any, lines: list[str]) -> None:
    level = "warning" if lines else "info"
    message = "\n".join(lines) or f"{path}: nothing to report"
    try:
        await host.publish(Notice(CHANNEL, message, path, level, hook=who(), data={"path": path, "diagnostics": found}))
    except Unavailable:
        _log.debug("[%s] nobody watches %s", who(), CHANNEL)


def _injected(event: Event, text: str) -> Outcome:
    result = event.read(_RESULT)
    changes: Changes
    if isinstance(result, str) and result:
        changes = ((_RESULT, f"{result}\n{text}"),)
    elif result is MISSING or result is None or result == "":
        changes = ((_RESULT, text),)
    elif isinstance(result, dict) and CHANNEL not in result:
        changes = (((*_RESULT, CHANNEL), text),)
    else:
        return Outcome(notes=(Note(text, place=Place.RESULT),))
    return Outcome(changes=changes)


def _lines(path: str, found: Any) -> list[str]:
    """What a language server reported, in whichever of the usual shapes, one line each."""
    if isinstance(found, dict):
        found = found.get("diagnostics") or found.get("errors") or []
    if isinstance(found, str):
        return found.splitlines()[:_MOST]
    if not isinstance(found, list):
        return []
    lines = [_line(path, each) for each in found[:_MOST]]
    return [*lines, f"… and {len(found) - _MOST} more"] if len(found) > _MOST else lines


def _line(path: str, found: Any) -> str:
    if not isinstance(found, dict) or not isinstance(found.get("message"), str):
        return as_text(found)
    code = f" ({as_text(found['code'])})" if found.get("code") else ""
    parts = (f"{path}{_position(found)}", as_text(found.get("severity")), found["message"] + code)
    return ": ".join(part for part in parts if part)


def _position(found: dict[str, Any]) -> str:
    """A `line` as people count; the range of the language server protocol counts from 0."""
    if isinstance(found.get("line"), int):
        return f":{found['line']}"
    start = found["range"].get("start") if isinstance(found.get("range"), dict) else None
    line = start.get("line") if isinstance(start, dict) else None
    return f":{line + 1}" if isinstance(line, int) else ""
