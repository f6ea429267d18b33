"""The picture of docs/prove.md shows what the commands print, and loads nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
SHOWN = ("proved:", "counter-example:", "hookline fire tool.before", "no hook decided; the event proceeds")


def check(folder: Path) -> None:
    picture = (folder / "prove.svg").read_text("utf-8")
    texts = " ".join(re.findall(r">([^<>]+)</text>", picture)).replace("&#160;", " ")
    assert [each for each in SHOWN if each not in texts] == []
    assert "url(http" not in picture
    assert "@font-face" not in picture
    assert len(picture) < 60_000


def test_the_picture() -> None:
    check(DOCS)


@pytest.mark.slow
def test_the_script_draws_it(tmp_path: Path) -> None:
    pytest.importorskip("textual", reason="hookline[watch] is not installed")
    pytest.importorskip("z3", reason="hookline[prove] is not installed")
    subprocess.run([sys.executable, str(DOCS / "draw_prove.py"), str(tmp_path)], check=True, timeout=120)
    check(tmp_path)
