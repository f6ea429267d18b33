"""Undoes an install: restores a file byte for byte, or removes hookline's entries if the file was edited since.

A record of each file that was changed is kept in the state directory, readable by the user only.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from hookline.config.document import MISSING, Document
from hookline.config.json_edit import (
    JsonPath,
    Splice,
    apply_splices,
    differs_only_in_splices,
    parse_object,
    remove_item,
    remove_splices,
)
from hookline.config.reader import FileFormat, read_text
from hookline.dialects.settings_json import agent_of_own_entry
from hookline.hosts.agents.entries import HOOKS_KEY
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.install.marked_text import remove_marked
from hookline.hosts.install.text_files import remove_file, write_atomically
from hookline.lazy_dataclasses import dataclass

_RECORD_VERSION: Final = 1
_FORMAT_KEYS: Final = {"version"}  # say nothing without hooks


@dataclass(frozen=True)
class InstallRecord:
    agent: str
    scope: InstallScope
    project: Path
    path: Path
    original: str | None  # None: there was no such file
    splices: tuple[Splice, ...]
    created_directories: tuple[Path, ...] = ()  # outermost first
    mode: int | None = None  # to restore; older versions restricted it

    @property
    def installed_text(self) -> str:
        return apply_splices(self.original or "", self.splices)

    def belongs_to(self, agent: str, machine: Machine, scope: InstallScope) -> bool:
        same = self.agent == agent and self.scope is scope
        return same and (scope is InstallScope.USER or self.project == machine.project)


def load_record(agent: str, path: Path, machine: Machine) -> InstallRecord | None:
    """None if there is no readable record. Then only the commands identify hookline's entries."""
    return _read_record(_record_path(agent, path, machine))


def load_records(machine: Machine) -> Iterator[InstallRecord]:
    for file in sorted(machine.records_directory.glob("*.json")):
        record = _read_record(file)
        if record is not None:
            yield record


def save_record(record: InstallRecord, machine: Machine) -> None:
    values = {
        "version": _RECORD_VERSION,
        "agent": record.agent,
        "scope": record.scope.value,
        "project": str(record.project),
        "path": str(record.path),
        "original": record.original,
        "splices": [[splice.at, splice.text] for splice in record.splices],
        "made": [str(directory) for directory in record.created_directories],
    }
    machine.records_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_atomically(_record_path(record.agent, record.path, machine), json.dumps(values, indent=1) + "\n", mode=0o600)


def delete_record(agent: str, path: Path, machine: Machine) -> None:
    remove_file(_record_path(agent, path, machine))


def _record_path(agent: str, path: Path, machine: Machine) -> Path:
    digest = hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return machine.records_directory / f"{agent}-{digest}.json"


def _read_record(file: Path) -> InstallRecord | None:
    try:
        values = json.loads(file.read_text("utf-8"))
        return _parse_record(values) if values["version"] == _RECORD_VERSION else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _parse_record(values: dict[str, Any]) -> InstallRecord:
    return InstallRecord(
        agent=str(values["agent"]),
        scope=InstallScope(values["scope"]),
        project=Path(values["project"]),
        path=Path(values["path"]),
        original=None if values["original"] is None else str(values["original"]),
        splices=tuple(Splice(int(at), str(text)) for at, text in values["splices"]),
        created_directories=tuple(map(Path, values["made"])),
        mode=None if values.get("mode") is None else int(values["mode"]) & 0o7777,
    )


def restore_text(text: str, file: str, agent: str, record: InstallRecord | None) -> str | None:
    """The text without hookline's entries. None if the file should be removed."""
    if record is not None and text == record.installed_text:
        return record.original
    cleaned = _remove_own_entries(text, file, agent, record)
    if record is None:
        emptied = cleaned != text and not parse_object(cleaned, file).value.keys() - _FORMAT_KEYS
        return None if emptied else cleaned
    unused = _has_only_own_keys(cleaned, file, record)
    if record.original is None:
        return None if unused else cleaned
    exact = remove_splices(record.installed_text, text, record.splices)
    if exact is None and differs_only_in_splices(record.original, text, record.splices):
        exact = record.original
    return exact if exact is not None and (unused or _is_same_json(exact, cleaned, file)) else cleaned


def restore_marked(text: str, record: InstallRecord | None) -> str | None:
    """The text without what stands between hookline's marks. None if the file should be removed."""
    if record is not None and text == record.installed_text:
        return record.original
    cleaned = remove_marked(text)
    created = record is None or record.original is None
    return None if created and cleaned != text and not cleaned.strip() else cleaned


def is_own_entry(entry: Any, agent: str) -> bool:
    """True for an entry that only calls hookline for this agent, wherever the launcher was when it was written."""
    if not isinstance(entry, dict):
        return False
    group = entry.get(HOOKS_KEY)
    if isinstance(group, list):
        return bool(group) and all(is_own_entry(each, agent) for each in group)
    return any(isinstance(value, str) and agent_of_own_entry(value) == agent for value in entry.values())


def own_entry_paths(document: Document, agent: str) -> Iterator[JsonPath]:
    """The paths of hookline's entries, also of those that the user moved into a group with other entries.

    The events stand below the key `hooks`, or at the top of a file with nothing else.
    """
    for parent in ((HOOKS_KEY,), ()):
        hooks = document.value_at(parent)
        for event, entries in hooks.items() if isinstance(hooks, dict) else ():
            for index, entry in enumerate(entries) if isinstance(entries, list) else ():
                yield from ((*parent, event, index, *within) for within in _own_entries_within(entry, agent))


def _own_entries_within(entry: Any, agent: str) -> Iterator[JsonPath]:
    if is_own_entry(entry, agent):
        yield ()
    elif isinstance(entry, dict) and isinstance(entry.get(HOOKS_KEY), list):
        yield from ((HOOKS_KEY, at) for at, each in enumerate(entry[HOOKS_KEY]) if is_own_entry(each, agent))


def event_path(path: JsonPath) -> JsonPath:
    """The path of the event's list that contains the entry at this path."""
    return path[: 2 if path[0] == HOOKS_KEY else 1]


def _remove_own_entries(text: str, file: str, agent: str, record: InstallRecord | None) -> str:
    """Removes hookline's entries, and the lists that hookline created and that are empty now."""
    document = parse_object(text, file)
    original = parse_object(record.original or "", file) if record is not None else None
    emptied: dict[JsonPath, None] = {event_path(path): None for path in own_entry_paths(document, agent)}
    while (path := next(own_entry_paths(document, agent), None)) is not None:
        text = remove_item(text, file, path)
        document = parse_object(text, file)
    for path in (*emptied, (HOOKS_KEY,)) if emptied else ():
        created = original is None or original.value_at(path) is MISSING
        if created and document.value_at(path) in ([], {}):
            text = remove_item(text, file, path)
            document = parse_object(text, file)
    return text


def _has_only_own_keys(text: str, file: str, record: InstallRecord) -> bool:
    """True if the file was empty before the install, and only keys that hookline added are left."""
    ours = parse_object(record.installed_text, file).value
    return not parse_object(record.original or "", file).value and all(
        key != HOOKS_KEY and ours.get(key, MISSING) == value for key, value in parse_object(text, file).value.items()
    )


def _is_same_json(text: str, other: str, file: str) -> bool:
    document, _ = read_text(text, file, FileFormat.JSON)
    return document is not None and document.value == parse_object(other, file).value
