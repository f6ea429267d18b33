"""The tools of the modules `filesystem`, `workspace` and `memory`, named `module.action`."""

from __future__ import annotations

import os
import secrets
import time
from datetime import timedelta
from typing import Any, Final

from hookline.hooks.host import Command, ProgramResult, ToolResult
from hookline.hooks.tools import ToolKind
from hookline.lazy_dataclasses import dataclass, field
from hookline.runtime.tools.bash import shorten_output
from hookline.runtime.tools.blocking import Deadline, run_blocking
from hookline.runtime.tools.file_tools import (
    delete_file,
    edit_file,
    format_entry,
    list_directory,
    read_file,
    write_file,
)
from hookline.runtime.tools.program_environment import run_without_model_keys
from hookline.runtime.tools.search import WalkStats, glob, grep, list_entries, walk_files
from hookline.runtime.tools.storage_tools import check_json_size
from hookline.runtime.tools.tool_definition import (
    BuiltInTool,
    ToolContext,
    integer_schema,
    object_schema,
    string_schema,
)
from hookline.runtime.tools.workspace import ToolError, open_directory, printable_name

FILESYSTEM_TOOLS = (
    read_file.with_name("filesystem.read"),
    write_file.with_name("filesystem.write"),
    edit_file.with_name("filesystem.edit"),
    list_directory.with_name("filesystem.list"),
    glob.with_name("filesystem.glob"),
    grep.with_name("filesystem.grep"),
    delete_file.with_name("filesystem.delete"),
)


