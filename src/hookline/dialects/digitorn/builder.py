"""Five actions for apps that build apps: they keep a plan-fix-deploy loop going through files in `_state/`.

They are registered like third-party actions. They read and write files inside the workspace only.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from hookline.config.problem import Problem, Severity
from hookline.config.reader import read_text
from hookline.dialects.dialect import recognise_dialect
from hookline.errors import UnavailableError
from hookline.extensions import ACTION_REGISTRY, CONDITION_REGISTRY, register_action
from hookline.hooks.actions.call_tool import describe_result
from hookline.hooks.event import MISSING, Event
from hookline.hooks.host import Host, ToolResult
from hookline.hooks.outcome import NOT_APPLIED, ActionError, FailureKind, Note, NotePlace, Outcome
from hookline.hooks.protocols import May
from hookline.hooks.tool_input import field_value
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import VOCABULARIES
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import json, tempfile

CHECK_TOOL: Final = "app.check"
COMPILE_FILE: Final = "compile.json"
TESTS_FILE: Final = "tests.json"
REMINDERS_FILE: Final = "reminders.json"
_MAX_FILE_BYTES: Final = 2_000_000  # larger files are not checked
_MAX_ERRORS: Final = 20  # shown to the agent
_GROUND_TRUTH_HEADING: Final = "# Ground truth"


@dataclass(frozen=True)
class NoParams:
    """An action that takes no params."""


@dataclass(frozen=True)
class SmokeTestParams:
    message: str = "Hello! Please answer with one short sentence."
    via: str = "app.send_message"  # the tool that sends the message; it also gets `extra`
    deploy: str = "*deploy*"  # a glob: the tools that deploy
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ReminderParams:
    at_most: int
    message: str


@dataclass(frozen=True)
class Phase6Params(ReminderParams):
    at_most: int = 3
    message: str = "The app was deployed, but no smoke test has passed yet. Test it, and fix what the test shows."
    deploy: str = "*deploy*"  # a glob: the tools that deploy


@dataclass(frozen=True)
class CompileFixParams(ReminderParams):
    at_most: int = 5
    message: str = "The app's YAML does not compile. Fix these errors before anything else:"


@register_action("compile_yaml", params=NoParams, may=May.NOTES)
async def compile_yaml(params: NoParams, event: Event, host: Host) -> Outcome:
    """Checks a hooks or app file that a tool just wrote, and tells the agent what is wrong with it."""
    state, path = StateDirectory.for_event(event), field_value(event, ("path",))
    if state is None or not isinstance(path, str) or not path.lower().endswith((".yaml", ".yml")):
        return NOT_APPLIED
    if event.read(("tool", "ok")) is False:
        known = state.read_mapping(COMPILE_FILE)
        if known.get("status") == "error":
            state.write(COMPILE_FILE, {**known, "status": "fixing"})
        return NOT_APPLIED
    problems = _check_file(state, path)
    if problems is None:
        return NOT_APPLIED
    found = [str(problem) for problem in problems if problem.severity is Severity.ERROR]
    errors = list(dict.fromkeys([*found, *await _errors_of_host(path, host)]))
    status = "error" if errors else "ok"
    state.write(COMPILE_FILE, {"status": status, "errors": errors, "error_count": len(errors)})
    if not errors:
        state.reset_reminder("compile_fix")
        return Outcome()
    return Outcome(notes=(Note(_format_errors(f"{path} does not compile:", errors), place=NotePlace.RESULT),))


def _check_file(state: StateDirectory, path: str) -> tuple[Problem, ...] | None:
    """Every problem of the file; None if it cannot be read or is not a hooks file of any dialect."""
    text = state.read_file(path)
    if text is None:
        return None
    document, problems = read_text(text, path)
    if document is None:
        return problems
    known = recognise_dialect(document)
    if not isinstance(known, Problem):
        return known.load(document).problems
    return None if known.code == "unknown-dialect" else (known,)


async def _errors_of_host(path: str, host: Host) -> list[str]:
    """What only a host with apps can say: about the agents, servers and triggers of the file."""
    try:
        result = await host.call_tool(CHECK_TOOL, {"path": path})
    except UnavailableError:
        return []
    errors = result.content.get("errors") if result.ok and isinstance(result.content, dict) else None
    return [str(error) for error in errors] if isinstance(errors, list) else []


@register_action("auto_test_deploy", params=SmokeTestParams, may=May.NOTES)
async def auto_test_deploy(params: SmokeTestParams, event: Event, host: Host) -> Outcome:
    """Sends one smoke message after a deploy that succeeded."""
    state, names = StateDirectory.for_event(event), ToolName(VOCABULARIES["digitorn"]).texts(event)
    deployed = any(fnmatchcase(name, params.deploy) for name in names)
    if state is None or not deployed or event.read(("tool", "ok")) is False:
        return NOT_APPLIED
    try:
        result = await host.call_tool(params.via, {**params.extra, "message": params.message})
    except UnavailableError as missing:
        result = ToolResult(None, False, str(missing))
    answer, call_key = describe_result(result)[:2_000], _call_key(event, event.read(("tool", "id")))
    test = {
        "time": datetime.fromtimestamp(host.clock.wall(), UTC).isoformat(timespec="seconds"),
        "deploy": names[0],
        "message": params.message,
        "passed": result.ok,
        "answer" if result.ok else "error": answer,
        **({} if call_key is None else {"call": call_key}),
    }
    tests = state.read_list(TESTS_FILE)
    state.write(TESTS_FILE, [*tests, test])
    state.reset_reminder("phase6")
    text = f"Smoke test after {names[0]} {'passed' if result.ok else 'failed'}: {answer}"
    return Outcome(notes=(Note(text, place=NotePlace.RESULT),))


@register_action("prefetch_ground_truth", params=NoParams, may=May.NOTES)
async def prefetch_ground_truth(params: NoParams, event: Event, host: Host) -> Outcome:
    """On the first turn, lists in the system prompt what an app can be built with."""
    turn, messages = event.read(("turn", "number")), event.read(("messages",))
    if turn not in (MISSING, None, 0) or _GROUND_TRUTH_HEADING in str(messages):
        return NOT_APPLIED
    return Outcome(notes=(Note(ground_truth(host.tool_names()), place=NotePlace.SYSTEM),))


def ground_truth(tools: Iterable[str]) -> str:
    """Of the tools, those that belong to a module."""
    from hookline.dialects.digitorn.actions import ACTIONS as OWN_ACTIONS
    from hookline.dialects.digitorn.conditions import CONDITIONS as OWN_CONDITIONS
    from hookline.dialects.digitorn.dialect import EVENTS
    from hookline.dialects.digitorn.templates import NUMBER_FACTS, PLACEHOLDERS

    modules = sorted({name for name in tools if "." in name})
    templates = [*(f"{{{{{name}}}}}" for name in PLACEHOLDERS), *(f"{{{name}}}" for name in NUMBER_FACTS)]
    return "\n".join(
        (
            _GROUND_TRUTH_HEADING,
            f"Events: {', '.join(EVENTS)}",
            f"Conditions: {', '.join((*OWN_CONDITIONS, *CONDITION_REGISTRY.names()))}",
            f"Actions: {', '.join((*OWN_ACTIONS, *ACTION_REGISTRY.names()))}",
            f"Modules: {', '.join(modules) or 'none'}",
            f"Templates: {', '.join(templates)}",
            "Triggers: cron, file, http",
            "Example:",
            _EXAMPLE,
        )
    )


_EXAMPLE: Final = """runtime:
  hooks:
    - id: no-deletes
      on: tool_start
      condition: {type: tool_name, match: "filesystem.delete*"}
      action: {type: gate, reason: Files are not deleted here}"""


@register_action("enforce_phase6", params=Phase6Params, may=May.NOTES)
async def enforce_phase6(params: Phase6Params, event: Event, host: Host) -> Outcome:
    """Reminds the agent after a deploy while the last test failed or there is none."""
    state = StateDirectory.for_event(event)
    if state is None:
        return NOT_APPLIED
    tests = [test for test in state.read_list(TESTS_FILE) if isinstance(test, dict)]
    has_passed = _has_passed(tests, event, params.deploy)
    return NOT_APPLIED if has_passed else state.remind("phase6", params, params.message)


def _has_passed(tests: list[dict[str, Any]], event: Event, deploy: str) -> bool:
    """Whether the last deploy in the messages has a test that passed, or there is none and the last test passed."""
    last = _last_deploy(event, deploy)
    if not tests:
        return last is None
    if last is None or "call" not in tests[-1]:  # a test of another program names no call
        return tests[-1].get("passed") is True
    call_key = _call_key(event, last.get("tool_call_id"))
    tests_of_it = [test for test in tests if call_key is None or test.get("call") == call_key]
    return bool(tests_of_it) and tests_of_it[-1].get("passed") is True


def _last_deploy(event: Event, deploy: str) -> dict[str, Any] | None:
    """The message with the result of the last deploy that did not fail."""
    messages = event.read(("messages",))
    results = [each for each in messages if isinstance(each, dict)] if isinstance(messages, list) else []
    deploys = (
        each
        for each in reversed(results)
        if each.get("role") == "tool"
        and fnmatchcase(str(each.get("name")), deploy)
        and not str(each.get("content") or "").startswith("Error:")
    )
    return next(deploys, None)


def _call_key(event: Event, call: Any) -> str | None:
    """A call's id with that of its thread: ids repeat in other threads."""
    thread = event.read(("thread", "id"))
    return f"{thread}/{call}" if isinstance(thread, str) and isinstance(call, str) else None


