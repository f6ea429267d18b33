"""The story as one dialect's hooks were told it, as lines: an event in the dialect's words, and what matters of it.

`PYTHONPATH=tests python -m runtime.golden.lines` writes the files anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hookline.hooks.events import EVENTS
from runtime.event_recorder import RecordedEvent, record_scenario
from runtime.session_scenario import USER, ScenarioStep, value_at

GOLDEN: Final = ("native", "flo", "standard_agents", "microai", "ai_agents", "digitorn")
_TOOL: Final = ("tool.name", "tool.input")
_RESULT: Final = (*_TOOL, "tool.ok", "tool.result", "tool.error")
_MESSAGE: Final = ("message.role", "message.content", "message.tool_calls", "message.tool_call_id")
_OF_NATIVE: Final[dict[str, tuple[str, ...]]] = {
    "session.start": ("session.source",),
    "activation": ("trigger",),
    "prompt.submit": ("prompt",),
    "turn.start": ("turn.number", "execution.step", "messages.-1.role"),
    "history.system": ("system",),
    "history.filter": ("messages.-1.role",),
    "history.request": ("request.messages.0.role", "request.messages.-1.role"),
    "history.compact": ("trigger",),
    "model.error": ("error.code", "error.message"),
    "message.create": _MESSAGE,
    "message.created": _MESSAGE,
    "message.update": ("message.id", "message.updates"),
    "message.updated": ("message.id", "message.content"),
    "tool.before": (*_TOOL, "tool.kind", "tool.id", "turn.number"),
    "approval.request": (*_TOOL, "approval.reason", "approval.hook"),
    "notification": ("notification.type",),
    "tool.succeeded": _RESULT,
    "tool.failed": _RESULT,
    "tool.after": (*_RESULT, "session.tool_calls"),
    "tool.store": _RESULT,
    "subagent.created": ("subagent.agent.id", "subagent.task", "subagent.depth"),
    "subagent.start": ("tool.input",),
    "subagent.end": ("tool.result", "stop.active"),
    "turn.end": ("turn.number", "session.tool_calls"),
    "stop": ("stop.reason", "stop.active", "stop.message"),
    "session.end": ("session.reason",),
}
_MAIN: Final[dict[str, tuple[str, ...]]] = {
    "flo": ("type", "toolName", "toolInput", "toolResult", "prompt", "stopReason"),
    "standard_agents": ("state.step", "state.side", "state.stopped", "arguments"),
    "microai": ("TOOL_NAME", "INPUT", "OUTPUT", "PROMPT", "AGENT_NAME"),
    "ai_agents": ("tool_name", "tool_input", "tool_response", "prompt"),
    "digitorn": ("turn", "tools", "messages", "tool_name", "tool_params", "tool_result", "tool_error"),
}
_ALIASES: Final = {
    name for kind in EVENTS.values() for names in kind.names.values() for name in names[1:]
} - {"PostToolUseFailure"}  # fmt: skip
_OURS: Final = re.compile(r"\b(session|thread|message|flow|call|approval)_[0-9a-f]{12,16}(?![0-9a-f])")
_WORKSPACE: Final = re.compile(r"/[^\s\"',]*/story-\w+-\w+")
_LONGEST: Final = 200


def golden_file(dialect: str) -> Path:
    return Path(__file__).parent / "golden" / f"{dialect}.txt"


def transcript(dialect: str) -> str:
    text = _WORKSPACE.sub("WORKSPACE", "\n".join(_lines(dialect)))
    return _number_ids(text.replace(json.dumps({"user_id": USER})[1:-1], '"user_id": "USER"')) + "\n"


def _lines(dialect: str) -> Iterator[str]:
    for each in record_scenario(dialect):
        if isinstance(each, ScenarioStep):
            yield f"# {each.text}"
        elif dialect != "digitorn" or each.name not in _ALIASES:
            yield _line(dialect, each)


def _line(dialect: str, saw: RecordedEvent) -> str:
    paths = _OF_NATIVE.get(saw.event, ()) if dialect == "native" else _MAIN[dialect]
    told = ((path, value_at(saw.told, path)) for path in paths)
    said = [f"{path}={_short(value)}" for path, value in told if value not in (None, "", [])]
    return " ".join([f"{saw.agent}: {saw.name}", *said])


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = text.replace("\n", "\\n")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _number_ids(text: str) -> str:
    """Ids that are new each time, by the order in which they come: message-1, message-2 …"""
    known: dict[str, str] = {}
    counts: dict[str, int] = {}

    def name(found: re.Match[str]) -> str:
        if found[0] not in known:
            counts[found[1]] = counts.get(found[1], 0) + 1
            known[found[0]] = f"{found[1]}-{counts[found[1]]}"
        return known[found[0]]

    return _OURS.sub(name, text)


if __name__ == "__main__":
    for dialect in GOLDEN:
        golden_file(dialect).write_text(transcript(dialect), "utf-8")
