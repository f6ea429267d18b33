"""The picture of the README shows a real session of Claude Code, and what hookline would still say in it."""

from __future__ import annotations

import html
import re

from docs_pages import DOCS, ROOT
from packs.pack_trials import decide, load_pack

PICTURE = (DOCS / "session.svg").read_text("utf-8")
LINES = re.findall(r'<text [^>]*?y="([\d.]+)"[^>]*>([^<]*)</text>', PICTURE)


def shown() -> str:
    """The text of the picture, as it is read."""
    return " ".join(html.unescape(" ".join(text for _, text in LINES)).split())


def test_the_answers_in_the_picture_are_those_of_today() -> None:
    text = shown()
    for command, hook in (("rm -rf src", "no-recursive-delete"), ("git push --force origin main", "no-force-push")):
        decision = decide(load_pack("recommended"), command)
        assert decision.by == hook
        assert f"Bash({command})" in text.replace(" ( ", "(").replace(" (", "(").replace("( ", "(")
        assert decision.reason in text, "run `make pictures`"
        assert f"hook {hook}" in text
    assert decide(load_pack("recommended"), "ls src").verdict.name == "SILENT"


def test_the_picture_is_of_claude_code_and_loads_nothing() -> None:
    assert "Claude Code" in shown()
    assert "url(http" not in PICTURE
    assert "@font-face" not in PICTURE
    assert "docs/session.svg" in (ROOT / "README.md").read_text("utf-8")
