"""Hooks of each dialect that write down what they are told: a real one for every event that the dialect has."""

from __future__ import annotations

import asyncio
import json
import logging
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from hookline.dialects.standard_agents import hooks_of
from hookline.extensions import register_action
from hookline.hooks.event import Event
from hookline.hooks.events import BACKGROUND_EVENTS, EVENTS, events_by_name
from hookline.hooks.hook import Hook
from hookline.hooks.host import Host
from hookline.hooks.protocols import May
from hookline.project import load_text
from hookline.standard_agents import Definitions, ThreadState, collecting, define_agent, define_hook
from runtime.session_scenario import APP, ScenarioStep, run_scenario

DIALECTS: Final = ("native", "flo", "standard_agents", "microai", "ai_agents", "digitorn", "claude_code")


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """What one hook was told, once; `name` is the event in its dialect's words."""

    name: str
    event: str
    agent: str
    told: dict[str, Any]


@dataclass(slots=True)
class DialectRecorder:
    """Hooks, and after a run what each was told, in the order in which it was asked."""

    hooks: tuple[Hook, ...]
    names: dict[str, str]  # hook id → its event in the dialect's words
    records: Callable[[], dict[str, list[dict[str, Any]]]]  # by that name
    definitions: Definitions | None = None
    handler: logging.Handler | None = None


def event_names(dialect: str) -> dict[str, str]:
    """The dialect's events, by its own names for them, aliases included."""
    return (
        {name: name for name in EVENTS if name not in BACKGROUND_EVENTS}
        if dialect == "native"
        else events_by_name(dialect)
    )


@cache
def record_scenario(dialect: str) -> tuple[ScenarioStep | RecordedEvent, ...]:
    """The story as the hooks of this dialect were told it. Once for each dialect."""
    with TemporaryDirectory(prefix=f"story-{dialect}-") as directory:
        workspace = Path(directory)
        (workspace / "told").mkdir()
        recorder = _RECORDERS[dialect](workspace)
        with _attached_handler(recorder.handler):
            happened = asyncio.run(asyncio.wait_for(run_scenario(workspace, recorder.hooks, recorder.definitions), 60))
        records = {name: iter(told) for name, told in recorder.records().items()}
    story: list[ScenarioStep | RecordedEvent] = []
    for each in happened:
        if isinstance(each, ScenarioStep):
            story.append(each)
        elif each.hook in recorder.names:
            name = recorder.names[each.hook]
            story.append(RecordedEvent(name, each.event, each.agent, next(records[name])))
    left = {name: list(told) for name, told in records.items()}
    assert not any(left.values()), f"somebody was told more than the loop fired: {left}"
    return tuple(story)


def recorded_events(dialect: str) -> list[RecordedEvent]:
    return [each for each in record_scenario(dialect) if isinstance(each, RecordedEvent)]


# What programs read on stdin


def _programs(workspace: Path, dialect: str) -> DialectRecorder:
    """`cat` for each event, into a file of its own: what came on stdin, a line each."""
    file, text = _PROGRAM_FILES[dialect](workspace, list(event_names(dialect)))
    book = load_text(text, file, dialect)
    assert not book.problems, book.problems
    return DialectRecorder(
        book.hooks, {hook.id: _named(hook, dialect) for hook in book.hooks}, lambda: _lines(workspace)
    )


def _named(hook: Hook, dialect: str) -> str:
    """Settings files do not name their hooks: the id is `.microai/settings.json:PreToolUse[0]`."""
    return hook.id if dialect == "native" else hook.id.partition(":")[2].partition("[")[0]


def _cat(workspace: Path, name: str) -> str:
    return f"{{ cat; echo; }} >> '{workspace}/told/{name}'"


