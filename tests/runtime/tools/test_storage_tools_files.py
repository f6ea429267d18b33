from __future__ import annotations

import pytest

pytestmark = pytest.mark.anyio


async def test_writes_reads_lists_and_deletes(do, place, workspace) -> None:
    written = await do("files", action="write", path="/notes/./a.md", content="ü")
    assert written.content["path"] == "notes/a.md"
    assert written.content["mimeType"] == "text/markdown"
    assert (await do("files", action="read", path="notes/a.md")).content == "ü"
    assert [each["path"] for each in (await do("files", action="list")).content] == ["notes/a.md"]
    assert (await do("files", action="list", path="other")).content == []
    assert await place.store.read_file("t", "notes/a.md") == "ü".encode()
    assert (await do("files", action="delete", path="notes/a.md")).ok
    assert (await do("files", action="read", path="notes/a.md")).error == "the thread has no file notes/a.md"
    assert list(workspace.iterdir()) == []


async def test_what_is_no_text_is_not_read(do, place) -> None:
    await place.store.write_file("t", "p.png", b"\x89PNG\0", "image/png")
    assert (await do("files", action="read", path="p.png")).error == "p.png is not text (5 bytes)"


@pytest.mark.parametrize(
    ("input", "error"),
    [
        ({"action": "read"}, "path is missing"),
        ({"action": "read", "path": "../x"}, "invalid path"),
        ({"action": "read", "path": "a\0"}, "invalid path"),
        ({"action": "write", "path": "a"}, "content is missing"),
        ({"action": "write", "path": "a", "content": "x" * ((10 << 20) + 1)}, "at most"),
        ({"action": "write", "path": "x" * 1025, "content": ""}, "at most 1024"),
        ({"action": "delete", "path": "gone"}, "no file gone"),
        ({"action": "move", "path": "a"}, "action is not one of"),
    ],
)
async def test_what_cannot_be_done_is_an_error(do, input, error: str) -> None:
    result = await do("files", **input)
    assert not result.ok
    assert error in result.error
