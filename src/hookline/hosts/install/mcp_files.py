"""Remembers in which files of MCP clients hooks were put in front of servers, so that all of them can be restored."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Final

from hookline.errors import HooklineError
from hookline.hosts.agents.machine import Machine
from hookline.hosts.install.text_files import remove_file, write_atomically

_KEY: Final = "mcp"


def save_mcp_file(file: Path, machine: Machine) -> None:
    """Raises HooklineError if it cannot be remembered."""
    text = json.dumps({_KEY: str(file.absolute())}) + "\n"
    try:
        machine.records_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_atomically(_record_path(file, machine), text, mode=0o600)
    except OSError as error:
        raise HooklineError(f"{machine.records_directory} cannot be written: {error.strerror}") from error


def delete_mcp_file(file: Path, machine: Machine) -> None:
    record = _record_path(file, machine)
    if record.exists():
        remove_file(record)


def load_mcp_files(machine: Machine) -> tuple[list[Path], list[Path]]:
    """The files, and the records that cannot be read."""
    files: list[Path] = []
    unreadable: list[Path] = []
    for record in sorted(machine.records_directory.glob("mcp-*.json")):
        try:
            files.append(Path(json.loads(record.read_text("utf-8"))[_KEY]))
        except (OSError, ValueError, KeyError, TypeError):
            unreadable.append(record)
    return files, unreadable


def _record_path(file: Path, machine: Machine) -> Path:
    digest = hashlib.sha256(str(file.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return machine.records_directory / f"mcp-{digest}.json"
