"""The cline dialect: the hooks of Cline, programs named after events in `.clinerules/hooks/`, for every other agent."""

from __future__ import annotations

import os.path
import shlex
from collections.abc import Iterable
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.problem import Problem, Severity
from hookline.dialects.agent_files.format import (
    FAILURE_OUTCOME,
    AgentFormat,
    HandlerType,
    Layout,
    Matching,
    define_format,
)
from hookline.dialects.cline_names import ONLY_IN_CLINE, is_hook, named_event
from hookline.dialects.conversion import NotExpressible, write_each
from hookline.dialects.dialect import Excerpt, LoadResult, WriteResult
from hookline.dialects.json_schema import describe
from hookline.dialects.settings_json import is_launcher_text
from hookline.formatting import file_label
from hookline.hooks.actions.program_result import ResultFormat
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.conditions.logic import ALWAYS
from hookline.hooks.hook import Hook, Origin
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.templates import Template, escape_braces, parse_template

_TOOL_STDIN: Final = {"toolName": "{{tool.name}}", "tool": "{{tool.name}}", "parameters": "{{tool.input | texts}}"}
"""Cline's pages have the name under either key, and hooks read either."""
_CALL_STDIN: Final = {"id": "{{tool.id | or_empty}}", "name": "{{tool.name}}", "input": "{{tool.input}}"}
_ITERATION_STDIN: Final = {"iteration": "{{turn.number | or 0}}"}
_TASK_STDIN: Final = {"taskMetadata": {"taskId": "{{session.id | or_empty}}"}}
_INTERPRETERS: Final = {
    ".sh": ("bash",),
    ".bash": ("bash",),
    ".py": ("python3",),
    ".js": ("node",),
    ".mjs": ("node",),
    ".cjs": ("node",),
    ".ts": ("npx", "tsx"),
    ".ps1": ("pwsh", "-NoProfile", "-File"),
}
_EXAMPLE: Final = "#!/bin/sh\necho '{\"cancel\": false}'\n"
_FOLDERS: Final = (".clinerules", ".cline", "Documents")

FORMAT: Final = define_format(
    AgentFormat(
        name="cline",
        title="Cline",
        layout=Layout.FLAT,
        handlers={"command": HandlerType(keys=("program",), required=("program",))},
        default_type="command",
        command_keys=("program",),
        timeout_keys=(),
        matching=Matching.NAMES,
        result=ResultFormat.CLINE,
        timeout=timedelta(seconds=120),
        event_key="hookName",  # as the extension and the documentation have it; the CLI says tool_call, agent_start …
        common_stdin={
            "clineVersion": "",
            "timestamp": "{{time | utc}}",
            "taskId": "{{session.id | or_empty}}",
            "sessionContext": {"rootSessionId": "{{session.id | or_empty}}"},
            "workspaceRoots": ["{{workspace}}"],
            "workspaceInfo": {"rootPath": "{{workspace}}"},
            "userId": "{{user.name | or unknown}}",
            "agent_id": "{{agent.id | or_fact session.id | or_empty}}",
            "parent_agent_id": None,
            "model": {"provider": "unknown", "slug": "{{session.model | or unknown}}"},
        },
        stdin={
            "TaskStart": {"taskStart": _TASK_STDIN},
            "TaskResume": {"taskResume": _TASK_STDIN},
            "UserPromptSubmit": {
                "userPromptSubmit": {"prompt": "{{prompt | or_empty}}", "attachments": []},
            },
            "PreToolUse": {
                **_ITERATION_STDIN,
                "tool_call": _CALL_STDIN,
                "preToolUse": _TOOL_STDIN,
            },
            "PostToolUse": {
                **_ITERATION_STDIN,
                "tool_result": {
                    **_CALL_STDIN,
                    "output": "{{tool.result | or null}}",
                    "error": "{{tool.error}}",
                    "durationMs": 0,
                    "startedAt": "{{time | utc}}",
                    "endedAt": "{{time | utc}}",
                },
                "postToolUse": {
                    **_TOOL_STDIN,
                    "result": "{{result.text | or_empty}}",
                    "success": "{{tool.ok | or true}}",
                    "executionTimeMs": 0,
                },
            },
            "PreCompact": {"preCompact": {"trigger": "{{trigger | or auto}}"}},
            "Notification": {
                "notification": {"message": "{{notification.message | or_empty}}"},
            },
            "TaskComplete": {
                **_ITERATION_STDIN,
                "turn": {"outputText": "{{stop.message | or_empty}}", "status": "completed"},
                "taskComplete": _TASK_STDIN,
            },
            "SessionShutdown": {"reason": "{{session.reason | or_empty}}"},
        },
    )
)


