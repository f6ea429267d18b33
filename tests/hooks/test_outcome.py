"""What counts as a valid outcome."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from hookline.hooks.outcome import (
    ALLOW,
    SILENT,
    ActionError,
    AskTerms,
    Compact,
    FailureKind,
    Note,
    Outcome,
    Verdict,
    is_outcome,
    merge_terms,
)


@pytest.mark.parametrize(
    "answer",
    [
        SILENT,
        ALLOW,
        Outcome(Verdict.DENY, "no", ((("a", 0), 1),), (Note("x"),), (Compact(),), halt=True),
    ],
)
def test_a_complete_outcome_is_valid(answer: Outcome) -> None:
    assert is_outcome(answer)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "deny",
        Verdict.DENY,
        {"verdict": "deny"},
        *(
            Outcome(**part)
            for part in (
                {"verdict": 3},
                {"verdict": "deny"},
                {"reason": None},
                {"changes": [(("a",), 1)]},
                {"changes": (("a", 1),)},
                {"changes": ((("a",),),)},
                {"notes": ("text",)},
                {"notes": (Note(5),)},  # type: ignore[arg-type]
                {"requests": ("compact",)},
            )
        ),
    ],
)
def test_an_outcome_with_a_wrong_part_is_not_valid(answer: Any) -> None:
    assert not is_outcome(answer)


def test_the_strictest_terms_of_several_asks_count() -> None:
    lenient, quick = AskTerms(Verdict.ALLOW, timedelta(minutes=2)), AskTerms(Verdict.DENY, timedelta(minutes=1))
    assert merge_terms([lenient]) == lenient
    assert merge_terms([lenient, quick]) == quick
    assert merge_terms([lenient, None]) == AskTerms(Verdict.DENY, timedelta(minutes=2))
    assert merge_terms([]) == AskTerms()


def test_the_stronger_verdict_is_the_greater_one() -> None:
    assert Verdict.SILENT < Verdict.ALLOW < Verdict.ASK < Verdict.DENY
    assert Verdict.DENY.word == "deny"


def test_an_error_carries_its_failure() -> None:
    error = ActionError(FailureKind.TIMEOUT, "too slow", ALLOW)
    assert (str(error), error.failure.kind, error.failure.answer) == ("too slow", FailureKind.TIMEOUT, ALLOW)
