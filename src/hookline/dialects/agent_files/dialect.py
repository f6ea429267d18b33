"""The dialect of an agent's hook files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import PurePath
from typing import Any

from hookline.config.document import Document
from hookline.dialects.agent_files.format import AgentFormat
from hookline.dialects.agent_files.reader import has_list, hooks_value, load_agent_file
from hookline.dialects.conversion import is_complete
from hookline.dialects.dialect import CONFIG_LOCATIONS, Excerpt, LoadResult, WriteResult
from hookline.hooks.hook import Hook
from hookline.lazy_dataclasses import dataclass, field


@dataclass(frozen=True)
class AgentFileDialect:
    format: AgentFormat
    written_keys: dict[str, Any] = field(default_factory=dict)  # beside `hooks`, in a file that hookline writes
    newer_format: AgentFormat | None = None  # of the agent's newer files, which have one list for all events
    older_format: AgentFormat | None = None  # of files that older versions of the agent have
    has_app_keys = False

    @property
    def name(self) -> str:
        return self.format.name

    def recognises(self, document: Document) -> bool:
        """By its place, or by an event or a key that only this agent has."""
        if any(PurePath(document.file).match(place.pattern) for place in CONFIG_LOCATIONS[self.name]):
            return True
        if self._format_by_shape(document) is not None:
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
        return load_agent_file(self._format_of(document), document)

    def _format_of(self, document: Document) -> AgentFormat:
        """By its place, else by its shape. Older files stand in the places of newer ones too."""
        by_shape, path = self._format_by_shape(document), PurePath(document.file)
        if by_shape is not None and by_shape is self.older_format:
            return by_shape
        places = {place.pattern for place in CONFIG_LOCATIONS[self.name] if path.match(place.pattern)}
        others = (self.newer_format, self.older_format)
        by_place = next((each for each in others if each is not None and not places.isdisjoint(each.places)), None)
        return by_place or (None if places else by_shape) or self.format

    def _format_by_shape(self, document: Document) -> AgentFormat | None:
        older, newer = self.older_format, self.newer_format
        if older is not None and older.rewrite is not None and older.rewrite(document.value) is not None:
            return older
        return newer if newer is not None and has_list(newer, document) else None

    def schema(self) -> dict[str, Any]:
        from hookline.dialects.agent_files.schema import build_schema

        return build_schema(self.format, self.newer_format)

    def write(self, hooks: Iterable[Hook]) -> WriteResult:
        """In the newest format that can express all of the hooks."""
        from hookline.dialects.agent_files.writer import write_agent_file

        all_hooks = list(hooks)
        written = write_agent_file(self.written_format, all_hooks, self.written_keys)
        for format in self.formats if written.not_expressible else ():
            if format.restore is None or len(all_hooks) == 1:  # it has one hook in a file
                other = write_agent_file(format, all_hooks, {})
                written = written if other.not_expressible else other
        return written

    def excerpt(self, hook: Hook) -> Excerpt | None:
        from hookline.dialects.agent_files.writer import write_agent_file

        for format in self.formats:
            written = write_agent_file(format, [hook], {})
            if not is_complete(hook, written.not_expressible):
                continue
            for file in ("", hook.origin.file):
                if self._format_of(Document(file, "", written.value)) is format:
                    return Excerpt(written.value, file)
        return None

    @property
    def formats(self) -> tuple[AgentFormat, ...]:
        """The newest first."""
        return tuple(each for each in (self.newer_format, self.format, self.older_format) if each is not None)

    @property
    def written_format(self) -> AgentFormat:
        return self.newer_format or self.format
