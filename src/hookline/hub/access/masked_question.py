"""A question as those see it who may not answer it, and as it is kept after the answer: masked as in the record."""

from __future__ import annotations

from typing import Any, Final

from hookline.hooks.record_settings import RecordedFacts
from hookline.hub.access.roles import Caller, Role
from hookline.record.facts import RecordableFacts

_WITH_SECRETS: Final = ("input", "edited", "reason", "why")


def mask_input(input: Any) -> Any:
    return RecordableFacts(RecordedFacts.MASKED, masks=True).value(input)


def question_for(caller: Caller, question: dict[str, Any]) -> dict[str, Any]:
    """Approvers see what they approve, and a host what it asked."""
    if caller.may(Role.APPROVER, Role.REPORTER):
        return question
    return question | {name: mask_input(question[name]) for name in _WITH_SECRETS if name in question}