MAX_TREE_LINES: Final = 1_000
_DEFAULT_TREE_DEPTH: Final = 3
_WORKSPACE_SECONDS: Final = 10.0
_GIT_TIMEOUT: Final = timedelta(seconds=20)
_GIT_ENVIRONMENT: Final = {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
_GIT_INHERITED_VARIABLES: Final = ("PATH", "HOME", "USER")
_SAFE_GIT_SETTINGS: Final = ("core.fsmonitor=false", "core.hooksPath=/dev/null", "core.untrackedCache=false")
_FILTER_OVERRIDES: Final = ("clean=", "smudge=", "process=", "required=false")


async def _workspace_info(input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
    def work(deadline: Deadline) -> dict[str, Any]:
        workspace, walked = context.files, WalkStats()
        with workspace.directory(".") as (directory, _):
            size = sum(1 for _ in walk_files(directory, "", deadline, walked))
        return {"path": str(workspace.root), "files": size, "all_counted": walked.is_complete}

    return await run_blocking(work, _WORKSPACE_SECONDS)


async def _workspace_tree(input: dict[str, Any], context: ToolContext) -> str:
    def work(deadline: Deadline) -> str:
        tree = _TreeBuilder(deadline)
        with context.files.directory(input.get("path", ".")) as (directory, _):
            complete = tree.add_directory(directory, int(input.get("depth", _DEFAULT_TREE_DEPTH)))
        return "\n".join([*tree.lines, *([] if complete else ["[there is more]"])])

    return await run_blocking(work, _WORKSPACE_SECONDS)


@dataclass(slots=True)
class _TreeBuilder:
    deadline: Deadline
    lines: list[str] = field(default_factory=list)

    def add_directory(self, directory: int, depth: int, indent: str = "") -> bool:
        """False if something was left out."""
        listed, complete = list_entries(directory, MAX_TREE_LINES)
        for entry in listed:
            if len(self.lines) >= MAX_TREE_LINES or self.deadline.is_over:
                return False
            self.lines.append(indent + format_entry(entry, directory))
            if entry.is_directory and entry.name != ".git" and depth > 1:
                complete &= self._add_subdirectory(directory, entry.name, depth - 1, f"{indent}  ")
        return complete

    def _add_subdirectory(self, directory: int, name: str, depth: int, indent: str) -> bool:
        try:
            inner = open_directory(name, directory)
        except OSError:  # it was removed, or is not readable
            return False
        try:
            return self.add_directory(inner, depth, indent)
        finally:
            os.close(inner)


async def _workspace_changes(input: dict[str, Any], context: ToolContext) -> ToolResult:
    status = await git_status(context)
    if status is None:
        raise ToolError("the workspace is not in a git repository")
    return ToolResult(shorten_output("\n".join(printable_name(line) for line in status.split("\n"))))


async def git_status(context: ToolContext) -> str | None:
    """Changed files, as `git status --porcelain` lists them; None outside a repository.

    The settings of a repository can name programs: none of them is run.
    """
    config = await _run_git(context, "config", "--null", "--name-only", "--list")
    if (
        config.exit_code != 0
        or (await _run_git(context, "rev-parse", "--is-inside-work-tree")).stdout.strip() != "true"
    ):
        return None
    settings = [setting for each in (*_SAFE_GIT_SETTINGS, *_disable_filters(config.stdout)) for setting in ("-c", each)]
    status = await _run_git(
        context, *settings, "status", "--porcelain", "--branch", "--ignore-submodules=all", "--", "."
    )
    if status.exit_code != 0:
        raise ToolError(f"git status failed: {status.stderr.strip()[:500]}")
    return status.stdout.rstrip("\n")


def _disable_filters(names: str) -> list[str]:
    """Settings that disable every filter in the repository's settings."""
    filters = {name[7:].rpartition(".")[0] for name in names.split("\0") if name.lower().startswith("filter.")}
    unsafe = [each for each in filters if "=" in each or "\n" in each]
    if unsafe:
        raise ToolError("git's settings name a filter that cannot be disabled")
    return [f"filter.{name}.{setting}" for name in sorted(filters) if name for setting in _FILTER_OVERRIDES]


async def _run_git(context: ToolContext, *arguments: str) -> ProgramResult:
    argv = ("git", "--no-pager", *arguments)
    root = str(context.files.root)
    command = Command(
        argv=argv, cwd=root, env=_GIT_ENVIRONMENT, inherit_env=_GIT_INHERITED_VARIABLES, timeout=_GIT_TIMEOUT
    )
    return await run_without_model_keys(context, command)


WORKSPACE_TOOLS = (
    BuiltInTool(
        "workspace.info",
        "Returns the path of the workspace and its number of files.",
        object_schema(),
        ToolKind.OTHER,
        _workspace_info,
    ),
    BuiltInTool(
        "workspace.tree",
        "Shows the directories and files of the workspace as a tree.",
        object_schema(
            path=string_schema("The directory to start at; default: the workspace."),
            depth=integer_schema(f"The maximum depth; default: {_DEFAULT_TREE_DEPTH}.", 1, 20),
        ),
        ToolKind.LIST,
        _workspace_tree,
    ),
    BuiltInTool(
        "workspace.changes",
        "Shows the git status of the workspace.",
        object_schema(),
        ToolKind.OTHER,
        _workspace_changes,
    ),
)


MAX_MEMORIES: Final = 500
_MAX_MEMORY_LENGTH: Final = 20_000  # characters of one memory
_DEFAULT_RECALL_LIMIT: Final = 10


def _memory_owner(context: ToolContext) -> str:
    return f"memory:{context.agent}"


async def _remember(input: dict[str, Any], context: ToolContext) -> dict[str, Any]:
    id = f"{time.time_ns() // 1_000_000:013d}-{secrets.token_hex(3)}"  # sorts by age
    memory = {"content": input["content"], "tags": list(input.get("tags", []))}
    check_json_size(memory, 2 * _MAX_MEMORY_LENGTH)
    if not await context.store.set_value(_memory_owner(context), id, memory, MAX_MEMORIES):
        raise ToolError(f"there are {MAX_MEMORIES} memories already; forget some")
    return {"id": id}


async def _recall(input: dict[str, Any], context: ToolContext) -> list[dict[str, Any]]:
    """Sorted by the number of words of the query that they contain, then newest first."""
    words = {word for word in input.get("query", "").casefold().split() if word}
    limit = int(input.get("limit", _DEFAULT_RECALL_LIMIT))
    ids = sorted(await context.store.keys(_memory_owner(context)), reverse=True)
    if not words:
        return [each for each in [await _load_memory(context, id) for id in ids[:limit]] if each]
    found = [(_count_hits(each, words), each) for each in [await _load_memory(context, id) for id in ids] if each]
    best = sorted((pair for pair in found if pair[0]), key=lambda pair: -pair[0])
    return [each for _, each in best[:limit]]


async def _load_memory(context: ToolContext, id: str) -> dict[str, Any] | None:
    memory = await context.store.get_value(_memory_owner(context), id)
    return {"id": id, **memory} if isinstance(memory, dict) else None


def _count_hits(memory: dict[str, Any], words: set[str]) -> int:
    text = " ".join([str(memory.get("content", "")), *map(str, memory.get("tags", []))]).casefold()
    return sum(word in text for word in words)


async def _forget(input: dict[str, Any], context: ToolContext) -> str:
    if not await context.store.delete_value(_memory_owner(context), input["id"]):
        raise ToolError("there is no memory with this id")
    return "forgotten"


async def _list_memories(input: dict[str, Any], context: ToolContext) -> list[dict[str, Any]]:
    return await _recall({"limit": MAX_MEMORIES}, context)


MEMORY_TOOLS = (
    BuiltInTool(
        "memory.remember",
        "Stores a memory that you can recall later, also in other sessions.",
        object_schema(
            "content",
            content=string_schema("What to remember.", minLength=1, maxLength=_MAX_MEMORY_LENGTH),
            tags={
                "type": "array",
                "items": {"type": "string"},
                "maxItems": 20,
                "description": "Tags; recall searches them too.",
            },
        ),
        ToolKind.OTHER,
        _remember,
    ),
    BuiltInTool(
        "memory.recall",
        "Finds memories that contain words of the query. Without a query, returns the newest ones.",
        object_schema(
            query=string_schema("The words to search for.", maxLength=1_000),
            limit=integer_schema(f"The maximum number of memories; default: {_DEFAULT_RECALL_LIMIT}.", 1, MAX_MEMORIES),
        ),
        ToolKind.OTHER,
        _recall,
    ),
    BuiltInTool(
        "memory.forget",
        "Deletes a memory.",
        object_schema("id", id=string_schema("The id of the memory, from remember, recall or list.", maxLength=100)),
        ToolKind.OTHER,
        _forget,
    ),
    BuiltInTool("memory.list", "Lists all memories, newest first.", object_schema(), ToolKind.OTHER, _list_memories),
)
