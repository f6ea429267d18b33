from __future__ import annotations

from pathlib import Path

import pytest

from hookline.hooks.hook_files import HookFile, HookFiles
from hookline.hub.store.book_table import insert_books
from hub.hub_sandbox import async_test, open_hub

TEXT = "hooks: [{id: one, on: tool.before, then: deny}]"
FILES = HookFiles((HookFile("/p/hookline.yaml", "hookline.yaml", "native", "project", TEXT),))


@async_test
async def test_the_hooks_of_then_come_from_their_kept_texts(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        assert (await hub.hooks.then({"hooks": FILES.hash})).hooks == ()
        await hub.database.write(insert_books({FILES.hash: FILES.data}, 1.0))
        book = await hub.hooks.then({"hooks": FILES.hash})
        assert [hook.id for hook in book.hooks] == ["one"]
        assert await hub.hooks.then({"hooks": FILES.hash}) is book
        assert (await hub.hooks.then({})).hooks == ()


@async_test
async def test_todays_hooks_are_those_of_the_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "hookline.yaml").write_text(TEXT)
    async with open_hub(tmp_path) as hub:
        now = await hub.hooks.now({"host": "codex", "facts": {"cwd": str(tmp_path / "work")}})
        assert [hook.id for hook in now.hooks] == ["one"]
        for cwd in ("relative", "/nul\0", 7, None, "/does/not/exist"):
            assert (await hub.hooks.now({"host": "codex", "facts": {"cwd": cwd}})).hooks == ()