def _lines(workspace: Path) -> dict[str, list[dict[str, Any]]]:
    return {
        path.name: [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
        for path in (workspace / "told").iterdir()
    }


def _native_file(workspace: Path, names: list[str]) -> tuple[str, str]:
    hooks = [
        {"id": name, "on": name, "then": {"run": {"literal": _cat(workspace, name)}, "reads": "never"}}
        for name in names
    ]
    return "hookline.yaml", json.dumps({"hooks": hooks})


def _groups_file(directory: str) -> Callable[[Path, list[str]], tuple[str, str]]:
    def made(workspace: Path, names: list[str]) -> tuple[str, str]:
        hooks = {name: [{"hooks": [{"type": "command", "command": _cat(workspace, name)}]}] for name in names}
        return f"{directory}/settings.json", json.dumps({"hooks": hooks})

    return made


_PROGRAM_FILES: Final = {
    "native": _native_file,
    "ai_agents": _groups_file(".ai_agents"),
    "claude_code": _groups_file(".claude"),
}


# What programs find in their environment

_VARIABLES: Final = (
    "TOOL_NAME", "INPUT", "OUTPUT", "PROMPT", "TIMESTAMP", "SESSION_ID", "USER_NAME", "PROJECT_ROOT", "PLATFORM",
    "AGENT_NAME",
)  # fmt: skip


def _microai(workspace: Path) -> DialectRecorder:
    hooks = {
        name: [{"command": f"{{ env -0; printf '\\1'; cat; printf '\\2'; }} >> '{workspace}/told/{name}'"}]
        for name in event_names("microai")
    }
    book = load_text(json.dumps({"hooks": hooks}), ".microai/settings.json")
    assert not book.problems
    names = {hook.id: _named(hook, "microai") for hook in book.hooks}
    return DialectRecorder(book.hooks, names, lambda: _environments(workspace))


def _environments(workspace: Path) -> dict[str, list[dict[str, Any]]]:
    found = {}
    for path in (workspace / "told").iterdir():
        records = path.read_text("utf-8").split("\2")[:-1]
        found[path.name] = [_environment(record) for record in records]
    return found


def _environment(record: str) -> dict[str, Any]:
    variables, _, stdin = record.partition("\1")
    held = dict(line.split("=", 1) for line in variables.split("\0") if "=" in line)
    return {**{name: held[name] for name in _VARIABLES if name in held}, "stdin": json.loads(stdin)}


# What JavaScript finds defined

_SCRIPT: Final = """
const told = {};
for (const [name, read] of [
  ['type', () => type], ['agentId', () => agentId], ['toolName', () => toolName], ['toolInput', () => toolInput],
  ['toolResult', () => toolResult], ['prompt', () => prompt], ['stopReason', () => stopReason],
]) {
  try { told[name] = read(); } catch (error) { /* not of this event */ }
}
log(JSON.stringify(told));
"""


def _flo(workspace: Path) -> DialectRecorder:
    rules = {name: [{"id": name, "action": "script", "script": _SCRIPT}] for name in event_names("flo")}
    book = load_text(json.dumps({"hooks": rules}), "hub.json")
    assert not book.problems
    log = _Log(json.loads)
    return DialectRecorder(book.hooks, {name: name for name in rules}, lambda: log.records, handler=log)


class _Log(logging.Handler):
    """The lines `[hook] …` of the log that can be read as what a hook was told."""

    def __init__(self, read: Callable[[str], dict[str, Any] | None]) -> None:
        super().__init__(logging.INFO)
        self._read = read
        self.records: dict[str, list[dict[str, Any]]] = defaultdict(list)

    def emit(self, record: logging.LogRecord) -> None:
        hook, _, said = record.getMessage().removeprefix("[").partition("] ")
        told = self._read(said)
        if told is not None:
            self.records[hook].append(told)


class _attached_handler:
    """While it is open, the log reaches the handler."""

    def __init__(self, handler: logging.Handler | None) -> None:
        self._handler = handler
        self._log = logging.getLogger("hookline")

    def __enter__(self) -> None:
        self._level = self._log.level
        if self._handler is not None:
            self._log.addHandler(self._handler)
            self._log.setLevel(logging.INFO)

    def __exit__(self, *_: object) -> None:
        if self._handler is not None:
            self._log.removeHandler(self._handler)
            self._log.setLevel(self._level)


# What an action of an app file can render, and what one of somebody's own is given

_DIGITORN: Final = {
    "turn": "{turn}", "tokens": "{tokens}", "tools": "{tools}", "messages": "{messages}", "max_turns": "{max_turns}",
    "tool_name": "{{tool.name}}", "tool_params": "{{tool.params}}", "tool_result": "{{tool.result}}",
    "tool_error": "{{tool.error}}",
}  # fmt: skip
_KEPT: Final = ("session", "agent", "error", "approval", "trigger", "subagent", "messages", "context")


_BETWEEN: Final = " ␞ "


def _digitorn(workspace: Path) -> DialectRecorder:
    """Two actions for each event: `log` with all that can be rendered, and one that is given the event itself."""
    states: dict[str, list[dict[str, Any]]] = defaultdict(list)

    @register_action("keep_the_state", may=May.NOTHING)
    async def keep(params: dict[str, Any], event: Event, host: Host) -> None:
        state = {key: event.facts[key] for key in _KEPT if key in event.facts}
        states[params["name"]].append(json.loads(json.dumps(state)))

    words = _BETWEEN.join(f"{name}={text}" for name, text in _DIGITORN.items())
    hooks = [
        {
            "id": name,
            "on": name,
            "action": {
                "type": "chain",
                "actions": [{"type": "keep_the_state", "name": name}, {"type": "log", "message": words}],
            },
        }
        for name in event_names("digitorn")
    ]
    book = load_text(json.dumps({"runtime": {"hooks": hooks}}), "digitorn.yaml")
    assert not book.problems, book.problems
    log = _Log(_rendered)
    return DialectRecorder(
        book.hooks, {name: name for name in event_names("digitorn")}, lambda: _merge_records(log, states), handler=log
    )


def _rendered(line: str) -> dict[str, Any] | None:
    parts = line.split(_BETWEEN)
    return dict(part.split("=", 1) for part in parts) if len(parts) == len(_DIGITORN) else None


def _merge_records(log: _Log, states: dict[str, list[dict[str, Any]]]) -> dict[str, list[dict[str, Any]]]:
    return {
        name: [{**rendered, "state": state} for rendered, state in zip(log.records[name], held, strict=True)]
        for name, held in states.items()
    }


# What Python functions are called with


def _standard_agents(workspace: Path) -> DialectRecorder:
    told: dict[str, list[dict[str, Any]]] = defaultdict(list)
    names = tuple(event_names("standard_agents"))
    with collecting() as definitions:
        for name in names:
            define_hook(hook=name, id=f"see_{name}", execute=_recording_function(told[name]))  # type: ignore[call-overload]
        for agent in APP.agents:
            define_agent(name=agent.id, hooks=[f"see_{name}" for name in names])
    loaded = hooks_of(definitions)
    assert not loaded.problems, loaded.problems
    return DialectRecorder(loaded.hooks, {f"see_{name}": name for name in names}, lambda: told, definitions)


def _recording_function(told: list[dict[str, Any]]) -> Callable[..., Any]:
    async def execute(state: ThreadState, *arguments: Any) -> None:
        told.append({"state": _state(state), "arguments": [_plain(each) for each in arguments]})

    return execute


def _plain(argument: Any) -> Any:
    return _state(argument) if isinstance(argument, ThreadState) else argument


def _state(state: ThreadState) -> dict[str, Any]:
    execution = state.execution
    return {
        "thread_id": state.thread_id,
        "agent_id": state.agent_id,
        "user_id": state.user_id,
        "flow_id": execution.flow_id,
        "side": execution.current_side,
        "step": execution.step_count,
        "stopped": execution.stopped,
        "aborted": execution.abort_signal.aborted,
    }


_RECORDERS: Final[dict[str, Callable[[Path], DialectRecorder]]] = {
    "native": lambda workspace: _programs(workspace, "native"),
    "flo": _flo,
    "standard_agents": _standard_agents,
    "microai": _microai,
    "ai_agents": lambda workspace: _programs(workspace, "ai_agents"),
    "digitorn": _digitorn,
    "claude_code": lambda workspace: _programs(workspace, "claude_code"),
}
