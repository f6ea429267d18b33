"""Files that only their owner may read."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from hookline.project.private_file import write_private_file


def test_only_the_owner_may_read_the_file_and_its_directory(tmp_path: Path) -> None:
    path = tmp_path / "state" / "trust.json"
    write_private_file(path, b"{}")
    assert path.read_bytes() == b"{}"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_a_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"old")
    write_private_file(path, b"new")
    assert path.read_bytes() == b"new"


def test_nothing_is_left_behind_if_it_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()  # a directory cannot be replaced by a file
    with pytest.raises(OSError):
        write_private_file(tmp_path / "a", b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
