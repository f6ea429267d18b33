"""Every promise of docs/guarantees.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ROWS = re.findall(
    r"^\| (?!promise|---)(.+) \| (`.+`) \|$", (ROOT / "docs/guarantees.md").read_text("utf-8"), re.MULTILINE
)


@pytest.mark.parametrize(("promise", "shown_by"), ROWS, ids=[promise[:60] for promise, _ in ROWS])
def test_the_tests_of_a_promise_exist(promise: str, shown_by: str) -> None:
    references = re.findall(r"`([^`]+)`", shown_by)
    assert references, promise
    for reference in references:
        path, _, name = reference.partition("::")
        text = (ROOT / path).read_text("utf-8")
        assert not name or re.search(rf"def {re.escape(name)}\b", text), reference


def test_there_are_promises() -> None:
    assert len(ROWS) > 80
