"""Actions that always fail."""

from __future__ import annotations

import asyncio

import pytest

from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.actions.failing import InvalidAction, UntrustedAction
from hookline.hooks.event import Event
from hookline.hooks.host import NO_HOST
from hookline.hooks.outcome import ActionError, FailureKind, Outcome, Verdict
from hookline.hooks.protocols import Action, May

DENY = FixedAnswer(Outcome(Verdict.DENY, changes=((("prompt",), "x"),)))


@pytest.mark.parametrize(
    ("action", "kind", "text"),
    [
        (InvalidAction("has no command"), FailureKind.CANNOT_START, "has no command"),
        (UntrustedAction(DENY), FailureKind.NOT_TRUSTED, "hookline trust"),
    ],
)
def test_it_fails_each_time(action: Action, kind: FailureKind, text: str) -> None:
    with pytest.raises(ActionError) as failed:
        asyncio.run(action.run(Event("stop", {}), NO_HOST))
    assert failed.value.failure.kind is kind
    assert text in failed.value.failure.text
    assert action.constant is None


def test_an_untrusted_action_is_described_as_the_one_that_it_replaces() -> None:
    untrusted = UntrustedAction(DENY)
    assert untrusted.may == May.DENY | May.CHANGE
    assert untrusted.changes() == (("prompt",),)
    assert list(untrusted.describe()) == list(DENY.describe())
