"""What each tool of a coding agent was taken for, and why. Tools that no table knows are remembered when they are called.

One JSON file for each agent, `{name: [field, …]}`: names only, never a value.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from hookline.hooks.kind_guess import call_signals
from hookline.hooks.tool_name import guess_other_kind, guessed_kind, mcp_address
from hookline.hooks.tools import NATIVE, VOCABULARIES, ToolKind, is_known_name
from hookline.hosts.agents.machine import Machine
from hookline.lazy_dataclasses import dataclass
from hookline.project.private_file import write_private_file

_MAX_NAMES: Final = 200  # of one agent
_MAX_NAME_LENGTH: Final = 100


@dataclass(frozen=True, slots=True)
class AgentTool:
    agent: str
    name: str
    kind: ToolKind
    why: str
    is_known: bool = True

    @property
    def native_name(self) -> str:
        """The name that matches it in hookline.yaml."""
        return next(iter(NATIVE.names.get(self.kind, ())), self.name)

    def as_json(self) -> dict[str, Any]:
        return {
            "agent": self.agent,
            "tool": self.name,
            "kind": str(self.kind),
            "matched_by": self.native_name,
            "why": self.why,
            "known": self.is_known,
        }


def tools_of_agent(agent: str, machine: Machine) -> Iterator[AgentTool]:
    """Its tools in the table, then those that it has called and no table knows."""
    vocabulary = VOCABULARIES[agent.replace("-", "_")]
    for kind, names in vocabulary.names.items():
        for name in names:
            yield AgentTool(agent, name, kind, "the table of tools")
    for name in sorted(vocabulary.others):
        yield AgentTool(agent, name, ToolKind.OTHER, "the table of tools: matched by its own name only")
    for name, fields in sorted(SeenTools(seen_tools_directory(machine)).read(agent).items()):
        tool = {"name": name, "input": dict.fromkeys(fields)}
        guess = guessed_kind(tool) or guess_other_kind(vocabulary.name, tool)
        if guess is not None:
            yield AgentTool(agent, name, guess.kind, f"a guess from {guess.why}: for guards only", is_known=False)
        elif not is_known_name(name):
            yield AgentTool(agent, name, ToolKind.OTHER, "unknown: matched by its own name only", is_known=False)


def seen_tools_directory(machine: Machine) -> Path:
    return machine.records_directory.parent / "tools"


class SeenTools:
    """The unknown tools that an agent has called."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def read(self, agent: str) -> dict[str, tuple[str, ...]]:
        """Empty if there is no file that can be read."""
        try:
            found = json.loads(self._file(agent).read_text("utf-8"))
        except (OSError, ValueError, RecursionError):
            return {}
        if not isinstance(found, dict):
            return {}
        return {
            name: tuple(field for field in fields if isinstance(field, str))
            for name, fields in found.items()
            if isinstance(fields, list)
        }

    def remember(self, agent: str, tool: Any) -> None:
        """Does nothing for a tool that is known, or if the file cannot be written."""
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(name, str) or not 0 < len(name) <= _MAX_NAME_LENGTH or not name.isprintable():
            return
        if guess_other_kind(agent.replace("-", "_"), tool) is None and (is_known_name(name) or mcp_address(name)):
            return
        known = self.read(agent)
        if name in known or len(known) >= _MAX_NAMES:
            return
        input = tool.get("input")
        fields = call_signals(input) if isinstance(input, Mapping) else ()
        with suppress(OSError):
            write_private_file(self._file(agent), json.dumps({**known, name: fields}).encode())

    def _file(self, agent: str) -> Path:
        return self._directory / f"{agent}.json"
