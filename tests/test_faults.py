"""docs/faults.md says what happens."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

import faults

PAGE = faults.PAGE.read_text("utf-8")
HINT = "if this is meant to be so, run `python -m tests.faults`"


@pytest.mark.parametrize(("dialect", "what"), faults.TABLES, ids=lambda each: each)
def test_the_table_is_true(dialect: str, what: str, tmp_path: Path) -> None:
    began = time.monotonic()
    table = asyncio.run(faults.table(dialect, what, tmp_path))
    assert time.monotonic() - began < 60
    assert f"{faults.section(dialect, what)}\n\n{table}\n" in PAGE, HINT


def test_nothing_else_is_on_the_page() -> None:
    assert PAGE.startswith(faults.HEAD), HINT
    assert [line for line in PAGE.splitlines() if line.startswith("## ")] == [
        faults.section(*key) for key in faults.TABLES
    ]
