from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hookline.runtime.tools.blocking import Deadline
from hookline.runtime.tools.file_content import read_content, replace_content
from hookline.runtime.tools.workspace import ToolError, Workspace

pytestmark = pytest.mark.anyio


async def test_replaces_the_one_place(do, workspace: Path) -> None:
    (workspace / "a").write_text("x = 1\ny = 2\n")
    assert (await do("edit_file", path="a", old_string="1\ny", new_string="3\ny")).content == "edited a (1 place)"
    assert (workspace / "a").read_text() == "x = 3\ny = 2\n"


async def test_replaces_all_places_if_told_so(do, workspace: Path) -> None:
    (workspace / "a").write_text("aaa")
    assert (await do("edit_file", path="a", old_string="a", new_string="b", replace_all=True)).ok
    assert (workspace / "a").read_text() == "bbb"


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("c", "d", "old_string is not in a"),
        ("a\nb", "d", "CR LF"),
        ("a", "d", "2 times"),
        ("", "d", "empty"),
        ("a", "a", "the same"),
        ("b", "x" * ((10 << 20) + 1), "at most"),
    ],
)
async def test_what_is_not_clear_changes_nothing(do, workspace: Path, old: str, new: str, error: str) -> None:
    (workspace / "a").write_bytes(b"a\r\nb a")
    result = await do("edit_file", path="a", old_string=old, new_string=new)
    assert not result.ok
    assert error in result.error
    assert (workspace / "a").read_bytes() == b"a\r\nb a"


async def test_bytes_that_are_no_text_stay_as_they_are(do, workspace: Path) -> None:
    (workspace / "a").write_bytes(b"\xff\xfe one \0")
    await do("edit_file", path="a", old_string="one", new_string="two")
    assert (workspace / "a").read_bytes() == b"\xff\xfe two \0"


def test_a_change_in_between_is_not_overwritten(workspace: Path) -> None:
    (workspace / "a").write_text("old")
    with Workspace(workspace).resolve("a") as spot:
        _, version = read_content(spot, Deadline(10))
        (workspace / "a").write_text("somebody else's")
        with pytest.raises(ToolError, match="changed in the meantime"):
            replace_content(spot, b"mine", Deadline(10), unless_changed=version)
    assert (workspace / "a").read_text() == "somebody else's"


async def test_of_edits_at_once_none_is_lost_silently(do, workspace: Path) -> None:
    (workspace / "a").write_text("".join(f"<{number}>" for number in range(20)))
    edits = [do("edit_file", path="a", old_string=f"<{number}>", new_string=f"[{number}]") for number in range(20)]
    results = await asyncio.gather(*edits)
    text = (workspace / "a").read_text()
    assert [f"[{number}]" in text for number in range(20)] == [result.ok for result in results]
