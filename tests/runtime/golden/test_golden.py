"""The order of a whole session, and of each turn in it, as the hooks of each dialect are told it."""

from __future__ import annotations

import pytest

from runtime.golden.lines import GOLDEN, file_of, text_of


@pytest.mark.parametrize("dialect", GOLDEN)
def test_the_story_is_told_as_it_was(dialect: str) -> None:
    """If it changed for a reason: `PYTHONPATH=tests python -m runtime.golden.lines`, and look at the difference."""
    assert text_of(dialect).splitlines() == file_of(dialect).read_text("utf-8").splitlines()
