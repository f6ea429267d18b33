"""All that happens, as one JSON object a line. The keys are a promise; new ones may come."""

from __future__ import annotations

from typing import Any, Final

from hookline.cli.chat.render import applied_accounts, changed_facts
from hookline.engine.decision import Decision
from hookline.runtime.updates import (
    ApprovalAnswered,
    ApprovalRequested,
    DecisionMade,
    ExchangeEnded,
    HistoryCompacted,
    ModelRetry,
    Notification,
    StatusMessage,
    SubagentStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    Update,
)
from hookline.standard_agents.state import result_text

VERSION: Final = 1

TYPES: Final = {
    "session": "the first line: `version`, `session` (its id), `agent`, `model`, `workspace`, `resumed`, `problems`",
    "text": "a piece of the answer: `text`",
    "decision": "hooks spoke, about anything but a call: `event`, `verdict`, `reason`, `by`, `halt`, `changed`, `notes`, `requests`, `hooks`",
    "call": "a tool is called: `id`, `tool`, `caller` (empty: the model; else `queue`, or the hook), `input` as it wrote it, `left` as hooks left it, and the keys of a decision",
    "result": "what came of it, as the caller reads it: `id`, `tool`, `caller`, `ran`, `ok`, `content`, `error`",
    "question": "a person has to say whether a call may run: `approval`, `tool`, `input`, `reason`, `hook`",
    "answer": "the answer to it: `approval`, `yes`, `by`",
    "line": "words for a person: `text`, `level`, `hook`",
    "notice": "a notification of a hook: `channel`, `title`, `message`, `level`, `tag`, `hook`, `data`",
    "retry": "a call of the model failed, and what it had said does not count: `code`, `text`, `seconds`",
    "compacted": "one message stands in the place of `gone`: `summary`",
    "subagent": "an agent started another one: `child` (its thread), `child_agent`, `task`",
    "end": "an agent has answered, or will not: `ending`, `text`; on the last line `exit_code`",
}
"""Type → what its line tells, beside `type`, `thread` and `agent`."""


def has_line(happening: Update) -> bool:
    """A decision about a call stands in the call's own line."""
    return not isinstance(happening, DecisionMade) or happening.decision.event.name != "tool.before"


def update_json(happening: Update) -> dict[str, Any]:
    told = _update_fields(happening)
    who = {"thread": happening.thread, "agent": happening.agent}
    return {"type": told.pop("type"), **who, **({"speaker": happening.speaker} if happening.speaker else {}), **told}


def _update_fields(happening: Update) -> dict[str, Any]:
    match happening:
        case TextDelta(_, _, text):
            return {"type": "text", "text": text}
        case DecisionMade(_, _, decision):
            return {"type": "decision", "event": decision.event.name, **_decision_json(decision)}
        case ToolCallStarted(_, _, call, decision):
            left = decision.event.read(("tool", "input"))
            called = {"id": call.id, "tool": call.name, "caller": call.caller, "input": call.input, "left": left}
            return {"type": "call", **called, **_decision_json(decision)}
        case ToolCallFinished(_, _, call, result, ran):
            called = {"id": call.id, "tool": call.name, "caller": call.caller, "ran": ran, "ok": result.ok}
            return {"type": "result", **called, "content": result_text(result.content), "error": result.error}
        case ApprovalRequested(_, _, approval, tool, input, reason, hook):
            asked = {"approval": approval, "tool": tool, "input": input, "reason": reason, "hook": hook}
            return {"type": "question", **asked}
        case ApprovalAnswered(_, _, approval, yes, by):
            return {"type": "answer", "approval": approval, "yes": yes, "by": by}
        case StatusMessage(_, _, text, level, hook):
            return {"type": "line", "text": text, "level": level, "hook": hook}
        case _:
            return _rare_update_fields(happening)


def _rare_update_fields(happening: Update) -> dict[str, Any]:
    match happening:
        case Notification(_, _, notice):
            words = {"channel": notice.channel, "title": notice.title, "message": notice.message}
            more = {"level": notice.level, "tag": notice.tag, "hook": notice.hook, "data": notice.data}
            return {"type": "notice", **words, **more}
        case ModelRetry(_, _, code, text, seconds):
            return {"type": "retry", "code": code, "text": text, "seconds": seconds}
        case HistoryCompacted(_, _, gone, summary):
            return {"type": "compacted", "gone": gone, "summary": summary}
        case SubagentStarted(_, _, child, child_agent, task):
            return {"type": "subagent", "child": child, "child_agent": child_agent, "task": task}
        case ExchangeEnded(_, _, ending, text):
            return {"type": "end", "ending": str(ending), "text": text}
    raise AssertionError(f"{type(happening).__name__} has no line")


def _decision_json(decision: Decision) -> dict[str, Any]:
    return {
        "verdict": decision.verdict.word,
        "reason": decision.reason,
        "by": decision.by,
        "halt": decision.halt,
        "changed": changed_facts(decision),
        "notes": [{"for": str(note.audience), "text": note.text} for note in decision.notes],
        "requests": [type(request).__name__.lower() for request in decision.requests],
        "hooks": [account.as_json() for account in applied_accounts(decision)],
    }
