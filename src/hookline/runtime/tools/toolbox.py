"""The tools that an agent has, by any name that a model or a hook has for them."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable
from typing import Final

from hookline.errors import HooklineError
from hookline.hooks.tools import Kind, names_of
from hookline.patterns.globs import tool_glob
from hookline.patterns.pattern import BadPattern, Pattern, Undecided
from hookline.runtime.models.model import Offered
from hookline.runtime.models.spelling import offered_names
from hookline.runtime.tools.built_in import BuiltIn
from hookline.runtime.tools.tool import Tool

_ABSENT: Final = {"dom": "there is no browser here"}
_MOST_REMEMBERED: Final = 64


class Toolbox:
    """Does not change. Raises HooklineError if two tools have one name."""

    def __init__(self, tools: Iterable[Tool] = ()) -> None:
        self.tools = tuple(tools)
        twice = [name for name, count in Counter(tool.name for tool in self.tools).items() if count > 1]
        if twice:
            raise HooklineError(f"two tools are called {twice[0]}; give one of them another name")
        self._offered = offered_names(tool.name for tool in self.tools)
        self._names = {tool.name: (tool.name, self._offered[tool.name], *_aliases(tool.name)) for tool in self.tools}
        self._by_name = self._index()
        self._chosen: dict[tuple[str, ...] | None, tuple[Tool, ...]] = {}

    def find(self, name: str) -> Tool | None:
        """A tool's own name counts before the one that models hear, and that before other ways to write it."""
        return self._by_name.get(name)

    def why_not(self, name: str) -> str:
        """In words for the model, why `find` has nothing."""
        if name in _ABSENT:
            return f"there is no tool {name!r}: {_ABSENT[name]}"
        near = difflib.get_close_matches(name[:100], list(self._by_name), 1, 0.7)
        hint = f"; did you mean {self._offered[self._by_name[near[0]].name]}?" if near else ""
        return f"there is no tool {name[:100]!r}{hint}"

    def offered(self, patterns: tuple[str, ...] | None = None) -> tuple[Offered, ...]:
        """What models hear of: what a name or glob of `patterns` means, or everything, each thing to do once.

        Raises HooklineError for a glob that cannot be read.
        """
        return tuple(
            Offered(self._offered[tool.name], tool.description, tool.schema) for tool in self._chosen_by(patterns)
        )

    def offers(self, tool: Tool, patterns: tuple[str, ...] | None = None) -> bool:
        """Whether an agent that has these patterns may use it; without any, it may use each by each of its names."""
        return patterns is None or any(each.name == tool.name for each in self._chosen_by(patterns))

    def with_tools(self, more: Iterable[Tool]) -> Toolbox:
        return Toolbox((*self.tools, *more))

    def _index(self) -> dict[str, Tool]:
        found = {tool.name: tool for tool in self.tools}
        for tool in self.tools:
            found.setdefault(self._offered[tool.name], tool)
        claims = Counter(alias for tool in self.tools for alias in set(_aliases(tool.name)))
        for tool in self.tools:
            for alias in _aliases(tool.name):
                if claims[alias] == 1:  # of two that one name could mean, it means none
                    found.setdefault(alias, tool)
        return found

    def _chosen_by(self, patterns: tuple[str, ...] | None) -> tuple[Tool, ...]:
        if patterns not in self._chosen:
            if len(self._chosen) >= _MOST_REMEMBERED:
                self._chosen.clear()
            self._chosen[patterns] = self._all() if patterns is None else self._matching(patterns)
        return self._chosen[patterns]

    def _all(self) -> tuple[Tool, ...]:
        """`filesystem.read` and `read_file` do the same: the first of the two is enough."""
        chosen: dict[object, Tool] = {}
        for tool in self.tools:
            chosen.setdefault(tool.body if isinstance(tool, BuiltIn) else tool.name, tool)
        return tuple(chosen.values())

    def _matching(self, patterns: tuple[str, ...]) -> tuple[Tool, ...]:
        globs = [glob for each in patterns for glob in _globs(each)]
        return tuple(
            tool for tool in self.tools if any(_means(glob, name) for glob in globs for name in self._names[tool.name])
        )


def _aliases(own: str) -> tuple[str, ...]:
    """An MCP tool's other spellings, and `server.tool`, as if the server were a module."""
    names = names_of(own, Kind.OTHER, "native")
    return (*names[1:], names[0 if own.startswith("mcp.") else 1].removeprefix("mcp.")) if len(names) > 1 else ()


def _globs(pattern: str) -> tuple[Pattern, Pattern]:
    """A module's or server's name alone means all that it has."""
    try:
        return tool_glob(pattern), tool_glob(f"{pattern}.*")
    except BadPattern as error:
        raise HooklineError(f"{pattern!r} in a list of tools cannot be read: {error}") from None


def _means(glob: Pattern, name: str) -> bool:
    try:
        return glob.search(name)
    except Undecided:
        return False
