"""A question as those see it who may not answer it, and as people see it after the answer: masked as in the record."""

from __future__ import annotations

from typing import Any

from hookline.hub.access.roles import Caller, Role
from hookline.hub.store.question_table import TEXTS_WITH_SECRETS, WAITING, mask_text


def question_for(caller: Caller, question: dict[str, Any]) -> dict[str, Any]:
    """Approvers see what they approve, and a host what it asked and what was answered."""
    if caller.role is Role.REPORTER or (caller.may(Role.APPROVER) and question["state"] == WAITING):
        return question
    return question | {name: mask_text(question[name]) for name in TEXTS_WITH_SECRETS if name in question}
