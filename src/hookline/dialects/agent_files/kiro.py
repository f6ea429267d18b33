"""The kiro dialect: the hooks of Kiro, for every other agent.

They are in its agents, `.kiro/agents/*.json`; since CLI 3 and IDE 1 also in files of their own, `.kiro/hooks/*.json`.
Before, the editor had a file for each hook, `.kiro/hooks/*.kiro.hook`.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from hookline.dialects.agent_files.dialect import AgentFileDialect
from hookline.dialects.agent_files.format import AgentFormat, HandlerType, Layout, Matching, define_format
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.outcome import Audience
from hookline.lazy_dataclasses import replace

_TOOL_STDIN: Final = {"tool_name": "{{tool.name}}", "tool_input": "{{tool.input}}"}
_COMMON_STDIN: Final = {"cwd": "{{cwd}}", "session_id": "{{session.id | or_empty}}"}
_STDIN: Final[dict[str, dict[str, Any]]] = {
    "userPromptSubmit": {"prompt": "{{prompt | or_empty}}"},
    "preToolUse": _TOOL_STDIN,
    "postToolUse": {
        **_TOOL_STDIN,
        "tool_response": {
            "success": "{{tool.ok | or true}}",
            "result": ["{{tool.result | or_empty}}"],
            "error": "{{tool.error}}",
        },
    },
    "stop": {"assistant_response": "{{stop.message | or_empty}}"},
}
_TRIGGERS: Final = {
    "SessionStart": "agentSpawn",
    "UserPromptSubmit": "userPromptSubmit",
    "PreToolUse": "preToolUse",
    "PostToolUse": "postToolUse",
    "Stop": "stop",
}
"""Triggers in a file of hooks, which are also the events' names on stdin there, and the names in an agent."""
_ALIASES: Final = {"shell": "execute_bash", "read": "fs_read", "write": "fs_write"}
_CONTEXT: Final = ResultParser(ResultFormat.ERROR, Audience.AGENT)

FORMAT: Final = define_format(
    AgentFormat(
        name="kiro",
        title="Kiro",
        event_names=frozenset(("agentSpawn", "userPromptSubmit", "preToolUse", "postToolUse", "stop")),
        layout=Layout.FLAT,
        handlers={
            "command": HandlerType(
                keys=("command", "timeout_ms", "cache_ttl_seconds", "max_output_size", "name", "description"),
                required=("command",),
            )
        },
        default_type="command",
        timeout_keys=("timeout_ms",),
        matching=Matching.GLOB,
        tool_aliases=_ALIASES,
        result=ResultFormat.EXIT2,
        results={
            "agentSpawn": _CONTEXT,
            "userPromptSubmit": _CONTEXT,
            "postToolUse": ResultParser(ResultFormat.ERROR),
            "stop": ResultParser(ResultFormat.ERROR),
        },
        timeout=timedelta(seconds=30),
        common_stdin=_COMMON_STDIN,
        stdin=_STDIN,
        own_events=frozenset(("agentSpawn",)),
        own_keys=frozenset(("timeout_ms", "cache_ttl_seconds")),
    )
)
FILE_FORMAT: Final = AgentFormat(
    name="kiro",
    title="Kiro",
    layout=Layout.LIST,
    places=(".kiro/hooks/*.json",),
    event_names=frozenset(_TRIGGERS),
    entry_event_key="trigger",
    action_key="action",
    entry_keys=("name", "description", "timeout", "enabled"),
    handlers={
        "command": HandlerType(keys=("command",), required=("command",)),
        "agent": HandlerType(keys=("prompt",), required=("prompt",)),
    },
    matching=Matching.ALIASES,
    tool_aliases={
        **_ALIASES,
        "executeBash": "execute_bash",
        "execute_cmd": "execute_bash",
        "fsRead": "fs_read",
        "fsWrite": "fs_write",
        "str_replace": "fs_write",
        "strReplace": "fs_write",
        "web": "web_fetch|web_search",
    },
    matcher_facts={"UserPromptSubmit": (("prompt",), "")},
    result=ResultFormat.EXIT2,
    results={
        "SessionStart": _CONTEXT,
        "UserPromptSubmit": ResultParser(ResultFormat.EXIT2, Audience.AGENT),
        "PostToolUse": ResultParser(ResultFormat.ERROR),
        "Stop": ResultParser(ResultFormat.ERROR),
    },
    timeout=timedelta(seconds=60),
    common_stdin=_COMMON_STDIN,
    stdin={trigger: _STDIN[name] for trigger, name in _TRIGGERS.items() if name in _STDIN},
    unsupported_events=("PreTaskExec", "PostTaskExec", "PostFileCreate", "PostFileSave", "PostFileDelete", "Manual"),
    file_keys=("version", "hooks", "$schema", "name", "description"),
)
_BLOCKS: Final = ResultParser(ResultFormat.NONZERO, Audience.AGENT, reason="{output}")
_EDITOR_TRIGGERS: Final = {
    "promptSubmit": "userPromptSubmit",
    "preToolUse": "preToolUse",
    "postToolUse": "postToolUse",
    "agentStop": "stop",
}


