from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.runtime.triggers import file_changes
from hookline.runtime.triggers.file_changes import WorkspaceSnapshot


def everything(path: str) -> bool:
    return True


def test_directories_behind_links_and_those_of_tools_are_not_among_them(tmp_path: Path) -> None:
    for name in ("src/deep", ".git/objects", "node_modules/x", "src/__pycache__", "env/lib"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "env" / "pyvenv.cfg").write_text("home = /usr/bin")
    (tmp_path / "everything").symlink_to("/")
    (tmp_path / "src" / "loop").symlink_to("..")
    found = WorkspaceSnapshot(tmp_path, everything)
    assert found.scan() == {}
    assert found.directories == {str(tmp_path), str(tmp_path / "src"), str(tmp_path / "src" / "deep")}


def test_what_changed_since_the_last_look(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / name).write_text("x")
    found = WorkspaceSnapshot(tmp_path, lambda path: path != "c")
    assert found.scan() == {"a": "added", "b": "added"}
    assert found.scan() == {}
    (tmp_path / "a").write_text("longer")
    (tmp_path / "b").unlink()
    (tmp_path / "d").write_text("x")
    (tmp_path / "c").write_text("longer")
    changed = {"a": "modified", "b": "deleted", "d": "added"}
    every = [str(tmp_path / name) for name in "abcd"]
    assert found.scan_paths(every) == changed
    assert found.scan_paths(every) == {}
    assert found.scan() == {}


def test_only_regular_files_inside_count(tmp_path: Path) -> None:
    workspace = tmp_path / "work"
    workspace.mkdir()
    (tmp_path / "outside").write_text("x")
    (workspace / "out").symlink_to(tmp_path / "outside")
    (workspace / "nowhere").symlink_to("gone")
    os.mkfifo(workspace / "pipe")
    (workspace / "file").write_text("x")
    (workspace / "in").symlink_to("file")
    assert WorkspaceSnapshot(workspace, everything).scan() == {"file": "added", "in": "added"}


def test_directories_that_come_and_go_are_noticed(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "file").write_text("x")
    found = WorkspaceSnapshot(tmp_path, everything)
    found.scan()
    assert not found.has_directory_changes([str(tmp_path / "file"), str(tmp_path / "old"), str(tmp_path / "gone")])
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "link").symlink_to("old")
    assert not found.has_directory_changes([str(tmp_path / "node_modules"), str(tmp_path / "link")])
    (tmp_path / "new").mkdir()
    assert found.has_directory_changes([str(tmp_path / "new")])
    (tmp_path / "old").rmdir()
    assert found.has_directory_changes([str(tmp_path / "old")])


def test_a_workspace_that_is_too_large_or_gone_is_one_clear_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_changes, "MAX_DIRECTORIES", 3)
    for number in range(3):
        (tmp_path / "work" / str(number)).mkdir(parents=True)
    with pytest.raises(HooklineError, match="has more than 3 directories"):
        WorkspaceSnapshot(tmp_path / "work", everything).scan()
    with pytest.raises(HooklineError, match="is gone"):
        WorkspaceSnapshot(tmp_path / "none", everything).scan()
