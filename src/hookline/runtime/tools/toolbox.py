"""The tools of an agent, and how to find one by any name that a model or a hook uses."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable
from typing import Final

from hookline.errors import HooklineError
from hookline.hooks.tool_name import mcp_spellings
from hookline.hooks.tools import VOCABULARIES, ToolKind
from hookline.patterns.matchers import tool_glob
from hookline.patterns.pattern import BadPattern, Pattern, UndecidedError
from hookline.runtime.models.model import OfferedTool
from hookline.runtime.models.provider_messages import offered_names
from hookline.runtime.tools import modules
from hookline.runtime.tools.bash import bash
from hookline.runtime.tools.fetch import fetch_tool
from hookline.runtime.tools.file_tools import edit_file, list_directory, read_file, write_file
from hookline.runtime.tools.runjs import runjs
from hookline.runtime.tools.search import glob, grep
from hookline.runtime.tools.storage_tools import files, storage
from hookline.runtime.tools.tool_definition import BuiltInTool, Tool


def built_in_tools(private: tuple[str, ...] = ()) -> tuple[Tool, ...]:
    """private: hosts, or host:port, that `fetch` may reach although they are not public."""
    return (
        bash,
        read_file,
        write_file,
        edit_file,
        list_directory,
        glob,
        grep,
        fetch_tool(private),
        runjs,
        storage,
        files,
    )


def module_tools() -> tuple[Tool, ...]:
    """The tools named `module.action`, for apps that use such names."""
    return (*modules.FILESYSTEM_TOOLS, *modules.MEMORY_TOOLS, *modules.WORKSPACE_TOOLS)


_MODULE_NAMES: Final = {
    kind: tuple(name for vocabulary in VOCABULARIES.values() for name in vocabulary.names.get(kind, ()) if "." in name)
    for kind in ToolKind
}
"""What hooks call a tool of each kind as `module.action`: `shell.run`, `web.fetch`."""
_UNSUPPORTED_TOOLS: Final = {"dom": "there is no browser here"}
_MAX_CACHED_SELECTIONS: Final = 64


class Toolbox:
    """Immutable. Raises HooklineError if two tools have the same name."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self.tools = tuple(tools)
        duplicates = [name for name, count in Counter(tool.name for tool in self.tools).items() if count > 1]
        if duplicates:
            raise HooklineError(f"two tools have the name {duplicates[0]}; rename one of them")
        self._offered_names = offered_names(tool.name for tool in self.tools)
        self._names = {
            tool.name: (tool.name, self._offered_names[tool.name], *_aliases(tool.name)) for tool in self.tools
        }
        self._by_name = self._build_index()
        self._by_kind = {
            name: tool for tool in reversed(self.tools) for name in _MODULE_NAMES.get(ToolKind(tool.kind), ())
        }
        self._offered = {
            tool.name: OfferedTool(self._offered_names[tool.name], tool.description, tool.schema) for tool in self.tools
        }
        self._selections: dict[tuple[str, ...] | None, tuple[Tool, ...]] = {}

    def find(self, name: str) -> Tool | None:
        """Prefers a tool's own name, then its name for models, then other spellings, then a module's name for its kind."""
        return self._by_name.get(name) or self._by_kind.get(name)

    def callable_names(self) -> tuple[str, ...]:
        """The names of the tools, and the names of modules for their kinds."""
        return (*(tool.name for tool in self.tools), *self._by_kind)

    def describe_missing(self, name: str) -> str:
        """The message for the model when `find` returns None."""
        if name in _UNSUPPORTED_TOOLS:
            return f"there is no tool {name!r}: {_UNSUPPORTED_TOOLS[name]}"
        matches = difflib.get_close_matches(name[:100], list(self._by_name), 1, 0.7)
        hint = f"; did you mean {self._offered_names[self._by_name[matches[0]].name]}?" if matches else ""
        return f"there is no tool {name[:100]!r}{hint}"

    def offered_tools(self, patterns: tuple[str, ...] | None = None) -> tuple[OfferedTool, ...]:
        """The tools offered to a model: those that match `patterns`. Without patterns: all, without duplicates.

        Raises HooklineError for an invalid glob.
        """
        return tuple([self._offered[tool.name] for tool in self._select_tools(patterns)])

    def offers(self, tool: Tool, patterns: tuple[str, ...] | None = None) -> bool:
        """True if these patterns allow the tool; without patterns every name is allowed."""
        return patterns is None or any(each.name == tool.name for each in self._select_tools(patterns))

    def with_tools(self, more: Iterable[Tool], replacing: bool = False) -> Toolbox:
        """With `replacing`, a tool of the same name gives way. Without it, it is an error."""
        added = tuple(more)
        names = {tool.name for tool in added} if replacing else set()
        return Toolbox((*(tool for tool in self.tools if tool.name not in names), *added))

    def _build_index(self) -> dict[str, Tool]:
        found = {tool.name: tool for tool in self.tools}
        for tool in self.tools:
            found.setdefault(self._offered_names[tool.name], tool)
        claims = Counter(alias for tool in self.tools for alias in set(_aliases(tool.name)))
        for tool in self.tools:
            for alias in _aliases(tool.name):
                if claims[alias] == 1:  # an ambiguous alias finds no tool
                    found.setdefault(alias, tool)
        return found

    def _select_tools(self, patterns: tuple[str, ...] | None) -> tuple[Tool, ...]:
        if patterns not in self._selections:
            if len(self._selections) >= _MAX_CACHED_SELECTIONS:
                self._selections.clear()
            self._selections[patterns] = self._distinct_tools() if patterns is None else self._tools_matching(patterns)
        return self._selections[patterns]

    def _distinct_tools(self) -> tuple[Tool, ...]:
        """Tools with the same body, such as `read_file` and `filesystem.read`, are offered once."""
        chosen: dict[object, Tool] = {}
        for tool in self.tools:
            chosen.setdefault(tool.body if isinstance(tool, BuiltInTool) else tool.name, tool)
        return tuple(chosen.values())

    def _tools_matching(self, patterns: tuple[str, ...]) -> tuple[Tool, ...]:
        globs = [glob for each in patterns for glob in _parse_globs(each)]
        return tuple(
            tool
            for tool in self.tools
            if any(_glob_matches(glob, name) for glob in globs for name in self._names[tool.name])
        )


def _aliases(name: str) -> tuple[str, ...]:
    """An MCP tool's other spellings, and `server.tool`, as if the server were a module."""
    spellings = mcp_spellings(name)
    return tuple(each for each in (*spellings, spellings[0].removeprefix("mcp.")) if each != name) if spellings else ()


def _parse_globs(pattern: str) -> tuple[Pattern, Pattern]:
    """The name of a module or server matches all its tools."""
    try:
        return tool_glob(pattern), tool_glob(f"{pattern}.*")
    except BadPattern as error:
        raise HooklineError(f"invalid tool pattern {pattern!r}: {error}") from None


def _glob_matches(glob: Pattern, name: str) -> bool:
    try:
        return glob.search(name)
    except UndecidedError:
        return False