def _rewrite_editor_hook(value: Any) -> Any:
    """A file with one hook (`when` and `then`) as a list of hooks: one for each of its kinds of tools."""
    if not isinstance(value, dict) or not {"when", "then"} <= value.keys() or "hooks" in value:
        return None
    when, then = value["when"], value["then"]
    entry = {key: held for key, held in value.items() if key not in ("when", "version")}
    if not isinstance(when, dict):
        return {"hooks": [{**entry, "when": when}]}
    known = ("type", "patterns", "toolTypes")
    entry |= {"when": when.get("type"), **{f"when.{key}": held for key, held in when.items() if key not in known}}
    if isinstance(then, dict) and "timeout" in then:
        entry["timeout"] = then["timeout"]
    tools = when.get("toolTypes")
    matchers = tools if isinstance(tools, list) else [] if tools is None else [tools]
    return {"hooks": [{**entry, "matcher": each} for each in matchers] or [entry]}


def _restore_editor_hook(entries: list[dict[str, Any]]) -> Any:
    """The entries differ only in their kinds of tools."""
    (first, *_), tools = entries, [entry["matcher"] for entry in entries if "matcher" in entry]
    rest = {key: held for key, held in first.items() if key not in ("when", "then", "matcher", "timeout")}
    timeout = {"timeout": first["timeout"]} if "timeout" in first else {}
    return {
        **rest,
        "version": "1",
        "when": {"type": first["when"], **({"toolTypes": tools} if tools else {})},
        "then": {**first["then"], **timeout},
    }


EDITOR_FORMAT: Final = replace(
    FILE_FORMAT,
    places=(".kiro/hooks/*.kiro.hook",),
    event_names=frozenset(_EDITOR_TRIGGERS),
    entry_event_key="when",
    action_key="then",
    handlers={
        "runCommand": HandlerType(keys=("command", "timeout"), required=("command",), read_as="command"),
        "askAgent": HandlerType(keys=("prompt",), required=("prompt",), read_as="agent"),
    },
    entry_keys=(*FILE_FORMAT.entry_keys, "shortName", "workspaceFolderName"),
    matcher_facts={},
    results={"promptSubmit": _BLOCKS, "preToolUse": _BLOCKS, "postToolUse": _CONTEXT, "agentStop": _CONTEXT},
    stdin={trigger: _STDIN[name] for trigger, name in _EDITOR_TRIGGERS.items()},
    environment={"USER_PROMPT": "{{prompt | or_empty}}"},
    unsupported_events=(
        "fileEdited",
        "fileCreated",
        "fileDeleted",
        "userTriggered",
        "preTaskExecution",
        "postTaskExecution",
    ),
    file_keys=(),
    deduplicates=True,
    ignored_by=("kiro",),  # the CLI, and the editor since version 1
    rewrite=_rewrite_editor_hook,
    restore=_restore_editor_hook,
)
DIALECT: Final = AgentFileDialect(FORMAT, {"version": "v1"}, FILE_FORMAT, EDITOR_FORMAT)
