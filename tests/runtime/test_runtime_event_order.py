"""The order of a whole session, and of each turn in it, as the hooks of each dialect are told it."""

from __future__ import annotations

import pytest

from runtime.event_transcript import GOLDEN, golden_file, transcript


@pytest.mark.parametrize("dialect", GOLDEN)
def test_event_order_matches_golden_file(dialect: str) -> None:
    """If it changed for a reason: `PYTHONPATH=tests python -m runtime.event_transcript`, and look at the difference."""
    assert transcript(dialect).splitlines() == golden_file(dialect).read_text("utf-8").splitlines()
