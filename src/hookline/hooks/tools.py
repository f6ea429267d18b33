"""Kinds of tools, and the names of tools and their main fields in each dialect and host.

A *vocabulary* is one column of the table: the names of one dialect or host. hookline.hooks.tool_name gives a tool its one
name in a vocabulary; hookline.hooks.tool_input does the same for the fields of its input.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any, Final

from hookline.lazy_dataclasses import dataclass


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


_FILE_PATH: Final = ("file_path", "filePath", "absolute_path", "filename", "target_file", "file", "filepath")
_OTHER_FIELD_NAMES: Final[dict[ToolKind, dict[str, tuple[str, ...]]]] = {
    ToolKind.SHELL: {
        "command": ("cmd", "script", "command_line", "shell_command"),
        "cwd": ("workdir", "directory", "dir_path"),
        "timeout": (),
    },
    ToolKind.READ: {"path": _FILE_PATH, "offset": (), "limit": ()},
    ToolKind.WRITE: {"path": _FILE_PATH, "content": ("contents", "text", "file_text", "file_content", "new_text")},
    ToolKind.EDIT: {
        "path": (*_FILE_PATH, "notebook_path"),
        "old_string": ("old_str", "old_text"),
        "new_string": ("new_str", "new_text", "new_source"),
    },
    ToolKind.LIST: {"path": ("dir_path", "directory", "file_path", "dirPath", "target_directory", "directory_path")},
    ToolKind.GLOB: {"pattern": ("glob", "glob_pattern", "patterns"), "path": ("dir_path", "directory", "folder")},
    ToolKind.GREP: {"pattern": ("regex", "query", "queries"), "path": ("dir_path", "directory", "file_path")},
    ToolKind.FETCH: {"url": ("uri", "link", "urls")},
    ToolKind.SEARCH: {"query": ("q", "search_term")},
    ToolKind.AGENT: {
        "prompt": ("task", "message"),
        "description": (),
        "agent": ("subagent_type", "agent_type", "agent_name", "specialist"),
    },
    ToolKind.OTHER: {},
}


def _spellings(ours: str, others: tuple[str, ...]) -> tuple[str, ...]:
    """The other names of a field, also in camelCase: an agent's tools may be written in TypeScript.

    Not those of a path: guards recognise a path by any name, and an allow needs one that an agent is known to use.
    """
    if ours == "path":
        return others
    found = (spelling for name in (ours, *others) for spelling in (name, _camel_case(name)))
    return tuple(name for name in dict.fromkeys(found) if name != ours)


def _camel_case(name: str) -> str:
    first, *more = name.split("_")
    return first + "".join(map(str.capitalize, more))


# kind → our name of the field → its other names
FIELD_NAMES: Final[dict[ToolKind, dict[str, tuple[str, ...]]]] = {
    kind: {ours: _spellings(ours, others) for ours, others in fields.items()}
    for kind, fields in _OTHER_FIELD_NAMES.items()
}


# What a call is about, the best first. A fetch has a URL and a prompt, a search a pattern and a path.
_MAIN_FIELDS: Final = (
    "command", *_OTHER_FIELD_NAMES[ToolKind.SHELL]["command"], "url", "pattern", "query", "path", *_FILE_PATH, "code",
    "prompt", "name",
)  # fmt: skip


def find_main_field(input: Mapping[str, Any]) -> str | None:
    """The field that says what a call is about; None if no field has a usual name."""
    return next((name for name in _MAIN_FIELDS if isinstance(input.get(name), str)), None)


MCP_NATIVE: Final = "mcp.{server}.{tool}"
MCP_DIGITORN: Final = "mcp_{server}.{tool}"
MCP_CLAUDE: Final = "mcp__{server}__{tool}"
MCP_GEMINI: Final = "mcp_{server}_{tool}"
MCP_CURSOR: Final = "MCP:{tool}"
MCP_KIRO: Final = "@{server}/{tool}"
MCP_PREFIX: Final = "{server}_{tool}"


@dataclass(frozen=True, slots=True, eq=False)
class Vocabulary:
    """One dialect's or host's names for the kinds of tools, and for the fields that differ from ours."""

    name: str
    names: Mapping[ToolKind, tuple[str, ...]]
    fields: Mapping[str, str]  # ours → theirs
    others: frozenset[str] = frozenset()  # tools that are certainly of no kind, whatever their names say
    mcp: str = MCP_NATIVE  # how it spells the tool of an MCP server
    marks_mcp: bool = True  # False: other tools may have such a name, so only its host can tell
    short_names: Mapping[str, str] | None = None  # full name → another short one; `module.action` is also `action`
    guesses_own_tools: bool = True  # False: in hookline's own sessions a matcher takes no guess about a tool's kind
    aliases: tuple[tuple[str, ...], ...] = ()  # groups of names; a matcher that names one matches the others, too

    def __hash__(self) -> int:
        return hash(self.name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vocabulary) and self.name == other.name

    def all_forms(self, name: str) -> tuple[str, ...]:
        """The name, and its short forms if the vocabulary has them."""
        if self.short_names is None:
            return (name,)
        return tuple(
            form for form in (name, name.partition(".")[2], self.short_names.get(name)) if form or form == name
        )

    def with_aliases(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names, and the other names of the same tools."""
        others = (alias for name in names for group in self.aliases if name in group for alias in group)
        return tuple(dict.fromkeys((*names, *others)))

    def kinds_of(self, name: str) -> list[ToolKind]:
        """The kinds of tools that the name stands for: several for `Write` in Cursor, none for a name of another tool."""
        return [kind for kind, names in self.names.items() if any(name in self.all_forms(each) for each in names)]

    @property
    def known_names(self) -> frozenset[str]:
        """Every name of a tool that the vocabulary has, short forms included."""
        listed = (form for names in self.names.values() for name in names for form in self.all_forms(name))
        return frozenset(listed) | self.others


