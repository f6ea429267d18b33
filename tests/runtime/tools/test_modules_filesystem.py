from __future__ import annotations

import pytest

pytestmark = pytest.mark.anyio


async def test_does_what_the_built_in_tools_do(do, workspace) -> None:
    assert (await do("filesystem.write", path="d/a", content="one")).ok
    assert (await do("filesystem.edit", path="d/a", old_string="one", new_string="two")).ok
    assert (await do("filesystem.read", path="d/a")).content == "two"
    assert (await do("filesystem.list", path="d")).content == "a  3 bytes"
    assert (await do("filesystem.glob", pattern="**")).content == "d/a"
    assert (await do("filesystem.grep", pattern="two")).content == "d/a:1:two"
    assert (await do("filesystem.delete", path="d/a")).content == "deleted d/a"
    assert not (workspace / "d" / "a").exists()


async def test_deletes_a_link_and_not_what_it_leads_to(do, workspace) -> None:
    (workspace / "link").symlink_to(workspace.parent / "secret")
    (workspace / "d").mkdir()
    assert (await do("filesystem.delete", path="link")).ok
    assert (workspace.parent / "secret").exists()
    for path, error in (("../secret", "outside"), ("d", "a directory"), ("gone", "no file"), (".", "a directory")):
        assert error in (await do("filesystem.delete", path=path)).error
