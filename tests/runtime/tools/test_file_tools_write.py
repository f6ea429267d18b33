from __future__ import annotations

from pathlib import Path

import pytest

pytestmark = pytest.mark.anyio


async def test_writes_a_file_and_makes_its_directories(do, workspace: Path) -> None:
    result = await do("write_file", path="new/deep/ü.txt", content="one\r\ntwo")
    assert (result.ok, result.content) == (True, "created new/deep/ü.txt (8 bytes)")
    assert (workspace / "new/deep/ü.txt").read_bytes() == b"one\r\ntwo"
    assert (await do("write_file", path="new/deep/ü.txt", content="")).content.startswith("replaced")


@pytest.mark.parametrize(
    ("path", "content", "error"),
    [
        ("big", "x" * ((10 << 20) + 1), "at most"),
        ("../secret", "x", "outside"),
        ("d", "x", "d is a directory"),
        ("d/f/g", "x", "not a directory"),
        ("x" * 256, "x", "too long"),
        ("surrogate", "\ud800", "UTF-8"),
    ],
)
async def test_what_cannot_be_written_leaves_nothing(do, workspace: Path, path: str, content: str, error: str) -> None:
    (workspace / "d").mkdir()
    (workspace / "d" / "f").write_text("kept")
    result = await do("write_file", path=path, content=content)
    assert not result.ok
    assert error in result.error
    assert sorted(str(each.relative_to(workspace)) for each in workspace.rglob("*")) == ["d", "d/f"]


async def test_a_full_disk_is_a_result(do, monkeypatch, workspace: Path) -> None:
    import os

    real = os.rename

    def full(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "rename", full)
    result = await do("write_file", path="f", content="x")
    monkeypatch.setattr(os, "rename", real)
    assert result.error == "f: no space left on device"
    assert list(workspace.iterdir()) == []
