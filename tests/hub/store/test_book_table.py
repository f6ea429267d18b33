from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import update

from hookline.errors import HooklineError
from hookline.hooks.hook_files import HookFile, HookFiles
from hookline.hub.store.book_table import insert_books
from hookline.runtime.storage.hub_tables import books
from hub.hub_sandbox import async_test, open_hub

FILES = HookFiles((HookFile("/p/hookline.yaml", "hookline.yaml", "native", "project", "hooks: []\n"),))


@async_test
async def test_texts_are_kept_by_their_hash(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        for _ in range(2):
            await hub.database.write(insert_books({FILES.hash: FILES.data}, 1.0))
        assert await hub.books.find_hashes([FILES.hash, "x"]) == {FILES.hash}
        assert (await hub.books.files(FILES.hash)).files == FILES.files


@async_test
async def test_texts_that_were_changed_or_are_not_there_are_refused(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        with pytest.raises(HooklineError, match="are not here"):
            await hub.books.files("0" * 64)
        await hub.database.write(insert_books({FILES.hash: FILES.data}, 1.0))
        await hub.database.write(lambda connection: connection.execute(update(books).values(parts="{}")))
        with pytest.raises(HooklineError, match="were changed"):
            await hub.books.files(FILES.hash)