class ClineDialect:
    name = FORMAT.name
    has_app_keys = False

    def recognises(self, document: Document) -> bool:
        value = document.value
        return isinstance(value, dict) and value.keys() == {"program"} and is_hook(document.file)

    def load(self, document: Document) -> LoadResult:
        """The file is a program, and its name is the event. hookline's own program is not a hook."""
        event_name, value = _event_name(document.file), document.value
        text = value.get("program") if isinstance(value, dict) else None
        if not isinstance(text, str) or is_launcher_text(text):
            return LoadResult(())
        if event_name is None:
            return LoadResult((), (_name_problem(document.file),))
        return LoadResult((_build_hook(document, event_name, text),))

    def schema(self) -> dict[str, Any]:
        return {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": f"urn:hookline:{self.name}",
            "title": "Cline: a program named after an event",
            "type": "object",
            "properties": {"program": describe("The text of the program.", {"type": "string"}, _EXAMPLE)},
            "examples": [{"program": _EXAMPLE}],
            "$defs": {},
        }

    def write(self, hooks: Iterable[Hook]) -> WriteResult:
        def write(hook: Hook, losses: list[str]) -> None:
            raise NotExpressible("anything: its hooks are programs, not a document")

        return WriteResult({}, "json", write_each(hooks, write))

    def excerpt(self, hook: Hook) -> Excerpt | None:
        """The program stays where it is; its first line says what runs it."""
        if not isinstance(hook.then, RunProgram):
            return None
        *interpreter, _ = (part.source for part in hook.then.program.argv)
        value, file = {"program": f"#!{shlex.join(interpreter)}\n"}, hook.origin.file
        read = self.load(Document(file, "", value)).hooks
        return Excerpt(value, file) if [each.then for each in read] == [hook.then] else None


DIALECT: Final = ClineDialect()


def _event_name(file: str) -> str | None:
    stem = PurePath(file).stem.lower()
    return next((name for name in FORMAT.events if name.lower() == stem), None)


def _name_problem(file: str) -> Problem:
    path, meant = PurePath(file), named_event(file)
    if meant in ONLY_IN_CLINE:
        what = f"Cline runs {path.name}; other agents have no such event, so it does not run there."
        return Problem("unknown-event", file, 1, what, severity=Severity.WARNING)
    hint = "" if meant is None else f"Rename it to {meant}{path.suffix}."
    return Problem("unknown-event", file, 1, f"there is no event {path.stem!r}, so nobody runs this program.", hint)


def _build_hook(document: Document, event_name: str, text: str) -> Hook:
    event = FORMAT.events[event_name]
    program = CommandTemplate(
        argv=(*map(_constant, _interpreter(document.file, text)), _program_path(document.file)),
        stdin=FORMAT.stdin_template(event_name),
    )
    return Hook(
        id=file_label(document.file),
        event=event,
        when=ALWAYS,
        then=RunProgram(
            program, FORMAT.result_parser(event_name), FORMAT.timeout, hold_if_broken=event == "tool.before"
        ),
        origin=Origin(document.file, 1, FORMAT.name, event_name, FORMAT.wording),
        group=FORMAT.name,
        timeout=FORMAT.timeout,
        on_error=FAILURE_OUTCOME,
    )


def _interpreter(file: str, text: str) -> tuple[str, ...]:
    """From its first line, else from its suffix; without either, the system's shell."""
    first = text.partition("\n")[0]
    if first.startswith("#!"):
        try:
            words = tuple(shlex.split(first[2:]))
        except ValueError:
            words = ()
        if words:
            return words
    return _INTERPRETERS.get(PurePath(file).suffix.lower(), ("sh",))


def _program_path(file: str) -> Template:
    """In the project, wherever the session's own directory is; a user's own program is below the home directory."""
    if file.startswith("~/") or os.path.isabs(file):
        return _constant(os.path.expanduser(file))
    parts = PurePath(file).parts
    start = next((number for number, part in enumerate(parts) if part in _FOLDERS), 0)
    return parse_template(
        "{{workspace}}/" + escape_braces("/".join(parts[start:])), PlaceholderResolver(FORMAT.vocabulary)
    )


def _constant(text: str) -> Template:
    return parse_template(escape_braces(text), PlaceholderResolver(FORMAT.vocabulary))
