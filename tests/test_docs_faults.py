"""docs/faults.md says what happens."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest

import fault_matrix

PAGE = fault_matrix.PAGE.read_text("utf-8")
HINT = "if this is meant to be so, run `python -m tests.fault_matrix`"


@pytest.mark.parametrize(("dialect", "what"), fault_matrix.TABLES, ids=lambda each: each)
@pytest.mark.timing
def test_the_table_is_true(dialect: str, what: str, tmp_path: Path) -> None:
    began = time.monotonic()
    table = asyncio.run(fault_matrix.table(dialect, what, tmp_path))
    assert time.monotonic() - began < 60
    assert f"{fault_matrix.section(dialect, what)}\n\n{table}\n" in PAGE, HINT


def test_nothing_else_is_on_the_page() -> None:
    assert PAGE.startswith(fault_matrix.HEAD), HINT
    assert [line for line in PAGE.splitlines() if line.startswith("## ")] == [
        fault_matrix.section(*key) for key in fault_matrix.TABLES
    ]
