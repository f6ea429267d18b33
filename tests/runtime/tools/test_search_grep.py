from __future__ import annotations

import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.anyio


@pytest.fixture
def tree(workspace: Path) -> Path:
    (workspace / "src").mkdir()
    (workspace / "a.py").write_text("import os\nprint(1)\n")
    (workspace / "src" / "b.py").write_bytes(b"no\r\nimport re\r\n")
    (workspace / "src" / "c.txt").write_text("import\n")
    (workspace / "data").write_bytes(b"import\0")
    (workspace / "secret").symlink_to(workspace.parent / "secret")
    return workspace


@pytest.mark.parametrize(
    ("input", "found"),
    [
        ({"pattern": "^import "}, "a.py:1:import os\nsrc/b.py:2:import re"),
        ({"pattern": "re$"}, "src/b.py:2:import re"),
        ({"pattern": "import", "path": "src"}, "src/b.py:2:import re\nsrc/c.txt:1:import"),
        ({"pattern": "import", "path": "a.py"}, "a.py:1:import os"),
        ({"pattern": "(?i)IMPORT", "glob": "*.txt"}, "src/c.txt:1:import"),
        ({"pattern": "import", "glob": "src/*.py"}, "src/b.py:2:import re"),
        ({"pattern": "nothing"}, "no line matches"),
        ({"pattern": "outside"}, "no line matches"),
    ],
)
async def test_finds_lines(do, tree: Path, input, found: str) -> None:
    told = (await do("grep", **input)).content
    assert [line for line in told.split("\n") if not line.startswith("[")] == found.split("\n")


async def test_what_is_outside_is_refused(do, tree: Path) -> None:
    assert "outside" in (await do("grep", pattern="x", path="..")).error
    assert "outside" in (await do("grep", pattern="x", path="secret")).error


async def test_a_pattern_that_cannot_be_read_is_an_error(do, tree: Path) -> None:
    assert "invalid pattern" in (await do("grep", pattern="(")).error


@pytest.mark.timing
async def test_a_pattern_made_to_hang_does_not(do, workspace: Path) -> None:
    (workspace / "evil").write_text("a" * 5000 + "!\n")
    began = time.monotonic()
    assert (await do("grep", pattern="^(a+)+$")).ok
    assert (await do("grep", pattern=r"^(?=(a+)+$)b")).ok
    assert time.monotonic() - began < 25


async def test_matches_are_bounded_and_lines_cut(do, workspace: Path) -> None:
    (workspace / "many").write_text("x\n" * 2000 + "y" * 5000)
    lines = (await do("grep", pattern="x")).content.split("\n")
    assert lines[-1] == "[only the first 500 matches are shown]"
    assert len(lines) == 501
    assert len((await do("grep", pattern="y")).content) < 500


async def test_what_is_too_large_is_left_out_and_said(do, workspace: Path) -> None:
    with (workspace / "huge").open("wb") as file:
        file.truncate(1 << 30)
    assert (await do("grep", pattern="x")).content == "no line matches\n[1 files were skipped: too large or unreadable]"
