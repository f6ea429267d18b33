"""Kinds of tools, and the names of tools and their main fields in each dialect and host.

A *vocabulary* is one column of the table: the names of one dialect or host. A matcher is tested against a tool's own name
and against its vocabulary's names for that kind; hookline.hooks.tool_input does the same for the fields of its input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from hookline.hooks.event import Event, FactPath


class ToolKind(StrEnum):
    SHELL = "shell"
    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    LIST = "list"
    GLOB = "glob"
    GREP = "grep"
    FETCH = "fetch"
    SEARCH = "search"
    AGENT = "agent"
    OTHER = "other"


# kind → our name of the field → its other names
FIELD_NAMES: Final[dict[ToolKind, dict[str, tuple[str, ...]]]] = {
    ToolKind.SHELL: {"command": ("cmd", "script"), "cwd": ("workdir", "directory", "dir_path"), "timeout": ()},
    ToolKind.READ: {
        "path": ("file_path", "filePath", "absolute_path", "filename", "target_file"),
        "offset": (),
        "limit": (),
    },
    ToolKind.WRITE: {
        "path": ("file_path", "filePath", "absolute_path", "filename", "target_file"),
        "content": ("contents", "text", "file_text", "file_content"),
    },
    ToolKind.EDIT: {
        "path": ("file_path", "filePath", "absolute_path", "filename", "target_file", "notebook_path"),
        "old_string": ("oldString", "old_str", "old_text"),
        "new_string": ("newString", "new_str", "new_text", "new_source"),
    },
    ToolKind.LIST: {"path": ("dir_path", "directory", "file_path", "dirPath")},
    ToolKind.GLOB: {"pattern": ("glob", "glob_pattern"), "path": ("dir_path", "directory")},
    ToolKind.GREP: {"pattern": ("regex", "query"), "path": ("dir_path", "directory", "file_path")},
    ToolKind.FETCH: {"url": ("uri", "link")},
    ToolKind.SEARCH: {"query": ("q", "search_term")},
    ToolKind.AGENT: {
        "prompt": ("task", "message"),
        "description": (),
        "agent": ("subagent_type", "agent_type", "agent_name", "specialist"),
    },
    ToolKind.OTHER: {},
}


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """One dialect's or host's names for the kinds of tools, and for the fields that differ from ours."""

    name: str
    names: Mapping[ToolKind, tuple[str, ...]]
    fields: Mapping[str, str]  # ours → theirs
    has_short_names: bool = False  # `module.action` also matches `action`

    def __hash__(self) -> int:
        return hash(self.name)


def _make_vocabulary(
    name: str, names: dict[ToolKind, tuple[str, ...]], *, short: bool = False, **fields: str
) -> Vocabulary:
    return Vocabulary(name, names, fields, short)


_RUNTIME_NAMES: Final[dict[ToolKind, tuple[str, ...]]] = {
    ToolKind.SHELL: ("bash",),
    ToolKind.READ: ("read_file",),
    ToolKind.WRITE: ("write_file",),
    ToolKind.EDIT: ("edit_file",),
    ToolKind.LIST: ("list_directory",),
    ToolKind.GLOB: ("glob",),
    ToolKind.GREP: ("grep",),
    ToolKind.FETCH: ("fetch",),
    ToolKind.SEARCH: ("web_search",),
    ToolKind.AGENT: ("agent",),
}
_CLAUDE_NAMES: Final[dict[ToolKind, tuple[str, ...]]] = {
    ToolKind.SHELL: ("Bash",),
    ToolKind.READ: ("Read",),
    ToolKind.WRITE: ("Write",),
    ToolKind.EDIT: ("Edit", "MultiEdit", "NotebookEdit"),
    ToolKind.LIST: ("LS",),
    ToolKind.GLOB: ("Glob",),
    ToolKind.GREP: ("Grep",),
    ToolKind.FETCH: ("WebFetch",),
    ToolKind.SEARCH: ("WebSearch",),
    ToolKind.AGENT: ("Task", "Agent"),
}
_GEMINI_NAMES: Final[dict[ToolKind, tuple[str, ...]]] = {
    ToolKind.SHELL: ("run_shell_command",),
    ToolKind.READ: ("read_file", "read_many_files"),
    ToolKind.WRITE: ("write_file",),
    ToolKind.EDIT: ("replace", "edit", "notebook_edit"),
    ToolKind.LIST: ("list_directory",),
    ToolKind.GLOB: ("glob",),
    ToolKind.GREP: ("search_file_content", "grep_search"),
    ToolKind.FETCH: ("web_fetch",),
    ToolKind.SEARCH: ("google_web_search", "web_search"),
    ToolKind.AGENT: ("task", "agent", "invoke_agent"),
}

VOCABULARIES: Final[dict[str, Vocabulary]] = {
    vocabulary.name: vocabulary
    for vocabulary in (
        _make_vocabulary("native", _RUNTIME_NAMES),
        _make_vocabulary("hookline", _RUNTIME_NAMES),
        _make_vocabulary("flo", _RUNTIME_NAMES),
        _make_vocabulary("standard_agents", _RUNTIME_NAMES),
        _make_vocabulary(
            "microai",
            {**_CLAUDE_NAMES, ToolKind.EDIT: ("Edit",), ToolKind.LIST: (), ToolKind.AGENT: ()},
            path="file_path",
        ),
        _make_vocabulary(
            "ai_agents",
            {
                ToolKind.SHELL: ("BashExecutor", "Bash"),
                ToolKind.READ: ("FileReader", "Read"),
                ToolKind.WRITE: ("FileWriter", "Write"),
                ToolKind.EDIT: ("CodeEditor", "Edit"),
            },
            path="file_path",
        ),
        _make_vocabulary(
            "digitorn",
            {
                ToolKind.SHELL: ("shell.run", "Bash"),
                ToolKind.READ: ("filesystem.read", "Read"),
                ToolKind.WRITE: ("filesystem.write", "Write"),
                ToolKind.EDIT: ("filesystem.edit", "Edit"),
                ToolKind.LIST: ("filesystem.list",),
                ToolKind.GLOB: ("filesystem.glob",),
                ToolKind.GREP: ("filesystem.grep",),
                ToolKind.FETCH: ("web.fetch",),
                ToolKind.SEARCH: ("web.search",),
                ToolKind.AGENT: ("agent_spawn",),
            },
            short=True,
        ),
        _make_vocabulary("claude_code", _CLAUDE_NAMES, path="file_path"),
        _make_vocabulary(
            "codex",
            {**_CLAUDE_NAMES, ToolKind.EDIT: ("apply_patch", "Edit", "Write"), ToolKind.AGENT: ("spawn_agent",)},
        ),
        _make_vocabulary("gemini_cli", _GEMINI_NAMES, path="file_path"),
        _make_vocabulary("qwen_code", _GEMINI_NAMES, path="file_path"),
        _make_vocabulary(
            "copilot_cli",
            {
                ToolKind.SHELL: ("bash", "powershell"),
                ToolKind.READ: ("view",),
                ToolKind.WRITE: ("create",),
                ToolKind.EDIT: ("edit", "str_replace_editor", "apply_patch"),
                ToolKind.GLOB: ("glob",),
                ToolKind.GREP: ("grep", "rg"),
                ToolKind.FETCH: ("web_fetch",),
                ToolKind.SEARCH: ("web_search",),
                ToolKind.AGENT: ("task",),
            },
        ),
        _make_vocabulary(
            "opencode",
            {
                ToolKind.SHELL: ("bash",),
                ToolKind.READ: ("read",),
                ToolKind.WRITE: ("write",),
                ToolKind.EDIT: ("edit", "patch", "multiedit"),
                ToolKind.LIST: ("list",),
                ToolKind.GLOB: ("glob",),
                ToolKind.GREP: ("grep",),
                ToolKind.FETCH: ("webfetch",),
                ToolKind.SEARCH: ("websearch",),
                ToolKind.AGENT: ("task",),
            },
            path="filePath",
            old_string="oldString",
            new_string="newString",
        ),
        _make_vocabulary(
            "cursor",
            {
                ToolKind.SHELL: ("Shell",),
                ToolKind.READ: ("Read",),
                ToolKind.WRITE: ("Write",),
                ToolKind.EDIT: ("Edit", "StrReplace", "ApplyPatch"),
                ToolKind.LIST: ("LS",),
                ToolKind.GLOB: ("Glob",),
                ToolKind.GREP: ("Grep",),
                ToolKind.FETCH: ("WebFetch",),
                ToolKind.SEARCH: ("WebSearch",),
                ToolKind.AGENT: ("Task",),
            },
            path="file_path",
        ),
        _make_vocabulary(
            "cline",
            {
                ToolKind.SHELL: ("execute_command",),
                ToolKind.READ: ("read_file",),
                ToolKind.WRITE: ("write_to_file",),
                ToolKind.EDIT: ("replace_in_file", "apply_patch"),
                ToolKind.LIST: ("list_files",),
                ToolKind.GREP: ("search_files",),
                ToolKind.FETCH: ("web_fetch",),
                ToolKind.SEARCH: ("web_search",),
                ToolKind.AGENT: ("new_task", "use_subagents"),
            },
        ),
        _make_vocabulary(
            "windsurf",
            {
                ToolKind.SHELL: ("run_command",),
                ToolKind.READ: ("read_code",),
                ToolKind.EDIT: ("write_code",),
            },
            path="file_path",
        ),
        _make_vocabulary(
            "kiro",
            {
                ToolKind.SHELL: ("execute_bash", "shell"),
                ToolKind.READ: ("fs_read", "read"),
                ToolKind.WRITE: ("fs_write", "write"),
                ToolKind.GLOB: ("glob",),
                ToolKind.GREP: ("grep",),
                ToolKind.FETCH: ("web_fetch",),
                ToolKind.SEARCH: ("web_search",),
                ToolKind.AGENT: ("use_subagent",),
            },
            content="file_text",
            old_string="old_str",
            new_string="new_str",
        ),
    )
}
NATIVE: Final = VOCABULARIES["native"]


_KIND_BY_NAME: Final[dict[str, ToolKind]] = {}
for _vocabulary in VOCABULARIES.values():
    for _kind, _names in _vocabulary.names.items():
        for _name in _names:
            _KIND_BY_NAME.setdefault(_name, _kind)


def kind_of_name(name: str) -> ToolKind:
    """The kind of a tool with this name, from the table."""
    return _KIND_BY_NAME.get(name, ToolKind.OTHER)


def tool_kind(tool: Any) -> ToolKind:
    """The kind that the tool declares, or else the one of its name in the table."""
    if not isinstance(tool, dict):
        return ToolKind.OTHER
    kind, name = tool.get("kind"), tool.get("name")
    if isinstance(kind, str) and kind in _KIND_BY_VALUE:
        return _KIND_BY_VALUE[kind]
    return kind_of_name(name) if isinstance(name, str) else ToolKind.OTHER


_KIND_BY_VALUE: Final = {kind.value: kind for kind in ToolKind}
_MAX_CACHED_CHARS: Final = 256  # longer names are not cached: an agent may make up any


@lru_cache(maxsize=8192)
def all_tool_names(own: str, kind: str | None, vocabulary: str) -> tuple[str, ...]:
    """Every name that matches a tool of this kind in the vocabulary, its own first."""
    known, spoken = tool_kind({"name": own, "kind": kind}), VOCABULARIES[vocabulary]
    names = (own, *spoken.names.get(known, ()), *_mcp_names(own))
    short = [rest for name in names if (rest := name.partition(".")[2])] if spoken.has_short_names else ()
    return tuple(dict.fromkeys((*names, *short)))


def _mcp_names(own: str) -> tuple[str, ...]:
    """The names of an MCP tool: `mcp.<server>.<tool>`, `mcp_<server>.<tool>` and `mcp__<server>__<tool>`."""
    for start, middle in (("mcp__", "__"), ("mcp.", "."), ("mcp_", ".")):
        if own.startswith(start):
            server, found, tool = own[len(start) :].partition(middle)
            if found and server and tool:
                return (f"mcp.{server}.{tool}", f"mcp_{server}.{tool}", f"mcp__{server}__{tool}")
    return ()


@dataclass(frozen=True, slots=True)
class ToolName:
    """The subject of a tool matcher."""

    vocabulary: Vocabulary = NATIVE
    is_cacheable = True

    def texts(self, event: Event) -> tuple[str, ...]:
        tool = event.facts.get("tool")
        if not isinstance(tool, dict):
            return ()
        name, kind = tool.get("name"), tool.get("kind")
        if not isinstance(name, str):
            return ()
        names = all_tool_names if len(name) <= _MAX_CACHED_CHARS else all_tool_names.__wrapped__
        return names(name, kind if isinstance(kind, str) and kind in _KIND_BY_VALUE else None, self.vocabulary.name)

    def interpretations(self, event: Event) -> tuple[tuple[str, ...], ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return (("tool", "name"), ("tool", "kind"))

    def __str__(self) -> str:
        return "tool"


def tool_name_in(event: Event, vocabulary: Vocabulary) -> str:
    """The vocabulary's name for a tool in the table. Any other tool, an MCP server's too, keeps its name."""
    tool = event.facts.get("tool")
    own = tool.get("name") if isinstance(tool, dict) else None
    if not isinstance(own, str):
        return ""
    names = vocabulary.names.get(tool_kind(tool), ()) if own in _KIND_BY_NAME else ()
    return own if not names or own in names else names[0]


@lru_cache(maxsize=1024)
def is_path_field(name: str) -> bool:
    """Whether some kind of tool has a path field of this name."""
    return any(name == "path" or name in fields.get("path", ()) for fields in FIELD_NAMES.values())


def main_field(kind: ToolKind) -> str | None:
    """The field that says what a call is about: a shell's command, a file's path."""
    return next(iter(FIELD_NAMES[kind]), None)
