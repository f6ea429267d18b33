"""The picture of the README shows what the commands print today, and loads nothing."""

from __future__ import annotations

import html
import re
import subprocess
import sys
from pathlib import Path

from docs_pages import DOCS, ROOT

_TIME = re.compile(r"\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\b[0-9a-f]{4}-\d+\s*")


def shown(picture: str) -> str:
    """The text, without dates, times and the ids of decisions."""
    return _TIME.sub("#", " ".join(html.unescape(each) for each in re.findall(r">([^<>]+)</text>", picture)))


def test_the_script_draws_the_same_text(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(DOCS / "draw_session.py"), str(tmp_path)], check=True, timeout=60)
    drawn = (tmp_path / "session.svg").read_text("utf-8")
    assert shown(drawn) == shown((DOCS / "session.svg").read_text("utf-8")), "run `make pictures`"


def test_the_picture_loads_nothing() -> None:
    picture = (DOCS / "session.svg").read_text("utf-8")
    assert "no-recursive-delete" in picture
    assert "url(http" not in picture
    assert "@font-face" not in picture
    assert "docs/session.svg" in (ROOT / "README.md").read_text("utf-8")
