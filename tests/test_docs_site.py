"""The site: what `make docs` copies, and what it leaves to zensical."""

from __future__ import annotations

import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from docs_pages import DOCS, ROOT, pages

LEFT_OUT = re.compile(r"decisions/\d+")


@pytest.fixture(scope="module")
def builder() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "build_site.py"))


@pytest.fixture(scope="module")
def copied(builder: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site") / "pages"
    builder["write_pages"](folder)
    return folder


def test_every_page_is_in_the_navigation(builder: dict[str, Any]) -> None:
    listed = re.findall(r'"([\w/.-]+\.md)"', (DOCS / "zensical.toml").read_text("utf-8"))
    places = {builder["place_of"](page).as_posix() for page in pages()}
    assert len(listed) == len(set(listed))
    assert set(listed) == {place for place in places if not LEFT_OUT.match(place)}


def test_the_reader_s_own_font_in_light_and_dark() -> None:
    theme = tomllib.loads((DOCS / "zensical.toml").read_text("utf-8"))["project"]["theme"]
    assert theme["font"] is False
    assert {palette["scheme"] for palette in theme["palette"]} == {"default", "slate"}


def test_links_lead_to_the_copies(copied: Path) -> None:
    missing = [
        f"{page.relative_to(copied)}: {link}"
        for page in copied.rglob("*.md")
        for link in re.findall(r"\[[^\]]+\]\((?!https?:)([^)\s#]+)", _without_fences(page.read_text("utf-8")))
        if not Path(os.path.normpath(page.parent / link)).exists()
    ]
    assert not missing


@pytest.mark.parametrize(
    ("page", "line", "expected"),
    [
        ("README.md", "[a](docs/trust.md#x)", "[a](../trust.md#x)"),
        ("README.md", "![a](docs/session.svg)", "![a](../session.svg)"),
        ("docs/README.md", "[a](../SECURITY.md)", "[a](project/SECURITY.md)"),
        ("docs/hosts/mcp.md", "[a](../trust.md) and [b](#c)", "[a](../trust.md) and [b](#c)"),
        (
            "docs/packs.md",
            "[tests](../tests/packs) and [w](https://example.com/x)",
            "tests and [w](https://example.com/x)",
        ),
    ],
)
def test_a_link_is_rewritten(builder: dict[str, Any], page: str, line: str, expected: str) -> None:
    rewritten = builder["_LINK"].sub(lambda link: builder["convert_link"](link, ROOT / page), line)
    assert rewritten == expected


def test_a_bar_in_the_code_of_a_table_has_no_backslash(copied: Path) -> None:
    pages = {page: _without_fences(page.read_text("utf-8")) for page in copied.rglob("*.md")}
    assert "<code>curl &#124; sh</code>" in pages[copied / "packs.md"]
    assert [page for page, text in pages.items() if re.search(r"^\|.*`[^`|]*\\\|", text, re.M)] == []


def test_only_the_language_is_left_of_a_fence(copied: Path) -> None:
    fences = re.findall(r"^```(.*)$", (copied / "cookbook.md").read_text("utf-8"), re.M)
    assert set(fences) == {"yaml", ""}


def test_a_page_that_loads_something_is_found(builder: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<a href="https://x.example">fine</a><img src="a.svg">', "utf-8")
    assert builder["loaded_from_elsewhere"](tmp_path) == []
    (tmp_path / "b.html").write_text('<link rel="stylesheet" href="https://fonts.example/x.css">', "utf-8")
    assert len(builder["loaded_from_elsewhere"](tmp_path)) == 1


@pytest.mark.slow
def test_the_site_builds(tmp_path: Path) -> None:
    python = ROOT / ".cache/docs/python/bin/python"
    if not python.exists() and not shutil.which("zensical"):
        pytest.skip("zensical is not installed: run `make docs` once")
    program = str(python) if python.exists() else sys.executable
    done = subprocess.run(
        [program, str(DOCS / "build_site.py"), str(tmp_path)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "site/index.html").exists()
    assert "tutorial.html" in (tmp_path / "site/search.json").read_text("utf-8")


def _without_fences(text: str) -> str:
    return re.sub(r"^(```+).*?^\1$", "", text, flags=re.M | re.S)