@register_action("enforce_compile_fix", params=CompileFixParams, may=May.NOTES)
async def enforce_compile_fix(params: CompileFixParams, event: Event, host: Host) -> Outcome:
    """Reminds the agent while the YAML has errors and it has not tried to write the file again."""
    state = StateDirectory.for_event(event)
    known = state.read_mapping(COMPILE_FILE) if state is not None else {}
    if state is None or known.get("status") != "error":
        return NOT_APPLIED
    errors = known.get("errors")
    listed = [str(error) for error in errors] if isinstance(errors, list) else []
    return state.remind("compile_fix", params, _format_errors(params.message, listed))


def _format_errors(head: str, errors: list[str]) -> str:
    more = [f"… and {len(errors) - _MAX_ERRORS} more"] if len(errors) > _MAX_ERRORS else []
    return "\n".join((head, *errors[:_MAX_ERRORS], *more))


class StateDirectory:
    """The files in a workspace's `_state/`."""

    def __init__(self, workspace: Path) -> None:
        self.workspace = workspace

    @classmethod
    def for_event(cls, event: Event) -> StateDirectory | None:
        workspace = event.read(("workspace",))
        if not isinstance(workspace, str) or not os.path.isdir(workspace):
            return None
        return cls(Path(os.path.realpath(workspace)))

    def read_mapping(self, name: str) -> dict[str, Any]:
        value = self._read_json(name)
        return value if isinstance(value, dict) else {}

    def read_list(self, name: str) -> list[Any]:
        value = self._read_json(name)
        return value if isinstance(value, list) else []

    def write(self, name: str, value: Any) -> None:
        """Atomic. Refuses a `_state` that is a link."""
        directory = self.workspace / "_state"
        try:
            directory.mkdir(exist_ok=True)
            if os.path.realpath(directory) != str(directory):
                raise ActionError(FailureKind.RAISED, "_state is a link; it must be a directory of the workspace")
            handle, temporary = tempfile.mkstemp(dir=directory, prefix=f".{name}.")
            with open(handle, "w", encoding="utf-8") as file:
                json.dump(value, file, ensure_ascii=False, indent=2)
            os.replace(temporary, directory / name)
        except OSError as error:
            raise ActionError(FailureKind.RAISED, f"_state/{name} cannot be written: {error.strerror}") from error

    def remind(self, what: str, params: ReminderParams, text: str) -> Outcome:
        counts = self.read_mapping(REMINDERS_FILE)
        count = counts.get(what)
        sent = count if isinstance(count, int) else 0
        if sent >= params.at_most:
            return NOT_APPLIED
        self.write(REMINDERS_FILE, {**counts, what: sent + 1})
        return Outcome(notes=(Note(text, place=NotePlace.LAST_USER),))

    def reset_reminder(self, what: str) -> None:
        counts = self.read_mapping(REMINDERS_FILE)
        if counts.pop(what, None) is not None:
            self.write(REMINDERS_FILE, counts)

    def read_file(self, path: str) -> bytes | None:
        """A file inside the workspace after links are resolved; None for anything else."""
        if "\0" in path:
            return None
        real = os.path.realpath(self.workspace / path)
        if os.path.commonpath((self.workspace, real)) != str(self.workspace) or not os.path.isfile(real):
            return None
        try:
            with open(real, "rb") as file:
                data = file.read(_MAX_FILE_BYTES + 1)
        except OSError:
            return None
        return data if len(data) <= _MAX_FILE_BYTES else None

    def _read_json(self, name: str) -> Any:
        """None if the file is missing or damaged: the state then starts from scratch."""
        text = self.read_file(f"_state/{name}")
        try:
            return None if text is None else json.loads(text)
        except (ValueError, RecursionError):
            return None
