"""One name for a tool, everywhere: what each kind of tool and its main fields are called in each dialect and host.

A *tongue* is one column of the table: how a dialect or a host says it. A matcher is tested against a tool's own name
and against its tongue's names for that kind; hookline.hooks.fields does the same for the fields of its input.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from hookline.hooks.event import Event, Path


class Kind(StrEnum):
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


# kind → field, as our own runtime says it → every name that it goes by somewhere
FIELDS: Final[dict[Kind, dict[str, tuple[str, ...]]]] = {
    Kind.SHELL: {"command": ("cmd", "script"), "cwd": ("workdir", "directory", "dir_path"), "timeout": ()},
    Kind.READ: {
        "path": ("file_path", "filePath", "absolute_path", "filename", "target_file"),
        "offset": (),
        "limit": (),
    },
    Kind.WRITE: {
        "path": ("file_path", "filePath", "absolute_path", "filename", "target_file"),
        "content": ("contents", "text", "file_text", "file_content"),
    },
    Kind.EDIT: {
        "path": ("file_path", "filePath", "absolute_path", "filename", "target_file", "notebook_path"),
        "old_string": ("oldString", "old_str", "old_text"),
        "new_string": ("newString", "new_str", "new_text", "new_source"),
    },
    Kind.LIST: {"path": ("dir_path", "directory", "file_path", "dirPath")},
    Kind.GLOB: {"pattern": ("glob", "glob_pattern"), "path": ("dir_path", "directory")},
    Kind.GREP: {"pattern": ("regex", "query"), "path": ("dir_path", "directory", "file_path")},
    Kind.FETCH: {"url": ("uri", "link")},
    Kind.SEARCH: {"query": ("q", "search_term")},
    Kind.AGENT: {
        "prompt": ("task", "message"),
        "description": (),
        "agent": ("subagent_type", "agent_type", "agent_name", "specialist"),
    },
    Kind.OTHER: {},
}


@dataclass(frozen=True, slots=True)
class Tongue:
    """How one dialect or host calls the kinds of tools, and their fields where they differ from ours."""

    name: str
    names: Mapping[Kind, tuple[str, ...]]
    fields: Mapping[str, str]  # ours → theirs
    short: bool = False  # `module.action` answers to `action` too

    def __hash__(self) -> int:
        return hash(self.name)


def _tongue(name: str, names: dict[Kind, tuple[str, ...]], *, short: bool = False, **fields: str) -> Tongue:
    return Tongue(name, names, fields, short)


_RUNTIME: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.SHELL: ("bash",),
    Kind.READ: ("read_file",),
    Kind.WRITE: ("write_file",),
    Kind.EDIT: ("edit_file",),
    Kind.LIST: ("list_directory",),
    Kind.GLOB: ("glob",),
    Kind.GREP: ("grep",),
    Kind.FETCH: ("fetch",),
    Kind.SEARCH: ("web_search",),
    Kind.AGENT: ("agent",),
}
_CLAUDE: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.SHELL: ("Bash",),
    Kind.READ: ("Read",),
    Kind.WRITE: ("Write",),
    Kind.EDIT: ("Edit", "MultiEdit", "NotebookEdit"),
    Kind.LIST: ("LS",),
    Kind.GLOB: ("Glob",),
    Kind.GREP: ("Grep",),
    Kind.FETCH: ("WebFetch",),
    Kind.SEARCH: ("WebSearch",),
    Kind.AGENT: ("Task", "Agent"),
}
_GEMINI: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.SHELL: ("run_shell_command",),
    Kind.READ: ("read_file", "read_many_files"),
    Kind.WRITE: ("write_file",),
    Kind.EDIT: ("replace", "edit", "notebook_edit"),
    Kind.LIST: ("list_directory",),
    Kind.GLOB: ("glob",),
    Kind.GREP: ("search_file_content", "grep_search"),
    Kind.FETCH: ("web_fetch",),
    Kind.SEARCH: ("google_web_search", "web_search"),
    Kind.AGENT: ("task", "agent", "invoke_agent"),
}

TONGUES: Final[dict[str, Tongue]] = {
    tongue.name: tongue
    for tongue in (
        _tongue("native", _RUNTIME),
        _tongue("hookline", _RUNTIME),
        _tongue("flo", _RUNTIME),
        _tongue("standard_agents", _RUNTIME),
        _tongue("microai", {**_CLAUDE, Kind.EDIT: ("Edit",), Kind.LIST: (), Kind.AGENT: ()}, path="file_path"),
        _tongue(
            "ai_agents",
            {
                Kind.SHELL: ("BashExecutor", "Bash"),
                Kind.READ: ("FileReader", "Read"),
                Kind.WRITE: ("FileWriter", "Write"),
                Kind.EDIT: ("CodeEditor", "Edit"),
            },
            path="file_path",
        ),
        _tongue(
            "digitorn",
            {
                Kind.SHELL: ("shell.run", "Bash"),
                Kind.READ: ("filesystem.read", "Read"),
                Kind.WRITE: ("filesystem.write", "Write"),
                Kind.EDIT: ("filesystem.edit", "Edit"),
                Kind.LIST: ("filesystem.list",),
                Kind.GLOB: ("filesystem.glob",),
                Kind.GREP: ("filesystem.grep",),
                Kind.FETCH: ("web.fetch",),
                Kind.SEARCH: ("web.search",),
                Kind.AGENT: ("agent_spawn",),
            },
            short=True,
        ),
        _tongue("claude_code", _CLAUDE, path="file_path"),
        _tongue("codex", {**_CLAUDE, Kind.EDIT: ("apply_patch", "Edit", "Write"), Kind.AGENT: ("spawn_agent",)}),
        _tongue("gemini_cli", _GEMINI, path="file_path"),
        _tongue("qwen_code", _GEMINI, path="file_path"),
        _tongue(
            "copilot_cli",
            {
                Kind.SHELL: ("bash", "powershell"),
                Kind.READ: ("view",),
                Kind.WRITE: ("create",),
                Kind.EDIT: ("edit", "str_replace_editor", "apply_patch"),
                Kind.GLOB: ("glob",),
                Kind.GREP: ("grep", "rg"),
                Kind.FETCH: ("web_fetch",),
                Kind.SEARCH: ("web_search",),
                Kind.AGENT: ("task",),
            },
        ),
        _tongue(
            "opencode",
            {
                Kind.SHELL: ("bash",),
                Kind.READ: ("read",),
                Kind.WRITE: ("write",),
                Kind.EDIT: ("edit", "patch", "multiedit"),
                Kind.LIST: ("list",),
                Kind.GLOB: ("glob",),
                Kind.GREP: ("grep",),
                Kind.FETCH: ("webfetch",),
                Kind.SEARCH: ("websearch",),
                Kind.AGENT: ("task",),
            },
            path="filePath",
            old_string="oldString",
            new_string="newString",
        ),
        _tongue(
            "cursor",
            {
                Kind.SHELL: ("Shell",),
                Kind.READ: ("Read",),
                Kind.WRITE: ("Write",),
                Kind.EDIT: ("Edit", "StrReplace", "ApplyPatch"),
                Kind.LIST: ("LS",),
                Kind.GLOB: ("Glob",),
                Kind.GREP: ("Grep",),
                Kind.FETCH: ("WebFetch",),
                Kind.SEARCH: ("WebSearch",),
                Kind.AGENT: ("Task",),
            },
            path="file_path",
        ),
        _tongue(
            "cline",
            {
                Kind.SHELL: ("execute_command",),
                Kind.READ: ("read_file",),
                Kind.WRITE: ("write_to_file",),
                Kind.EDIT: ("replace_in_file", "apply_patch"),
                Kind.LIST: ("list_files",),
                Kind.GREP: ("search_files",),
                Kind.FETCH: ("web_fetch",),
                Kind.SEARCH: ("web_search",),
                Kind.AGENT: ("new_task", "use_subagents"),
            },
        ),
        _tongue(
            "windsurf",
            {
                Kind.SHELL: ("run_command",),
                Kind.READ: ("read_code",),
                Kind.EDIT: ("write_code",),
            },
            path="file_path",
        ),
        _tongue(
            "kiro",
            {
                Kind.SHELL: ("execute_bash", "shell"),
                Kind.READ: ("fs_read", "read"),
                Kind.WRITE: ("fs_write", "write"),
                Kind.GLOB: ("glob",),
                Kind.GREP: ("grep",),
                Kind.FETCH: ("web_fetch",),
                Kind.SEARCH: ("web_search",),
                Kind.AGENT: ("use_subagent",),
            },
            content="file_text",
            old_string="old_str",
            new_string="new_str",
        ),
    )
}
NATIVE: Final = TONGUES["native"]


_KIND_OF: Final[dict[str, Kind]] = {}
for _spoken in TONGUES.values():
    for _kind, _names in _spoken.names.items():
        for _name in _names:
            _KIND_OF.setdefault(_name, _kind)


def kind_of(name: str) -> Kind:
    """The kind that the table gives a name whose kind nobody declared."""
    return _KIND_OF.get(name, Kind.OTHER)


def declared_kind(tool: Any) -> Kind:
    """The kind that the event's tool declares, else the one that its name has in the table."""
    if not isinstance(tool, dict):
        return Kind.OTHER
    kind, name = tool.get("kind"), tool.get("name")
    if isinstance(kind, str) and kind in _KINDS:
        return _KINDS[kind]
    return kind_of(name) if isinstance(name, str) else Kind.OTHER