def _make_vocabulary(
    name: str,
    names: dict[ToolKind, tuple[str, ...]],
    *,
    others: tuple[str, ...] = (),
    mcp: str = MCP_NATIVE,
    marks_mcp: bool = True,
    short: Mapping[str, str] | None = None,
    guesses_own_tools: bool = True,
    aliases: tuple[tuple[str, ...], ...] = (),
    **fields: str,
) -> Vocabulary:
    return Vocabulary(name, names, fields, frozenset(others), mcp, marks_mcp, short, guesses_own_tools, aliases)


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
_CLAUDE_OTHERS: Final = (
    "TodoWrite", "TodoRead", "BashOutput", "KillShell", "KillBash", "TaskOutput", "TaskStop", "TaskCreate", "TaskUpdate",
    "TaskList", "TaskGet", "ExitPlanMode", "EnterPlanMode", "EnterWorktree", "ExitWorktree", "AskUserQuestion", "Skill",
    "SlashCommand", "ToolSearch", "ListMcpResourcesTool", "ReadMcpResourceTool", "SendMessage", "NotebookRead", "LSP",
)  # fmt: skip
_GEMINI_OTHERS: Final = (
    "save_memory", "write_todos", "todo_write", "ask_user", "activate_skill", "get_internal_docs", "enter_plan_mode",
    "exit_plan_mode", "complete_task", "update_topic", "skill", "ask_user_question", "list_mcp_resources",
    "read_mcp_resource",
)  # fmt: skip
_COPILOT_OTHERS: Final = (
    "read_bash", "stop_bash", "list_bash", "read_powershell", "stop_powershell", "list_powershell", "report_intent",
    "update_todo", "fetch_copilot_cli_documentation", "ask_user", "skill", "store_memory", "sql", "read_agent",
    "list_agents", "write_agent", "exit_plan_mode",
)  # fmt: skip
_RUNTIME_OTHERS: Final = (
    "runjs", "storage", "files", "dom", "skill", "workspace.info", "workspace.tree", "workspace.changes",
    "memory.remember", "memory.recall", "memory.forget", "memory.list",
)  # fmt: skip
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
_QWEN_NAMES: Final[dict[ToolKind, tuple[str, ...]]] = {
    **_GEMINI_NAMES,
    ToolKind.EDIT: ("edit", "replace", "notebook_edit"),
    ToolKind.GREP: ("grep_search", "search_file_content"),
    ToolKind.SEARCH: ("web_search", "google_web_search"),
    ToolKind.AGENT: ("agent", "task", "invoke_agent"),
}

