from __future__ import annotations

from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.runtime.storage.store import file_url
from runtime.storage.row_factories import async_test, make_session, open_store

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("", "URL is invalid"),
        ("store.db", "URL is invalid"),
        ("mysql://secret:word@host/db", "'mysql' databases are not supported"),
        ("sqlite://store.db", "too few slashes"),
        ("sqlite:///x.db?mode=ro", "synchronous=normal or synchronous=full"),
        ("sqlite:///x.db?synchronous=off", "synchronous=normal or synchronous=full"),
        ("postgresql://user:secret@host:port/db", "URL is invalid"),
    ],
)
@async_test
async def test_a_url_that_is_none_says_what_to_write(
    url: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(HooklineError, match=why) as refused:
        async with open_store(url):
            pass
    assert "secret" not in str(refused.value)
    assert "\n" not in str(refused.value)
    assert not list(tmp_path.iterdir())


@async_test
async def test_a_relative_path_is_taken_from_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with open_store("sqlite:///here/50%25 ü#.db") as store:
        monkeypatch.chdir("/")
        await store.add_session(make_session("s"))
    assert (tmp_path / "here" / "50% ü#.db").exists()


@async_test
async def test_any_file_has_a_url(tmp_path: Path) -> None:
    file = tmp_path / "a?b#c%25 d&é\n.db"
    async with open_store(file_url(file)) as store:
        await store.add_session(make_session("s"))
    assert file.exists()
