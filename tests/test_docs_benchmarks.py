"""`make bench` can write its tables into docs/benchmarks.md, and leaves the text around them as it is."""

from __future__ import annotations

import runpy
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from docs_pages import DOCS, ROOT

PAGE = DOCS / "benchmarks.md"
SCRIPT: dict[str, Any] = runpy.run_path(str(ROOT / "bench" / "update_docs.py"))


def test_each_table_has_heads_of_its_own() -> None:
    lines = PAGE.read_text("utf-8").splitlines()
    heads = Counter(line for before, line in zip(["", *lines], lines, strict=False) if _begins_table(before, line))
    assert heads
    assert not [line for line, count in heads.items() if count > 1], "only one of them would be updated"


def _begins_table(before: str, line: str) -> bool:
    return line.startswith("|") and not before.startswith("|")


def test_a_measured_table_replaces_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, output = tmp_path / "page.md", tmp_path / "output.txt"
    page.write_text("Before\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nBetween\n\n| c |\n|---|\n| 3 |\n", "utf-8")
    output.write_text("noise\n| a | b |\n|---|---|\n| 8 | 9 |\n", "utf-8")
    monkeypatch.setattr("sys.argv", ["update_docs", str(output), str(page)])
    SCRIPT["main"]()
    assert page.read_text("utf-8") == "Before\n\n| a | b |\n|---|---|\n| 8 | 9 |\n\nBetween\n\n| c |\n|---|\n| 3 |\n"