_GEMINI_ALIASES: Final = (
    ("replace", "edit"),
    ("search_file_content", "grep_search"),
    ("google_web_search", "web_search"),
    ("task", "agent", "invoke_agent"),
)
_KIRO_ALIASES: Final = (
    ("execute_bash", "shell", "executeBash", "execute_cmd", "execute_pwsh", "executePwsh"),
    ("fs_read", "read", "fsRead", "read_file"),
    ("fs_write", "write", "fsWrite", "fs_append", "fsAppend", "str_replace", "strReplace"),
    ("use_subagent", "subagent", "invoke_sub_agent", "orchestrate_subagent"),
    ("glob", "file_search"),
    ("grep", "grep_search"),
)
_OPENCODE_NAMES: Final[dict[ToolKind, tuple[str, ...]]] = {
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
}
_OPENCODE_OTHERS: Final = (
    "todowrite", "todoread", "question", "skill", "lsp", "invalid", "plan_enter", "plan_exit", "batch",
)  # fmt: skip

VOCABULARIES: Final[dict[str, Vocabulary]] = {
    vocabulary.name: vocabulary
    for vocabulary in (
        _make_vocabulary("native", _RUNTIME_NAMES, others=_RUNTIME_OTHERS),
        _make_vocabulary("hookline", _RUNTIME_NAMES, others=_RUNTIME_OTHERS),
        _make_vocabulary("flo", _RUNTIME_NAMES, others=_RUNTIME_OTHERS, guesses_own_tools=False),
        _make_vocabulary("standard_agents", _RUNTIME_NAMES, others=_RUNTIME_OTHERS),
        _make_vocabulary(
            "microai",
            {**_CLAUDE_NAMES, ToolKind.EDIT: ("Edit",), ToolKind.LIST: (), ToolKind.AGENT: ()},
            mcp=MCP_CLAUDE,
            path="file_path",
        ),
        _make_vocabulary(
            "ai_agents",
            {
                ToolKind.SHELL: ("BashExecutor",),
                ToolKind.READ: ("FileReader",),
                ToolKind.WRITE: ("FileWriter",),
                ToolKind.EDIT: ("CodeEditor",),
            },
            mcp=MCP_CLAUDE,
            path="file_path",
        ),
        _make_vocabulary(
            "digitorn",
            {
                ToolKind.SHELL: ("shell.run",),
                ToolKind.READ: ("filesystem.read",),
                ToolKind.WRITE: ("filesystem.write", "filesystem.delete"),
                ToolKind.EDIT: ("filesystem.edit",),
                ToolKind.LIST: ("filesystem.list",),
                ToolKind.GLOB: ("filesystem.glob",),
                ToolKind.GREP: ("filesystem.grep",),
                ToolKind.FETCH: ("web.fetch",),
                ToolKind.SEARCH: ("web.search",),
                ToolKind.AGENT: ("agent_spawn",),
            },
            mcp=MCP_DIGITORN,
            short={
                "shell.run": "Bash",
                "filesystem.read": "Read",
                "filesystem.write": "Write",
                "filesystem.edit": "Edit",
            },
        ),
        _make_vocabulary(
            "claude_code",
            {**_CLAUDE_NAMES, ToolKind.SHELL: ("Bash", "PowerShell")},
            others=_CLAUDE_OTHERS,
            mcp=MCP_CLAUDE,
            aliases=(("Task", "Agent"),),
            path="file_path",
        ),
        _make_vocabulary(
            "codex",
            {
                ToolKind.SHELL: ("Bash",),
                ToolKind.READ: ("Read",),
                ToolKind.EDIT: ("apply_patch",),
                ToolKind.WRITE: ("apply_patch",),
                ToolKind.LIST: ("LS",),
                ToolKind.GLOB: ("Glob",),
                ToolKind.GREP: ("Grep",),
                ToolKind.FETCH: ("WebFetch",),
                ToolKind.SEARCH: ("WebSearch",),
                ToolKind.AGENT: ("spawn_agent",),
            },
            others=("update_plan", "view_image", "wait_agent", "close_agent", "request_user_input"),
            mcp=MCP_CLAUDE,
        ),
        _make_vocabulary(
            "gemini_cli",
            _GEMINI_NAMES,
            others=_GEMINI_OTHERS,
            mcp=MCP_GEMINI,
            aliases=_GEMINI_ALIASES,
            path="file_path",
        ),
        _make_vocabulary(
            "qwen_code",
            _QWEN_NAMES,
            others=_GEMINI_OTHERS,
            mcp=MCP_CLAUDE,
            aliases=_GEMINI_ALIASES,
            path="file_path",
        ),
        _make_vocabulary(
            "copilot_cli",
            {
                ToolKind.SHELL: ("bash", "powershell", "write_bash", "write_powershell"),
                ToolKind.READ: ("view",),
                ToolKind.WRITE: ("create",),
                ToolKind.EDIT: ("edit", "str_replace_editor", "apply_patch"),
                ToolKind.GLOB: ("glob",),
                ToolKind.GREP: ("grep", "rg"),
                ToolKind.FETCH: ("web_fetch",),
                ToolKind.SEARCH: ("web_search",),
                ToolKind.AGENT: ("task",),
            },
            others=_COPILOT_OTHERS,
            mcp="{server}-{tool}",
            aliases=(("edit", "str_replace_editor", "apply_patch"), ("grep", "rg")),
            marks_mcp=False,
        ),
        _make_vocabulary(
            "opencode",
            _OPENCODE_NAMES,
            others=_OPENCODE_OTHERS,
            mcp=MCP_PREFIX,
            marks_mcp=False,
            path="filePath",
            old_string="oldString",
            new_string="newString",
        ),
        _make_vocabulary(
            "cursor",
            {
                ToolKind.SHELL: ("Shell", "WriteShellStdin"),
                ToolKind.READ: ("Read",),
                ToolKind.WRITE: ("Write", "Delete"),
                ToolKind.EDIT: ("Write", "StrReplace", "ApplyPatch"),  # every edit is a Write for hooks
                ToolKind.LIST: ("LS", "List"),
                ToolKind.GLOB: ("Glob",),
                ToolKind.GREP: ("Grep",),
                ToolKind.FETCH: ("WebFetch", "Fetch"),
                ToolKind.SEARCH: ("WebSearch",),
                ToolKind.AGENT: ("Task",),
            },
            others=("TodoWrite", "ReadLints", "ListMcpResources", "FetchMcpResource", "ComputerUse", "RecordScreen"),
            mcp=MCP_CURSOR,
            aliases=(("Write", "StrReplace", "ApplyPatch"), ("LS", "List"), ("WebFetch", "Fetch")),
            path="file_path",
        ),
        _make_vocabulary(
            "cline",
            {
                ToolKind.SHELL: ("execute_command", "run_commands"),
                ToolKind.READ: ("read_file", "read_files"),
                ToolKind.WRITE: ("write_to_file",),
                ToolKind.EDIT: ("replace_in_file", "apply_patch", "editor"),
                ToolKind.LIST: ("list_files",),
                ToolKind.GREP: ("search_files", "search_codebase"),
                ToolKind.FETCH: ("web_fetch", "fetch_web_content"),
                ToolKind.SEARCH: ("web_search",),
                ToolKind.AGENT: ("new_task", "use_subagents", "spawn_agent"),
            },
            others=(
                "attempt_completion",
                "ask_followup_question",
                "plan_mode_respond",
                "act_mode_respond",
                "load_mcp_documentation",
                "access_mcp_resource",
                "use_skill",
                "condense",
                "new_rule",
                "report_bug",
                "focus_chain",
                "ask_question",
            ),
            mcp="{server}__{tool}",
            marks_mcp=False,
        ),
        _make_vocabulary(
            "windsurf",
            {
                ToolKind.SHELL: ("run_command",),
                ToolKind.READ: ("read_code",),
                ToolKind.EDIT: ("write_code",),
                ToolKind.WRITE: ("write_code",),
            },
            path="file_path",
        ),
        _make_vocabulary(
            "kiro",
            {
                ToolKind.SHELL: ("execute_bash", "shell", "executeBash", "execute_cmd", "execute_pwsh", "executePwsh"),
                ToolKind.READ: ("fs_read", "read", "fsRead", "read_file"),
                ToolKind.WRITE: ("fs_write", "write", "fsWrite", "fs_append", "fsAppend"),
                ToolKind.EDIT: ("fs_write", "write", "fsWrite", "str_replace", "strReplace"),
                ToolKind.LIST: ("list_directory",),
                ToolKind.GLOB: ("glob", "file_search"),
                ToolKind.GREP: ("grep", "grep_search"),
                ToolKind.FETCH: ("web_fetch",),
                ToolKind.SEARCH: ("web_search",),
                ToolKind.AGENT: ("use_subagent", "subagent", "invoke_sub_agent", "orchestrate_subagent"),
            },
            mcp=MCP_KIRO,
            aliases=_KIRO_ALIASES,
            content="file_text",
            old_string="old_str",
            new_string="new_str",
        ),
        _make_vocabulary(
            "kilo",
            {
                **_OPENCODE_NAMES,
                ToolKind.SHELL: ("bash", "background_process", "notebook_execute"),
                ToolKind.GREP: ("grep", "semantic_search"),
                ToolKind.FETCH: ("webfetch", "browser_open"),
            },
            others=(*_OPENCODE_OTHERS, "suggest", "agent_manager", "agent_manager_models", "notify_user", "send_file"),
            mcp=MCP_PREFIX,
            marks_mcp=False,
            path="filePath",
            old_string="oldString",
            new_string="newString",
        ),
        _make_vocabulary(
            "grok_build",
            {
                ToolKind.SHELL: ("run_terminal_command",),
                ToolKind.READ: ("read_file",),
                ToolKind.WRITE: ("write",),
                ToolKind.EDIT: ("search_replace",),
                ToolKind.LIST: ("list_dir",),
                ToolKind.GREP: ("grep",),
                ToolKind.FETCH: ("web_fetch",),
                ToolKind.SEARCH: ("web_search",),
                ToolKind.AGENT: ("spawn_subagent",),
            },
            mcp=MCP_CLAUDE,
            path="file_path",
        ),
        _make_vocabulary(
            "droid",
            {
                ToolKind.SHELL: ("Execute",),
                ToolKind.READ: ("Read",),
                ToolKind.WRITE: ("Create",),
                ToolKind.EDIT: ("Edit", "ApplyPatch"),
                ToolKind.LIST: ("LS",),
                ToolKind.GLOB: ("Glob",),
                ToolKind.GREP: ("Grep",),
                ToolKind.FETCH: ("FetchUrl",),
                ToolKind.SEARCH: ("WebSearch",),
                ToolKind.AGENT: ("Task",),
            },
            others=("TodoWrite", "ExitSpecMode", "AskUser", "Skill"),
            mcp="{server}___{tool}",
            marks_mcp=False,
            path="file_path",
            old_string="old_str",
            new_string="new_str",
        ),
        _make_vocabulary(
            "vscode_copilot",
            {
                ToolKind.SHELL: ("runTerminalCommand", "run_in_terminal", "runInTerminal", "send_to_terminal"),
                ToolKind.READ: ("readFile", "read_file"),
                ToolKind.WRITE: ("createFile", "create_file", "deleteFile", "delete_file"),
                ToolKind.EDIT: (
                    "editFiles",
                    "replace_string_in_file",
                    "multi_replace_string_in_file",
                    "insert_edit_into_file",
                    "edit_notebook_file",
                    "apply_patch",
                ),
                ToolKind.LIST: ("listDirectory", "list_dir"),
                ToolKind.GLOB: ("fileSearch", "file_search"),
                ToolKind.GREP: ("textSearch", "grep_search", "semantic_search"),
                ToolKind.FETCH: ("fetch", "fetch_webpage"),
                ToolKind.AGENT: ("runSubagent", "agent"),
            },
            others=("codebase", "usages", "problems", "todos", "manage_todo_list", "get_terminal_output"),
            path="filePath",
            old_string="oldString",
            new_string="newString",
        ),
        _make_vocabulary(
            "pi",
            {
                ToolKind.SHELL: ("bash", "powershell"),
                ToolKind.READ: ("read",),
                ToolKind.WRITE: ("write",),
                ToolKind.EDIT: ("edit",),
                ToolKind.LIST: ("ls",),
                ToolKind.GLOB: ("find",),
                ToolKind.GREP: ("grep",),
            },
            old_string="oldText",
            new_string="newText",
        ),
        _make_vocabulary(
            "openclaw",
            {
                ToolKind.SHELL: ("exec",),
                ToolKind.READ: ("read",),
                ToolKind.WRITE: ("write",),
                ToolKind.EDIT: ("edit", "apply_patch"),
                ToolKind.LIST: ("ls",),
                ToolKind.FETCH: ("web_fetch",),
                ToolKind.SEARCH: ("web_search",),
                ToolKind.AGENT: ("sessions_spawn",),
            },
            others=("process", "tool_search", "tool_describe", "sessions_yield"),
            old_string="oldText",
            new_string="newText",
        ),
        _make_vocabulary(
            "kimi_code",
            {
                **_CLAUDE_NAMES,
                ToolKind.FETCH: ("FetchURL",),
                ToolKind.SEARCH: ("WebSearch", "SearchWeb"),
                ToolKind.AGENT: ("Agent", "Task"),
            },
            others=("Think", "SetTodoList", "TodoList", "AskUserQuestion", "ExitPlanMode", "EnterPlanMode"),
            mcp=MCP_CLAUDE,
            aliases=(("Agent", "Task"), ("WebSearch", "SearchWeb")),
        ),
        _make_vocabulary(
            "kimi_cli",
            {
                ToolKind.SHELL: ("Shell",),
                ToolKind.READ: ("ReadFile", "ReadMediaFile"),
                ToolKind.WRITE: ("WriteFile",),
                ToolKind.EDIT: ("StrReplaceFile",),
                ToolKind.GLOB: ("Glob",),
                ToolKind.GREP: ("Grep",),
                ToolKind.FETCH: ("FetchURL",),
                ToolKind.SEARCH: ("SearchWeb",),
                ToolKind.AGENT: ("Agent", "Task"),
            },
            others=("Think", "SetTodoList", "AskUserQuestion", "ExitPlanMode", "EnterPlanMode", "TaskOutput"),
            mcp=MCP_CLAUDE,
            aliases=(("Agent", "Task"),),
        ),
        _make_vocabulary(
            "deepagents_code",
            {**_CLAUDE_NAMES, ToolKind.SHELL: ("Bash", "js_eval")},
            others=("TodoWrite", "write_todos", "ask_user"),
            mcp=MCP_CLAUDE,
            path="file_path",
        ),
        _make_vocabulary(
            "hermes",
            {
                ToolKind.SHELL: ("terminal",),
                ToolKind.READ: ("read_file",),
                ToolKind.WRITE: ("write_file",),
                ToolKind.EDIT: ("patch",),
                ToolKind.GREP: ("search_files",),
                ToolKind.FETCH: ("web_extract", "browser_navigate"),
                ToolKind.SEARCH: ("web_search",),
                ToolKind.AGENT: ("delegate_task",),
            },
            others=("process", "todo", "memory", "clarify", "session_search", "skill_view", "skills_list"),
        ),
        _make_vocabulary(
            "auggie",
            {
                ToolKind.SHELL: ("launch-process", "write-process"),
                ToolKind.READ: ("view",),
                ToolKind.WRITE: ("save-file", "remove-files"),
                ToolKind.EDIT: ("str-replace-editor", "apply_patch"),
                ToolKind.FETCH: ("web-fetch", "open-browser"),
                ToolKind.SEARCH: ("web-search",),
            },
            others=(
                "read-process",
                "kill-process",
                "list-processes",
                "read-terminal",
                "codebase-retrieval",
                "diagnostics",
            ),
            mcp="{tool}_{server}",
            marks_mcp=False,
            old_string="old_str",
            new_string="new_str",
        ),
        _make_vocabulary(
            "openhands",
            {
                ToolKind.SHELL: ("terminal", "execute_bash", "bash"),
                ToolKind.READ: ("read_file",),
                ToolKind.WRITE: ("create_file",),
                ToolKind.EDIT: ("file_editor", "str_replace_editor", "apply_patch"),
                ToolKind.GLOB: ("glob",),
                ToolKind.GREP: ("grep",),
                ToolKind.AGENT: ("delegate", "task"),
            },
            others=("finish", "think", "task_tracker"),
            old_string="old_str",
            new_string="new_str",
        ),
        _make_vocabulary("letta_code", _CLAUDE_NAMES, others=_CLAUDE_OTHERS, mcp=MCP_CLAUDE, path="file_path"),
        _make_vocabulary(
            "crush",
            {
                ToolKind.SHELL: ("bash",),
                ToolKind.READ: ("view",),
                ToolKind.WRITE: ("write", "download"),
                ToolKind.EDIT: ("edit", "multiedit"),
                ToolKind.LIST: ("ls",),
                ToolKind.GLOB: ("glob",),
                ToolKind.GREP: ("grep", "sourcegraph"),
                ToolKind.FETCH: ("fetch", "agentic_fetch"),
                ToolKind.AGENT: ("agent",),
            },
            others=("job_output", "job_kill", "diagnostics", "references", "todos"),
            path="file_path",
        ),
    )
}
NATIVE: Final = VOCABULARIES["native"]


