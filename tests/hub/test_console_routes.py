from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from hookline.hub import console_routes
from hub.hub_sandbox import Client, async_test, open_hub

SCRIPT = b"console.log(1);" * 100


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = tmp_path / "console_files"
    directory.mkdir()
    monkeypatch.setattr(console_routes, "CONSOLE_DIRECTORY", directory)
    return directory


def build(directory: Path, page: str = "<h1>Console</h1>") -> None:
    (directory / "app-1a2b.js").write_bytes(SCRIPT)
    (directory / "app-1a2b.js.gz").write_bytes(gzip.compress(SCRIPT))
    (directory / "index.html").write_text(page)


@async_test
async def test_without_a_console_the_page_says_how_to_build_it(tmp_path: Path, directory: Path) -> None:
    async with open_hub(tmp_path) as hub:
        http = Client(hub).http
        page = await http.get("/")
        assert (page.status_code, "make console" in page.text) == (200, True)
        assert page.headers["content-security-policy"].startswith("default-src 'none'; script-src 'self'")
        assert (await http.get("/elsewhere")).status_code == 404
        build(directory)
        assert (await http.get("/")).text == "<h1>Console</h1>"


@async_test
async def test_every_address_of_the_console_is_its_page(tmp_path: Path, directory: Path) -> None:
    build(directory)
    async with open_hub(tmp_path) as hub:
        for path in ("/", "/decisions/a-1", "/hooks/workspace%3A%2Fhome/rule"):
            page = await Client(hub).http.get(path)
            assert (page.status_code, page.text, page.headers["cache-control"]) == (200, "<h1>Console</h1>", "no-cache")
            assert "trusted-types 'none'" in page.headers["content-security-policy"]
            assert page.headers["content-type"] == "text/html; charset=utf-8"


@async_test
async def test_files_are_compressed_and_never_asked_for_again(tmp_path: Path, directory: Path) -> None:
    build(directory)
    async with open_hub(tmp_path) as hub:
        for encodings, expected in (("gzip, br", "gzip"), ("br", None)):
            file = await Client(hub).http.get("/static/app-1a2b.js", headers={"accept-encoding": encodings})
            assert (file.content, file.headers.get("content-encoding")) == (SCRIPT, expected)
            assert "immutable" in file.headers["cache-control"]
            assert file.headers["content-type"].startswith("text/javascript")
            assert file.headers["x-content-type-options"] == "nosniff"
            assert file.headers["content-security-policy"].startswith("default-src 'none'; frame-ancestors 'none'")
            assert sum(len(name) + len(value) for name, value in file.headers.items()) < 900  # each file has them


@async_test
async def test_nothing_but_built_files_can_be_reached(tmp_path: Path, directory: Path) -> None:
    build(directory)
    (tmp_path / "secret").write_text("secret")
    async with open_hub(tmp_path) as hub:
        for name in ("gone.js", "app-1a2b.js.gz", "..%2Fsecret", "%2e%2e/secret", "../secret", ""):
            response = await Client(hub).http.get(f"/static/{name}")
            assert "secret" not in response.text
            assert response.status_code == 404 or response.text == "<h1>Console</h1>"


@async_test
async def test_a_new_build_is_served_without_a_restart(tmp_path: Path, directory: Path) -> None:
    build(directory)
    async with open_hub(tmp_path) as hub:
        http = Client(hub).http
        assert (await http.get("/")).text == "<h1>Console</h1>"
        build(directory, "<h1>New</h1>")
        assert (await http.get("/")).text == "<h1>New</h1>"
