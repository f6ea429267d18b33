"""The files of MCP clients in which hooks were put in front of servers."""

from __future__ import annotations

from pathlib import Path

from hookline.hosts.agents.machine import Machine
from hookline.hosts.install.mcp_files import delete_mcp_file, load_mcp_files, save_mcp_file


def test_a_file_is_remembered_once_until_it_is_deleted(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home", tmp_path)
    one, two = tmp_path / "one.json", tmp_path / "two.json"
    for file in (one, two, one):
        save_mcp_file(file, machine)
    assert sorted(load_mcp_files(machine)) == [one, two]
    delete_mcp_file(one, machine)
    assert list(load_mcp_files(machine)) == [two]


def test_a_record_that_cannot_be_read_names_no_file(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "home", tmp_path)
    machine.records_directory.mkdir(parents=True)
    for number, text in enumerate(("{", "[]", "{}", '{"mcp": 5}')):
        (machine.records_directory / f"mcp-{number}.json").write_text(text)
    assert list(load_mcp_files(machine)) == []