_KIND_BY_NAME: Final[dict[str, ToolKind]] = {}
for _vocabulary in VOCABULARIES.values():
    for _kind, _names in _vocabulary.names.items():
        for _name in _names:
            _KIND_BY_NAME.setdefault(_name, _kind)


_OTHER_NAMES: Final = frozenset(name for vocabulary in VOCABULARIES.values() for name in vocabulary.others)


def kind_of_name(name: str) -> ToolKind:
    """The kind of a tool with this name, from the table."""
    return _KIND_BY_NAME.get(name, ToolKind.OTHER)


def is_known_name(name: str) -> bool:
    """Whether a host or dialect has a tool of this name."""
    return name in _KIND_BY_NAME or name in _OTHER_NAMES


def tool_kind(tool: Any) -> ToolKind:
    """The kind that the tool declares, or else the one of its name in the table."""
    if not isinstance(tool, dict):
        return ToolKind.OTHER
    kind, name = tool.get("kind"), tool.get("name")
    if isinstance(kind, str) and kind in KIND_BY_VALUE:
        return KIND_BY_VALUE[kind]
    return kind_of_name(name) if isinstance(name, str) else ToolKind.OTHER


KINDS_WITH_INPUT: Final = (ToolKind.SHELL, ToolKind.READ, ToolKind.WRITE, ToolKind.EDIT)
"""Kinds of tools that are never called without arguments."""
KIND_BY_VALUE: Final = {kind.value: kind for kind in ToolKind}


@lru_cache(maxsize=1024)
def is_path_field(name: str) -> bool:
    """Whether some kind of tool has a path field of this name."""
    return any(name == "path" or name in fields.get("path", ()) for fields in FIELD_NAMES.values())


def main_field(kind: ToolKind) -> str | None:
    """The field that says what a call is about: a shell's command, a file's path."""
    return next(iter(FIELD_NAMES[kind]), None)
