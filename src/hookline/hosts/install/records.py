"""What we have put into which file, so that it can be taken out to the byte. Only the user can read it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hookline.hosts.install.edit import Splice, spliced
from hookline.hosts.install.files import remove, write
from hookline.hosts.install.machine import Machine, Scope

_VERSION: Final = 1


@dataclass(frozen=True)
class Record:
    agent: str
    scope: Scope
    project: Path
    path: Path
    original: str | None  # None: there was no such file
    splices: tuple[Splice, ...]
    made: tuple[Path, ...] = ()  # the directories that were not there either, outermost first
    mode: int | None = None  # the rights to give back, where an older version took some away

    @property
    def installed(self) -> str:
        return spliced(self.original or "", self.splices)

    def concerns(self, agent: str, machine: Machine, scope: Scope) -> bool:
        same = self.agent == agent and self.scope is scope
        return same and (scope is Scope.USER or self.project == machine.project)


def record_of(agent: str, path: Path, machine: Machine) -> Record | None:
    """None where there is none, or none that can be read: then our entries are known by their commands alone."""
    return _read(_file(agent, path, machine))


def records(machine: Machine) -> Iterator[Record]:
    for file in sorted(machine.records.glob("*.json")):
        record = _read(file)
        if record is not None:
            yield record


def keep(record: Record, machine: Machine) -> None:
    said = {
        "version": _VERSION,
        "agent": record.agent,
        "scope": record.scope.value,
        "project": str(record.project),
        "path": str(record.path),
        "original": record.original,
        "splices": [[splice.at, splice.text] for splice in record.splices],
        "made": [str(directory) for directory in record.made],
    }
    machine.records.mkdir(mode=0o700, parents=True, exist_ok=True)
    write(_file(record.agent, record.path, machine), json.dumps(said, indent=1) + "\n", mode=0o600)


def forget(agent: str, path: Path, machine: Machine) -> None:
    remove(_file(agent, path, machine))


def _file(agent: str, path: Path, machine: Machine) -> Path:
    digest = hashlib.sha256(str(path).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return machine.records / f"{agent}-{digest}.json"


def _read(file: Path) -> Record | None:
    try:
        said = json.loads(file.read_text("utf-8"))
        return _record(said) if said["version"] == _VERSION else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _record(said: dict[str, Any]) -> Record:
    return Record(
        agent=str(said["agent"]),
        scope=Scope(said["scope"]),
        project=Path(said["project"]),
        path=Path(said["path"]),
        original=None if said["original"] is None else str(said["original"]),
        splices=tuple(Splice(int(at), str(text)) for at, text in said["splices"]),
        made=tuple(map(Path, said["made"])),
        mode=None if said.get("mode") is None else int(said["mode"]) & 0o7777,
    )