_KINDS: Final = {kind.value: kind for kind in Kind}
_LONGEST_KEPT: Final = 256  # characters of a tool's name that is remembered: an agent may make up any


@lru_cache(maxsize=8192)
def names_of(own: str, kind: str | None, tongue: str) -> tuple[str, ...]:
    """Every name that a tool of this declared kind answers to in the tongue, its own first."""
    known, spoken = declared_kind({"name": own, "kind": kind}), TONGUES[tongue]
    names = (own, *spoken.names.get(known, ()), *_mcp_names(own))
    short = [rest for name in names if (rest := name.partition(".")[2])] if spoken.short else ()
    return tuple(dict.fromkeys((*names, *short)))


def _mcp_names(own: str) -> tuple[str, ...]:
    """An MCP tool answers to `mcp.<server>.<tool>`, `mcp_<server>.<tool>` and `mcp__<server>__<tool>`."""
    for start, middle in (("mcp__", "__"), ("mcp.", "."), ("mcp_", ".")):
        if own.startswith(start):
            server, found, tool = own[len(start) :].partition(middle)
            if found and server and tool:
                return (f"mcp.{server}.{tool}", f"mcp_{server}.{tool}", f"mcp__{server}__{tool}")
    return ()


@dataclass(frozen=True, slots=True)
class ToolName:
    """The subject of a tool matcher."""

    tongue: Tongue = NATIVE
    few = True

    def texts(self, event: Event) -> tuple[str, ...]:
        tool = event.facts.get("tool")
        if not isinstance(tool, dict):
            return ()
        name, kind = tool.get("name"), tool.get("kind")
        if not isinstance(name, str):
            return ()
        names = names_of if len(name) <= _LONGEST_KEPT else names_of.__wrapped__
        return names(name, kind if isinstance(kind, str) and kind in _KINDS else None, self.tongue.name)

    def readings(self, event: Event) -> tuple[tuple[str, ...], ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return (("tool", "name"), ("tool", "kind"))

    def __str__(self) -> str:
        return "tool"


def name_in(event: Event, tongue: Tongue) -> str:
    """The tongue's own word for a tool that the table has; any other tool, an MCP server's too, keeps its name."""
    tool = event.facts.get("tool")
    own = tool.get("name") if isinstance(tool, dict) else None
    if not isinstance(own, str):
        return ""
    names = tongue.names.get(declared_kind(tool), ()) if own in _KIND_OF else ()
    return own if not names or own in names else names[0]


@lru_cache(maxsize=1024)
def is_path_field(name: str) -> bool:
    """Whether some kind of tool takes a path by this name."""
    return any(name == "path" or name in fields.get("path", ()) for fields in FIELDS.values())


def main_field(kind: Kind) -> str | None:
    """The field that says what a call is about: a shell's command, a file's path."""
    return next(iter(FIELDS[kind]), None)
