"""Check the file that a tool wrote with the language server."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from typing import Any, Final

from hookline.errors import UnavailableError
from hookline.hooks.actions.call_tool import describe_result
from hookline.hooks.actions.notify import current_hook_id
from hookline.hooks.event import MISSING, Changes, Event, FactPath
from hookline.hooks.host import Host, Notice
from hookline.hooks.outcome import NOT_APPLIED, SILENT, ActionError, FailureKind, Note, NotePlace, Outcome
from hookline.hooks.protocols import May
from hookline.hooks.templates import as_text
from hookline.hooks.tool_input import field_value
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_logger

_log = lazy_logger("hookline")

NOTIFY_CHANGE_TOOL: Final = "lsp.notify_change"
DIAGNOSTICS_TOOL: Final = "lsp.diagnostics"
CHANNEL: Final = "diagnostics"
_RESULT_PATH: Final[FactPath] = ("tool", "result")
_MAX_FILE_BYTES: Final = 2_000_000  # larger files are not checked
_MAX_DIAGNOSTICS: Final = 100  # diagnostics in the text
_HEADING: Final = "[Diagnostics]"
_DIAGNOSTICS_KEYS: Final = ("diagnostics", "errors")


@dataclass(frozen=True, slots=True)
class Diagnose:
    """Sends the file to the language server, and its diagnostics to the agent and to the people who watch.

    The diagnostics are added to the tool's result: at the end of a text, under `diagnostics` in a mapping, as a note
    next to anything else. Files outside the workspace are never read.
    """

    path_fields: tuple[str, ...] = ("path", "file_path")
    content_fields: tuple[str, ...] = ("content",)
    publish: bool = True
    inject: bool = True
    read_from_disk: bool = True
    instant = False
    constant = None
    label = "the action diagnose"

    @property
    def may(self) -> May:
        return May.CHANGE | May.NOTES if self.inject else May.NOTHING

    def changes(self) -> tuple[FactPath, ...]:
        return (_RESULT_PATH,) if self.inject else ()

    def reads(self) -> tuple[FactPath, ...]:
        fields = (*self.path_fields, *self.content_fields)
        return (*(("tool", "input", field) for field in fields), _RESULT_PATH, ("workspace",))

    def describe(self) -> Iterator[tuple[str, str]]:
        content = [*self.content_fields, *(("the file",) if self.read_from_disk else ())]
        said = f"the path is in {' or '.join(self.path_fields)}, the content in {' or '.join(content)}"
        tells = (("the result", self.inject), ("watchers", self.publish))
        yield "diagnose", f"{said}; to {' and '.join(who for who, wanted in tells if wanted) or 'nobody'}"

    async def run(self, event: Event, host: Host) -> Outcome:
        path = _first_text(event, self.path_fields)
        if not path or event.read(("tool", "ok")) is False:
            return NOT_APPLIED
        content = _first_text(event, self.content_fields)
        if content is None:
            content = _read_workspace_file(path, event) if self.read_from_disk else None
        if content is None:
            return NOT_APPLIED
        answer = await _call_tool(host, NOTIFY_CHANGE_TOOL, {"path": path, "content": content})
        if not (self.inject or self.publish):
            return SILENT
        if not isinstance(answer, dict) or answer.keys().isdisjoint(_DIAGNOSTICS_KEYS):
            answer = await _call_tool(host, DIAGNOSTICS_TOOL, {"path": path})
        found = _diagnostics_in(answer)
        lines = _format_diagnostics(path, found)
        if self.publish:
            await _publish_diagnostics(host, path, found, lines)
        return _inject_diagnostics(event, f"{_HEADING}\n" + "\n".join(lines)) if self.inject and lines else SILENT


def _first_text(event: Event, fields: tuple[str, ...]) -> str | None:
    values = (field_value(event, (field,)) for field in fields)
    return next((value for value in values if isinstance(value, str)), None)


def _read_workspace_file(path: str, event: Event) -> str | None:
    """The text of a regular file inside the workspace, after resolving links; None for anything else."""
    workspace = event.read(("workspace",))
    if not isinstance(workspace, str) or not workspace or "\0" in path:
        return None
    root = os.path.realpath(workspace)
    real = os.path.realpath(os.path.join(root, path))
    if os.path.commonpath((root, real)) != root:
        _log.warning("[%s] %s is outside the workspace and is not read", current_hook_id(), path[:200])
        return None
    try:
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(real, flags), "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return None
            data = file.read(_MAX_FILE_BYTES + 1)
    except (OSError, ValueError):
        return None
    return data.decode("utf-8", "replace") if len(data) <= _MAX_FILE_BYTES else None


async def _call_tool(host: Host, tool: str, input: dict[str, Any]) -> Any:
    result = await host.call_tool(tool, input)
    if not result.ok:
        raise ActionError(FailureKind.RAISED, f"{tool}: {describe_result(result)}"[:500])
    return result.content


async def _publish_diagnostics(host: Host, path: str, found: list[Any], lines: list[str]) -> None:
    level = "warning" if lines else "info"
    message = "\n".join(lines) or f"{path}: nothing to report"
    try:
        await host.publish(
            Notice(CHANNEL, message, path, level, hook=current_hook_id(), data={"path": path, "diagnostics": found})
        )
    except UnavailableError:
        _log.debug("[%s] no listener for %s", current_hook_id(), CHANNEL)


def _inject_diagnostics(event: Event, text: str) -> Outcome:
    result = event.read(_RESULT_PATH)
    changes: Changes
    if isinstance(result, str) and result:
        changes = ((_RESULT_PATH, f"{result}\n{text}"),)
    elif result is MISSING or result is None or result == "":
        changes = ((_RESULT_PATH, text),)
    elif isinstance(result, dict) and CHANNEL not in result:
        changes = (((*_RESULT_PATH, CHANNEL), text),)
    else:
        return Outcome(notes=(Note(text, place=NotePlace.RESULT),))
    return Outcome(changes=changes)


def _diagnostics_in(answer: Any) -> list[Any]:
    """The diagnostics of a language server's answer, in any of the usual formats."""
    if isinstance(answer, dict):
        answer = answer.get("diagnostics") or answer.get("errors") or []
    if isinstance(answer, str):
        return answer.splitlines()
    return answer if isinstance(answer, list) else []


def _format_diagnostics(path: str, found: list[Any]) -> list[str]:
    """One line for each."""
    lines = [_format_diagnostic(path, each) for each in found[:_MAX_DIAGNOSTICS]]
    return [*lines, f"… and {len(found) - _MAX_DIAGNOSTICS} more"] if len(found) > _MAX_DIAGNOSTICS else lines


def _format_diagnostic(path: str, found: Any) -> str:
    if not isinstance(found, dict) or not isinstance(found.get("message"), str):
        return as_text(found)
    code = f" ({as_text(found['code'])})" if found.get("code") else ""
    parts = (f"{path}{_format_position(found)}", as_text(found.get("severity")), found["message"] + code)
    return ": ".join(part for part in parts if part)


def _format_position(found: dict[str, Any]) -> str:
    """A `line` counts from 1; the range of the language server protocol counts from 0."""
    if isinstance(found.get("line"), int):
        return f":{found['line']}"
    start = found["range"].get("start") if isinstance(found.get("range"), dict) else None
    line = start.get("line") if isinstance(start, dict) else None
    return f":{line + 1}" if isinstance(line, int) else ""
