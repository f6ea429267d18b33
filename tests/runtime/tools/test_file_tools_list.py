from __future__ import annotations

from pathlib import Path

import pytest

from hookline.runtime.tools.file_tools import MAX_LISTED_ENTRIES

pytestmark = pytest.mark.anyio


async def test_lists_by_name_what_each_entry_is(do, workspace: Path) -> None:
    (workspace / "b").mkdir()
    (workspace / "a.txt").write_text("1234")
    (workspace / "z").symlink_to("/etc")
    (workspace / "two\nlines").write_text("")
    assert (await do("list_directory", path=".")).content == "a.txt  4 bytes\nb/\ntwo�lines  0 bytes\nz -> /etc"
    assert (await do("list_directory", path="b")).content == ""
    assert (await do("list_directory")).ok


@pytest.mark.parametrize(("path", "error"), [("z", "outside"), ("a.txt", "not a directory"), ("gone", "no such")])
async def test_what_is_no_directory_inside_is_refused(do, workspace: Path, path: str, error: str) -> None:
    (workspace / "a.txt").write_text("")
    (workspace / "z").symlink_to("/etc")
    result = await do("list_directory", path=path)
    assert not result.ok
    assert error in result.error


async def test_a_directory_with_many_entries_is_cut(do, workspace: Path) -> None:
    for number in range(MAX_LISTED_ENTRIES + 1):
        (workspace / f"{number:05d}").touch()
    lines = (await do("list_directory")).content.split("\n")
    assert len(lines) == MAX_LISTED_ENTRIES + 1
    assert lines[-1] == "[only 2,000 of its entries are listed]"
