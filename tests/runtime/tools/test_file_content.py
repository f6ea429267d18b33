from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookline.runtime.tools.blocking import Deadline
from hookline.runtime.tools.file_content import MAX_FILE_BYTES, is_text, read_content, replace_content
from hookline.runtime.tools.workspace import ToolError, Workspace


@pytest.fixture
def until() -> Deadline:
    return Deadline(30)


def test_a_file_is_read_up_to_a_limit(workspace: Path, until: Deadline) -> None:
    (workspace / "a").write_bytes(b"12345")
    with Workspace(workspace).resolve("a") as spot:
        assert read_content(spot, until, max_bytes=5)[0] == b"12345"
        with pytest.raises(ToolError, match="5 bytes; at most 4"):
            read_content(spot, until, max_bytes=4)


def test_a_file_is_replaced_with_its_mode_and_without_a_trace(workspace: Path, until: Deadline) -> None:
    (workspace / "a").write_text("old")
    (workspace / "a").chmod(0o750)
    with Workspace(workspace).resolve("a") as spot:
        assert replace_content(spot, b"new", until) is False
    assert ((workspace / "a").read_text(), (workspace / "a").stat().st_mode & 0o777) == ("new", 0o750)
    assert os.listdir(workspace) == ["a"]


def test_a_new_file_is_reported_as_new(workspace: Path, until: Deadline) -> None:
    with Workspace(workspace).resolve("a") as spot:
        assert replace_content(spot, b"new", until) is True


def test_a_file_that_changed_meanwhile_is_left_alone(workspace: Path, until: Deadline) -> None:
    (workspace / "a").write_text("old")
    with Workspace(workspace).resolve("a") as spot:
        _, version = read_content(spot, until)
        (workspace / "a").write_text("by someone else")
        with pytest.raises(ToolError, match="has changed in the meantime"):
            replace_content(spot, b"new", until, unless_changed=version)
    assert (workspace / "a").read_text() == "by someone else"
    assert os.listdir(workspace) == ["a"]


def test_too_much_is_not_written(workspace: Path, until: Deadline) -> None:
    with Workspace(workspace).resolve("a") as spot, pytest.raises(ToolError, match="at most"):
        replace_content(spot, bytes(MAX_FILE_BYTES + 1), until)
    assert os.listdir(workspace) == []


def test_a_directory_is_not_replaced(workspace: Path, until: Deadline) -> None:
    (workspace / "a").mkdir()
    with Workspace(workspace).resolve("a") as spot, pytest.raises(ToolError):
        replace_content(spot, b"new", until)


def test_text_has_no_nul_byte_at_its_start() -> None:
    assert is_text("é\n".encode())
    assert is_text(b"")
    assert not is_text(b"\x7fELF\0")
