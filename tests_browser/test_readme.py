"""README.md names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browser_hub import ROOT

HERE = Path(__file__).parent
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)(?:::(\w+))?`", (HERE / "README.md").read_text("utf-8"))))


@pytest.mark.parametrize(("file", "test"), NAMED)
def test_a_named_test_exists(file: str, test: str) -> None:
    path = ROOT / file if "/" in file else HERE / file
    assert not test or f"def {test}(" in path.read_text("utf-8")
    assert path.exists()
