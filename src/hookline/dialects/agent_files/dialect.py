"""The dialect of an agent's hook files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from hookline.config.document import Document
from hookline.dialects.agent_files.format import AgentFormat
from hookline.dialects.agent_files.reader import has_list, hooks_value, load_agent_file
from hookline.dialects.dialect import CONFIG_LOCATIONS, LoadResult, WriteResult
from hookline.hooks.hook import Hook
from hookline.lazy_dataclasses import dataclass, field


@dataclass(frozen=True)
class AgentFileDialect:
    format: AgentFormat
    written_keys: dict[str, Any] = field(default_factory=dict)  # beside `hooks`, in a file that hookline writes
    list_format: AgentFormat | None = None  # of the agent's newer files, which have one list for all events
    has_app_keys = False

    @property
    def name(self) -> str:
        return self.format.name

    def recognises(self, document: Document) -> bool:
        """By its place, or by an event or a key that only this agent has."""
        if any(PurePath(document.file).match(place.pattern) for place in CONFIG_LOCATIONS[self.name]):
            return True
        if self.list_format is not None and has_list(self.list_format, document):
            return True
        hooks = hooks_value(self.format, document)
        if not isinstance(hooks, dict) or not hooks or PurePath(document.file).parent.name.startswith("."):
            return False
        known = {*self.format.events, *self.format.unsupported_events, *self.format.other_hook_keys}
        if not hooks.keys() <= known:
            return False
        if not self.format.own_events.isdisjoint(hooks):
            return True
        entries = [entry for held in hooks.values() if isinstance(held, list) for entry in held]
        return any(isinstance(entry, dict) and self.format.own_keys & entry.keys() for entry in entries)

    def load(self, document: Document) -> LoadResult:
        if self.list_format is not None and self._is_list_file(self.list_format, document):
            return load_agent_file(self.list_format, document)
        return load_agent_file(self.format, document)

    def _is_list_file(self, format: AgentFormat, document: Document) -> bool:
        """By its place, else by its shape."""
        path = PurePath(document.file)
        by_place = {
            place.pattern in format.places for place in CONFIG_LOCATIONS[self.name] if path.match(place.pattern)
        }
        return True in by_place if by_place else has_list(format, document)

    def schema(self) -> dict[str, Any]:
        from hookline.dialects.agent_files.schema import build_schema

        return build_schema(self.format, self.list_format)

    def write(self, hooks: Iterable[Hook]) -> WriteResult:
        from hookline.dialects.agent_files.writer import write_agent_file

        return write_agent_file(self.list_format or self.format, hooks, self.written_keys)
