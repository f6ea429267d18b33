"""Updates as JSON, one object per line. The keys are stable; new ones may be added."""

from __future__ import annotations

from typing import Any, Final

from hookline.engine.decision import Decision, TraceEntry
from hookline.hooks.event import path_text
from hookline.hooks.events import RESULT_EVENTS
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
_STORED_LATER: Final = frozenset((*RESULT_EVENTS, "message.update"))

TYPES: Final = {
    "session": "the first line: `version`, `session` (its id), `agent`, `model`, `workspace`, `resumed`, `problems`",
    "text": "a piece of the answer: `text`",
    "decision": "hooks decided about anything except a call: `event`, `verdict`, `reason`, `by`, `halt`, `changed`, `notes`, `requests`, `hooks`",
    "call": "a tool is called: `id`, `tool`, `caller` (empty: the model; else `queue`, or the hook), `input` as written by the caller, `left` after the hooks, and the keys of a decision",
    "result": "the result of the call, as the caller reads it: `id`, `tool`, `caller`, `ran`, `ok`, `content`, `error`",
    "question": "a person must approve a call: `approval`, `tool`, `input`, `reason`, `hook`",
    "answer": "the answer to it: `approval`, `yes`, `by`",
    "line": "a message for the user: `text`, `level`, `hook`",
    "notice": "a notification of a hook: `channel`, `title`, `message`, `level`, `tag`, `hook`, `data`",
    "retry": "a call of the model failed and is tried again; discard its text: `code`, `text`, `seconds`",
    "compacted": "`gone` messages were replaced by one: `summary`",
    "subagent": "an agent started another one: `child` (its thread), `child_agent`, `task`",
    "end": "an agent has finished: `ending`, `text`; on the last line `exit_code`",
}
"""Type → what its line contains, besides `type`, `thread` and `agent`."""


def has_line(update: Update) -> bool:
    """False for a decision about a call: the call's own line contains it."""
    return not isinstance(update, DecisionMade) or update.decision.event.name != "tool.before"


def update_json(update: Update) -> dict[str, Any]:
    fields = _update_fields(update)
    who = {"thread": update.thread, "agent": update.agent}
    return {"type": fields.pop("type"), **who, **({"speaker": update.speaker} if update.speaker else {}), **fields}


def _update_fields(update: Update) -> dict[str, Any]:
    match update:
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
            return _rare_update_fields(update)


def _rare_update_fields(update: Update) -> dict[str, Any]:
    match update:
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
    raise AssertionError(f"{type(update).__name__} has no line")


def _decision_json(decision: Decision) -> dict[str, Any]:
    return {
        "verdict": decision.verdict.word,
        "reason": decision.reason,
        "by": decision.by,
        "halt": decision.halt,
        "changed": changed_facts(decision),
        "notes": [{"for": str(note.audience), "text": note.text} for note in decision.notes],
        "requests": [type(request).__name__.lower() for request in decision.requests],
        "hooks": [_account_json(account, decision.event.name) for account in applied_accounts(decision)],
    }


def applied_accounts(decision: Decision) -> list[TraceEntry]:
    """The hooks that did something."""
    return [account for account in decision.trace if account.applied]


def changed_facts(decision: Decision) -> list[str]:
    """The facts that hooks changed, by name."""
    changes = [
        change for account in applied_accounts(decision) if account.outcome for change in account.outcome.changes
    ]
    return list(dict.fromkeys(path_text(path) for path, _ in changes))


def _account_json(account: TraceEntry, event: str) -> dict[str, Any]:
    """Without the values of a result or a message: a later hook may redact them before they are stored."""
    shown = account.as_json()
    if event in _STORED_LATER and shown["outcome"] is not None:
        shown["outcome"].pop("changes", None)
    return shown
