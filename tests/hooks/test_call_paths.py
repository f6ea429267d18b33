"""The places that a tool call names, links resolved."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hookline import Event
from hookline.hooks.call_paths import UNREAD, call_places


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    root = tmp_path.resolve() / "project"
    (root / "src").mkdir(parents=True)
    (root / "out").symlink_to("/etc")
    (root / "file").symlink_to("/etc/hostname")
    (root / "loop").symlink_to("loop")
    (root.parent / "in").symlink_to(root)
    return root


def places(workspace: Path, name: str, **input: Any) -> set[Any]:
    facts = {"tool": {"name": name, "input": input}, "cwd": str(workspace), "workspace": str(workspace)}
    return set(call_places(Event("tool.before", facts)))


def test_a_link_is_where_it_stands_and_where_it_leads(workspace: Path) -> None:
    assert places(workspace, "read_file", path="file") == {f"{workspace}/file", "/etc/hostname"}
    assert places(workspace, "write_file", path="out/x", content="") == {"/etc/x"}
    assert places(workspace, "bash", command="cat file") >= {"/etc/hostname"}


def test_a_way_through_a_link_into_the_workspace_is_inside(workspace: Path) -> None:
    assert places(workspace, "read_file", path=str(workspace.parent / "in/src/a")) == {f"{workspace}/src/a"}


@pytest.mark.parametrize("command", ["tar -xCout", "tar -xzvpfCout", f"tar -x{'v' * 70}Cout"])
def test_a_value_behind_letters_of_options_is_a_path(workspace: Path, command: str) -> None:
    assert "/etc" in places(workspace, "bash", command=command)


def test_a_value_behind_too_many_letters_may_be_anywhere(workspace: Path) -> None:
    assert "/" in places(workspace, "bash", command=f"tar -x{'v' * 200}Cout")


def test_two_dots_after_a_link_are_read_as_both_tools_and_the_system_do(workspace: Path) -> None:
    assert places(workspace, "read_file", path="out/../x") == {"/x", f"{workspace}/x"}


def test_what_is_no_path_cannot_be_read(workspace: Path) -> None:
    assert places(workspace, "read_file", path="a\0b") == set(UNREAD)
    assert places(workspace, "read_file", path=None) == set(UNREAD)
    assert places(workspace, "write_file", content="x") == set(UNREAD)


def test_a_shell_in_an_unknown_directory(workspace: Path) -> None:
    assert set(call_places(Event("tool.before", {"tool": {"name": "bash", "input": {"command": "ls"}}}))) == set(UNREAD)
    assert places(workspace, "bash", command="ls", cwd=3) >= set(UNREAD)
    assert places(workspace, "bash", command="ls", cwd="src", workdir="out") == {
        f"{workspace}/src",
        "/etc",
        f"{workspace}/out",
    }
