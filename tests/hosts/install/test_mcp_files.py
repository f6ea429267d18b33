"""The files of MCP clients in which hooks were put in front of servers."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.hosts.agents.machine import Machine
from hookline.hosts.install.mcp_files import delete_mcp_file, load_mcp_files, save_mcp_file


def test_a_file_is_remembered_once_until_it_is_deleted(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home", tmp_path)
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    for file in (one, two, one):
        save_mcp_file(file, machine)
    files, unreadable = load_mcp_files(machine)
    assert (sorted(files), unreadable) == ([one, two], [])
    delete_mcp_file(one, machine)
    assert load_mcp_files(machine) == ([two], [])


def test_a_file_that_cannot_be_remembered_is_an_error(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home", tmp_path)
    machine.records_directory.parent.mkdir(parents=True)
    machine.records_directory.write_text("a file")
    with pytest.raises(HooklineError, match="cannot be written"):
        save_mcp_file(tmp_path / "one.json", machine)
    delete_mcp_file(tmp_path / "one.json", machine)


def test_a_record_that_cannot_be_read_names_no_file(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home", tmp_path)
    machine.records_directory.mkdir(parents=True)
    records = [machine.records_directory / f"mcp-{number}.json" for number in range(4)]
    for record, text in zip(records, ("{", "[]", "{}", '{"mcp": 5}'), strict=True):
        record.write_text(text)
    assert load_mcp_files(machine) == ([], records)
