"""Every event, in the order in which they happen: when it fires, its facts, and the answers it accepts.

To add an event, add an entry here and one call of `decide` where it happens.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Final

from hookline.formatting import closest_match
from hookline.hooks.event import MISSING, Event, FactPath, overlaps, parse_path
from hookline.hooks.protocols import May
from hookline.lazy_dataclasses import dataclass, field

_DENY = May.DENY | May.ALLOW | May.HALT | May.COMPACT
_ASK = May.ASK
_NOTES = May.NOTES | May.HALT | May.COMPACT

COMMON_FACTS: Final = (
    "host.name",
    "session.id",
    "session.tool_calls",
    "session.turns",
    "session.transcript",
    "session.mode",
    "session.model",
    "agent.id",
    "agent.name",
    "agent.prompt",
    "thread.id",
    "user.name",
    "execution.flow",
    "execution.side",
    "execution.step",
    "execution.stopped",
    "cwd",
    "workspace",
    "time",
    "turn.number",
    "turn.max",
    "context.tokens",
    "context.limit",
    "context.pressure",
    "messages",
    "metadata",
)
METADATA_PATH: Final[FactPath] = (
    "metadata",
)  # notes that hooks leave for each other; other hooks need no recheck when they change
_CALL_FACTS: Final = ("tool.name", "tool.kind", "tool.id", "tool.caller", "tool.input")
_RESULT_FACTS: Final = (*_CALL_FACTS, "tool.result", "tool.error", "tool.ok")
_STORED_FACTS: Final = ("tool.attachments", "tool.more")  # files of a result, and other data stored with it


@dataclass(frozen=True, slots=True)
class EventKind:
    name: str
    when: str
    facts: tuple[str, ...] = ()  # in addition to COMMON_FACTS
    accepts: May = May.NOTHING
    changes: tuple[str, ...] = ()  # the facts that hooks may change
    names: dict[str, tuple[str, ...]] = field(default_factory=dict)  # dialect → its names, the usual one first
    changeable: tuple[FactPath, ...] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "changeable", tuple(parse_path(place) for place in self.changes))
        if self.changes:
            object.__setattr__(self, "accepts", self.accepts | May.CHANGE)

    def accepts_change(self, path: FactPath) -> bool:
        return any(path[: len(place)] == place for place in (*self.changeable, METADATA_PATH))

    def has_fact(self, path: FactPath) -> bool:
        return any(overlaps(parse_path(fact), path) for fact in (*COMMON_FACTS, *self.facts))


_EVENT_KINDS: Final = (
    EventKind(
        "session.start",
        "a session begins, before its first prompt",
        ("session.source",),
        _NOTES,
        names={
            "microai": ("SessionStart",),
            "claude_code": ("SessionStart",),
            "hook_interchange": ("session_start",),
        },
    ),
    EventKind(
        "agent.start",
        "an agent starts; a denied start means that its session does not begin",
        accepts=_DENY | _NOTES,
        names={"flo": ("AgentStart",)},
    ),
    EventKind(
        "thread.created",
        "a thread was created, before anything runs in it",
        names={"standard_agents": ("after_thread_created",)},
    ),
    EventKind(
        "activation",
        "a trigger (a schedule, a changed file, an HTTP call) is about to start a turn, with the prompt among its messages",
        ("trigger",),
        _DENY | _NOTES,
        names={"digitorn": ("activation",)},
    ),
    EventKind(
        "prompt.submit",
        "the user sent a prompt, before the agent reads it",
        ("prompt",),
        _DENY | _NOTES,
        ("prompt",),
        names={
            "flo": ("UserPromptSubmit",),
            "microai": ("UserPromptSubmit",),
            "ai_agents": ("UserPromptSubmit",),
            "claude_code": ("UserPromptSubmit",),
            "hook_interchange": ("before_prompt",),
        },
    ),
    EventKind(
        "session.first_turn",
        "the first turn of a session begins, with the prompt among its messages",
        ("prompt",),
        _NOTES,
        names={"digitorn": ("session_start",)},
    ),
    EventKind(
        "turn.start",
        "a turn begins: one model call and the tool calls that it asks for",
        ("prompt",),
        accepts=_NOTES,
        changes=("messages",),
        names={"digitorn": ("turn_start", "user_prompt")},
    ),
    EventKind(
        "history.system",
        "the system message was rendered for a request",
        ("system",),
        changes=("system",),
        names={"standard_agents": ("after_system_message",)},
    ),
    EventKind(
        "history.filter",
        "stored messages are about to become the model's history",
        changes=("messages",),
        names={"standard_agents": ("filter_messages",)},
    ),
    EventKind(
        "history.request",
        "the request is complete and about to be sent to the model",
        ("request.messages",),
        changes=("request.messages",),
        names={"standard_agents": ("prefilter_llm_history",)},
    ),
    EventKind(
        "history.compact",
        "the history is about to be shortened",
        ("trigger",),
        _DENY | _NOTES,
        names={
            "digitorn": ("pre_compact",),
            "claude_code": ("PreCompact",),
            "hook_interchange": ("before_compact",),
        },
    ),
    EventKind(
        "model.error",
        "a call of the model failed, before it is tried again",
        ("error.code", "error.message"),
        _NOTES,
        names={"digitorn": ("error",), "hook_interchange": ("error_occurred",)},
    ),
    EventKind(
        "message.create",
        "a message is about to be stored",
        ("message",),
        _DENY,
        ("message",),
        names={"standard_agents": ("before_create_message",)},
    ),
    EventKind(
        "message.created",
        "a message was stored",
        ("message",),
        names={"standard_agents": ("after_create_message",)},
    ),
    EventKind(
        "message.update",
        "a stored message is about to change",
        ("message.id", "message.updates"),
        _DENY,
        ("message.updates",),
        names={"standard_agents": ("before_update_message",)},
    ),
    EventKind(
        "message.updated",
        "a stored message was changed",
        ("message",),
        names={"standard_agents": ("after_update_message",)},
    ),
    EventKind(
        "tool.before",
        "a tool is about to run",
        _CALL_FACTS,
        _DENY | _ASK | _NOTES,
        ("tool.input",),
        names={
            "flo": ("PreToolUse",),
            "microai": ("PreToolUse",),
            "ai_agents": ("PreToolUse",),
            "digitorn": ("tool_start", "pre_tool_use"),
            "claude_code": ("PreToolUse",),
            "hook_interchange": ("before_tool_execute",),
        },
    ),
    EventKind(
        "approval.request",
        "a person is about to be asked whether a tool may run",
        (*_CALL_FACTS, "approval"),
        _DENY | _NOTES,
        names={
            "digitorn": ("approval_request",),
            "claude_code": ("PermissionRequest",),
            "hook_interchange": ("permission_request",),
        },
    ),
    EventKind(
        "notification",
        "the agent needs the user's attention: an approval or the next prompt is waiting",
        ("notification.type", "notification.message", "notification.title"),
        names={"claude_code": ("Notification",), "hook_interchange": ("notification",)},
    ),
    EventKind(
        "tool.succeeded",
        "a tool ran and succeeded",
        (*_RESULT_FACTS, *_STORED_FACTS),
        changes=("tool.result", "tool.error", "tool.ok", *_STORED_FACTS),
        names={"standard_agents": ("after_tool_call_success",)},
    ),
    EventKind(
        "tool.failed",
        "a tool ran and failed",
        (*_RESULT_FACTS, *_STORED_FACTS),
        changes=("tool.result", "tool.error", "tool.ok", *_STORED_FACTS),
        names={"standard_agents": ("after_tool_call_failure",)},
    ),
    EventKind(
        "tool.after",
        "a tool has run, whether it succeeded or failed",
        _RESULT_FACTS,
        _NOTES,
        ("tool.result", "tool.error", "tool.ok"),
        names={
            "flo": ("PostToolUse",),
            "microai": ("PostToolUse",),
            "ai_agents": ("PostToolUse",),
            "digitorn": ("tool_end", "post_tool_use"),
            "claude_code": ("PostToolUse", "PostToolUseFailure"),
            "hook_interchange": ("after_tool_execute", "tool_use_failure"),
        },
    ),
    EventKind(
        "tool.store",
        "a tool's result is about to be stored",
        (*_RESULT_FACTS, *_STORED_FACTS),
        changes=("tool.result", "tool.error", "tool.ok", *_STORED_FACTS),
        names={"standard_agents": ("before_store_tool_result",)},
    ),
    EventKind(
        "subagent.created",
        "a child thread was created; fires in its parent's thread",
        ("subagent",),
        names={"standard_agents": ("after_subagent_created",)},
    ),
    EventKind(
        "subagent.start",
        "a sub-agent is about to start",
        ("subagent", "tool.input"),
        _DENY | _NOTES,
        names={
            "digitorn": ("agent_spawn",),
            "claude_code": ("SubagentStart",),
            "hook_interchange": ("subagent_start",),
        },
    ),
    EventKind(
        "subagent.end",
        "a sub-agent has its result; a deny makes it continue",
        ("subagent", "tool.result", "stop.active", "stop.message"),
        _DENY | _NOTES,
        names={
            "digitorn": ("agent_complete",),
            "claude_code": ("SubagentStop",),
            "hook_interchange": ("subagent_stop",),
        },
    ),
    EventKind(
        "turn.end",
        "a turn is over, the one with the final answer included",
        accepts=_NOTES,
        names={"digitorn": ("turn_end",)},
    ),
    EventKind(
        "stop",
        "the model ended its turn without a tool call; a deny makes the agent continue",
        ("stop.reason", "stop.active", "stop.message"),
        _DENY | _NOTES,
        names={"flo": ("Stop",), "claude_code": ("Stop",), "hook_interchange": ("agent_stop",)},
    ),
    EventKind(
        "agent.end",
        "an agent's session is over",
        accepts=_NOTES,
        names={"flo": ("AgentEnd",)},
    ),
    EventKind(
        "session.end",
        "a session is over: it was closed, deleted, or idle for too long",
        ("session.reason",),
        names={
            "microai": ("SessionEnd",),
            "digitorn": ("session_end",),
            "claude_code": ("SessionEnd",),
            "hook_interchange": ("session_end",),
        },
    ),
    EventKind(
        "decision.made",
        "hooks have decided about a tool, a prompt, or an event that one of them answered",
        ("decision.event", "decision.verdict", "decision.reason", "decision.hook", *_RESULT_FACTS, "prompt"),
    ),
)

_CLAUDE_SHAPED: Final = {
    "SessionStart": "session.start",
    "UserPromptSubmit": "prompt.submit",
    "PreToolUse": "tool.before",
    "PostToolUse": "tool.after",
    "PreCompact": "history.compact",
    "SubagentStop": "subagent.end",
    "Stop": "stop",
    "SessionEnd": "session.end",
}
_AGENT_NAMES: Final[dict[str, dict[str, str]]] = {
    "codex": {**_CLAUDE_SHAPED, "PermissionRequest": "approval.request", "SubagentStart": "subagent.start"},
    "gemini_cli": {
        "SessionStart": "session.start",
        "BeforeAgent": "prompt.submit",
        "BeforeTool": "tool.before",
        "AfterTool": "tool.after",
        "Notification": "notification",
        "PreCompress": "history.compact",
        "AfterAgent": "stop",
        "SessionEnd": "session.end",
    },
    "qwen_code": {
        **_CLAUDE_SHAPED,
        "PostToolUseFailure": "tool.after",
        "PermissionRequest": "approval.request",
        "Notification": "notification",
        "SubagentStart": "subagent.start",
    },
    "copilot_cli": {
        "sessionStart": "session.start",
        "userPromptSubmitted": "prompt.submit",
        "preToolUse": "tool.before",
        "preMcpToolCall": "tool.before",
        "permissionRequest": "approval.request",
        "notification": "notification",
        "postToolUse": "tool.after",
        "postToolUseFailure": "tool.after",
        "preCompact": "history.compact",
        "subagentStart": "subagent.start",
        "subagentStop": "subagent.end",
        "agentStop": "stop",
        "sessionEnd": "session.end",
        **_CLAUDE_SHAPED,
        "PostToolUseFailure": "tool.after",
        "PermissionRequest": "approval.request",
        "Notification": "notification",
        "SubagentStart": "subagent.start",
    },
    "cursor": {
        "sessionStart": "session.start",
        "beforeSubmitPrompt": "prompt.submit",
        "preToolUse": "tool.before",
        "beforeShellExecution": "tool.before",
        "beforeMCPExecution": "tool.before",
        "beforeReadFile": "tool.before",
        "postToolUse": "tool.after",
        "postToolUseFailure": "tool.after",
        "afterShellExecution": "tool.after",
        "afterMCPExecution": "tool.after",
        "afterFileEdit": "tool.after",
        "preCompact": "history.compact",
        "subagentStart": "subagent.start",
        "subagentStop": "subagent.end",
        "stop": "stop",
        "sessionEnd": "session.end",
    },
    "cline": {
        "TaskStart": "session.start",
        "TaskResume": "session.start",
        "UserPromptSubmit": "prompt.submit",
        "PreToolUse": "tool.before",
        "PostToolUse": "tool.after",
        "PreCompact": "history.compact",
        "Notification": "notification",
        "TaskComplete": "stop",
        "SessionShutdown": "session.end",
    },
    "kiro": {
        "agentSpawn": "session.start",
        "userPromptSubmit": "prompt.submit",
        "preToolUse": "tool.before",
        "postToolUse": "tool.after",
        "stop": "stop",
        "SessionStart": "session.start",
        "UserPromptSubmit": "prompt.submit",
        "PreToolUse": "tool.before",
        "PostToolUse": "tool.after",
        "Stop": "stop",
        "promptSubmit": "prompt.submit",
        "agentStop": "stop",
    },
    "windsurf": {
        "pre_user_prompt": "prompt.submit",
        "pre_run_command": "tool.before",
        "pre_read_code": "tool.before",
        "pre_write_code": "tool.before",
        "pre_mcp_tool_use": "tool.before",
        "post_run_command": "tool.after",
        "post_read_code": "tool.after",
        "post_write_code": "tool.after",
        "post_mcp_tool_use": "tool.after",
        "post_cascade_response": "stop",
    },
    "droid": {**_CLAUDE_SHAPED, "Notification": "notification"},
    "kimi_code": {
        **_CLAUDE_SHAPED,
        "PostToolUseFailure": "tool.after",
        "PermissionRequest": "approval.request",
        "Notification": "notification",
        "SubagentStart": "subagent.start",
    },
}
"""The names of events in the hook files of coding agents: name → event."""
EVENTS: Final = {kind.name: kind for kind in _EVENT_KINDS}
for _dialect, _names in _AGENT_NAMES.items():
    for _name, _event in _names.items():
        _own = EVENTS[_event].names
        _own[_dialect] = (*_own.get(_dialect, ()), _name)

ENDING_EVENTS: Final = frozenset({"stop", "subagent.end"})  # a deny makes the agent continue
RESULT_EVENTS: Final = ("tool.succeeded", "tool.failed", "tool.after", "tool.store", "message.create")
"""The events whose hooks see a result, and may change it, before it is stored, in the order in which they happen."""
BACKGROUND_EVENTS: Final = frozenset({"decision.made"})  # nothing waits for the hooks on them
TOOL_EVENTS: Final = frozenset(name for name, kind in EVENTS.items() if "tool.name" in kind.facts) - BACKGROUND_EVENTS
_AMBIGUOUS_NAMES: Final = {"session_start": "session.first_turn"}
"""Names that two dialects give to different events: what they mean where no dialect is named."""
MAX_DENIED_STOPS: Final = 5  # in a row, even with other turns between them
DRAIN_TIMEOUT: Final = timedelta(seconds=10)  # for background hooks, before the last event of a session


def lacks_tool(event: Event) -> bool:
    """Whether the event is about a tool and does not say which, so that no guard could find what it guards."""
    return event.name in TOOL_EVENTS and event.read(("tool", "name")) in (MISSING, "")


def events_by_name(dialect: str) -> dict[str, str]:
    """Maps a dialect's event names to ours."""
    return {name: kind.name for kind in _EVENT_KINDS for name in kind.names.get(dialect, ())}


