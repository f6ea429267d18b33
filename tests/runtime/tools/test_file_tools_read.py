from __future__ import annotations

from pathlib import Path

import pytest

from hookline.runtime.tools import file_tools

pytestmark = pytest.mark.anyio


async def test_reads_a_file(do, workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\ntwo\n")
    assert (await do("read_file", path="a.txt")).content == "one\ntwo\n"


async def test_reads_some_lines_and_says_how_to_read_on(do, workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\ntwo\nthree\nfour")
    first = await do("read_file", path="a.txt", offset=2, limit=2)
    assert first.content == "two\nthree\n[there is more: continue with offset 4]"
    assert (await do("read_file", path="a.txt", offset=4)).content == "four"


async def test_reads_a_long_file_in_parts_that_join(do, workspace: Path) -> None:
    text = "".join(f"{number:>99}\n" for number in range(25_000))
    (workspace / "long").write_text(text)
    parts, offset = [], 1
    while True:
        told = (await do("read_file", path="long", offset=offset)).content
        assert len(told) <= file_tools.MAX_RETURNED_BYTES + 100
        body, found, note = told.rpartition("[there is more: continue with offset ")
        parts.append(body if found else told)
        if not found:
            break
        offset = int(note.rstrip("]"))
    assert "".join(parts) == text


async def test_a_line_without_end_is_cut(do, workspace: Path) -> None:
    (workspace / "line").write_text("x" * 3_000_000 + "\nafter")
    told = (await do("read_file", path="line")).content
    assert len(told) < 200_000
    assert "after" in told
    assert "1 lines were cut" in told


async def test_an_offset_behind_the_end_says_how_many_lines_there_are(do, workspace: Path) -> None:
    (workspace / "a.txt").write_text("one\ntwo\n")
    assert (await do("read_file", path="a.txt", offset=9)).error == "a.txt has 2 lines"


async def test_what_is_no_text_is_refused(do, workspace: Path) -> None:
    (workspace / "data").write_bytes(b"\x7fELF\0\0")
    result = await do("read_file", path="data")
    assert (result.ok, result.error) == (False, "data is not text (6 bytes)")


async def test_a_huge_file_is_refused_without_reading_it(do, workspace: Path) -> None:
    with (workspace / "huge").open("wb") as file:
        file.truncate(1 << 40)
    assert "too many to read" in (await do("read_file", path="huge")).error


@pytest.mark.parametrize(
    ("input", "error"),
    [
        ({}, "path is missing"),
        ({"path": 5}, "path is not a string"),
        ({"path": "a", "limit": 0}, "limit must be at least 1"),
        ({"path": "a", "limit": True}, "limit is not an integer"),
        ({"file_path": "a"}, "there is no field file_path; did you mean path?"),
        ({"path": "../secret"}, "../secret is outside the workspace"),
    ],
)
async def test_a_wrong_input_is_an_error_that_names_the_field(do, input, error: str) -> None:
    result = await do("read_file", **input)
    assert (result.ok, result.error) == (False, error)
