"""What an outcome asks for."""

from __future__ import annotations

import pytest

from hookline.hooks.outcome import SILENT, Audience, Compact, Note, Outcome, Verdict
from hookline.hooks.protocols import May, may_of


@pytest.mark.parametrize(
    ("outcome", "may"),
    [
        (SILENT, May.NOTHING),
        (Outcome(Verdict.ALLOW), May.ALLOW),
        (Outcome(Verdict.DENY, halt=True), May.DENY | May.HALT),
        (Outcome(changes=((("a",), 1),)), May.CHANGE),
        (Outcome(notes=(Note("x"),)), May.NOTES),
        (Outcome(notes=(Note("x", Audience.USER),)), May.NOTHING),
        (Outcome(Verdict.ASK, requests=(Compact(),)), May.ASK | May.COMPACT),
    ],
)
def test_each_part_of_an_outcome_needs_its_permission(outcome: Outcome, may: May) -> None:
    assert may_of(outcome) == may