def event_name_in(dialect: str, event: str) -> str | None:
    """The dialect's name for this event."""
    names = EVENTS[event].names.get(dialect)
    return names[0] if names else None


def canonical_event(name: str) -> str | None:
    """The event that has this name, ours or any dialect's."""
    if name in EVENTS:
        return name
    if name in _AMBIGUOUS_NAMES:
        return _AMBIGUOUS_NAMES[name]
    return next((kind.name for kind in _EVENT_KINDS for names in kind.names.values() if name in names), None)


def event_named(name: str, dialect: str | None) -> str | None:
    """The event that `name` means in this dialect; if it means none there, what it means in any."""
    own = events_by_name(dialect).get(name) if dialect else None
    return own or canonical_event(name)


_SAME_WORDS: Final = {
    **dict.fromkeys(("stop", "stopped", "finish", "finished", "done", "complete", "completed", "ended", "exit"), "end"),
    **dict.fromkeys(("begin", "began", "started", "open"), "start"),
    **dict.fromkeys(("pre", "use", "call"), "before"),
    "post": "after",
    "error": "failed",
}


def closest_event(name: str) -> str | None:
    """The event that was probably meant: by a word of the same meaning, or by a name that looks like it."""
    of, _, word = name.lower().rpartition(".")
    meant = f"{of}.{_SAME_WORDS.get(word, word)}"
    return meant if meant in EVENTS else closest_match(name, all_event_names())


def all_event_names() -> Iterable[str]:
    for kind in _EVENT_KINDS:
        yield kind.name
        for names in kind.names.values():
            yield from names
