"""The pictures of docs/record.md show what the commands print, and load nothing."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PICTURES = {
    "record-why.svg": ("hookline log --event tool.before", "decided", "ask-push", "in force"),
    "record-replay.svg": ("loosened", "1 loosened, 0 tightened"),
    "record-watch.svg": ("1 waiting for approval", "no-rm", "refused", "git push --tags origin main"),
}


def texts(picture: str) -> str:
    return " ".join(re.findall(r">([^<>]+)</text>", picture)).replace("&#160;", " ")


def check(folder: Path) -> None:
    for name, shown in PICTURES.items():
        picture = (folder / name).read_text("utf-8")
        assert [each for each in shown if each not in texts(picture)] == [], name
        assert "url(http" not in picture
        assert "@font-face" not in picture
        assert len(picture) < 60_000


def test_the_pictures() -> None:
    check(DOCS)


@pytest.mark.slow
def test_the_script_draws_them(tmp_path: Path) -> None:
    pytest.importorskip("textual", reason="hookline[watch] is not installed")
    subprocess.run([sys.executable, str(DOCS / "draw_record.py"), str(tmp_path)], check=True, timeout=120)
    check(tmp_path)


def test_the_example_is_that_of_the_page(tmp_path: Path) -> None:
    pytest.importorskip("textual", reason="hookline[watch] is not installed")
    script: dict[str, Any] = runpy.run_path(str(DOCS / "draw_record.py"))
    script["write_example"](tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"hookline.yaml", "agent.py", "new.yaml"}
