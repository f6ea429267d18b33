"""Text files: read whole, replaced in one step."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookline.config.reader import MAX_FILE_BYTES
from hookline.errors import HooklineError
from hookline.hosts.install.text_files import (
    executable_mode,
    file_mode,
    make_directories,
    read_file_text,
    remove_empty_directories,
    remove_file,
    write_atomically,
    write_backup,
)


def test_a_missing_file_has_no_text_and_no_mode(tmp_path: Path) -> None:
    assert read_file_text(tmp_path / "none") is None
    assert file_mode(tmp_path / "none") is None


@pytest.mark.parametrize("kind", ["directory", "broken link", "not UTF-8", "too large"])
def test_what_cannot_be_edited_as_text_is_refused(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "file"
    if kind == "directory":
        path.mkdir()
    elif kind == "broken link":
        path.symlink_to(tmp_path / "none")
    elif kind == "not UTF-8":
        path.write_bytes(b"\xff")
    else:
        path.write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    with pytest.raises(HooklineError, match=str(path)):
        read_file_text(path)


def test_a_written_text_is_read_back_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, "ü\r\n☃")
    assert read_file_text(path) == "ü\r\n☃"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_a_file_keeps_its_mode_unless_one_is_given(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    path.chmod(0o640)
    write_atomically(path, "new")
    assert file_mode(path) == 0o640
    write_atomically(path, "new", 0o600)
    assert file_mode(path) == 0o600


def test_a_new_file_follows_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomically(tmp_path / "file", "x")
        assert file_mode(tmp_path / "file") == 0o640
        assert executable_mode() == 0o750
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(before)


def test_the_target_of_a_link_is_replaced_and_the_link_stays(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    target, link = tmp_path / "real" / "file", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_atomically(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(source: object, target: object) -> None:
        raise OSError(28, "No space left on device")

    path = tmp_path / "file"
    path.write_text("old")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(HooklineError, match="No space left"):
        write_atomically(path, "new")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_only_created_directories_that_are_empty_are_removed(tmp_path: Path) -> None:
    made = make_directories(tmp_path / "a" / "b" / "c")
    assert made == (tmp_path / "a", tmp_path / "a" / "b", tmp_path / "a" / "b" / "c")
    assert make_directories(tmp_path / "a") == ()
    (tmp_path / "a" / "kept").write_text("")
    remove_empty_directories(made)
    assert [each.name for each in (tmp_path / "a").iterdir()] == ["kept"]


def test_removing_a_missing_file_is_no_error(tmp_path: Path) -> None:
    remove_file(tmp_path / "none")
    with pytest.raises(HooklineError, match="cannot be removed"):
        remove_file(tmp_path)


def test_a_backup_replaces_a_link(tmp_path: Path) -> None:
    mine, backup = tmp_path / "mine", tmp_path / "backup"
    mine.write_text("mine")
    backup.symlink_to(mine)
    write_backup(backup, "before", 0o600)
    assert (mine.read_text(), backup.read_text(), backup.is_symlink()) == ("mine", "before", False)
