from __future__ import annotations

import pytest

from hookline.hub.access.masked_question import question_for
from hookline.hub.access.roles import Caller, Role

QUESTION = {
    "id": "question_1",
    "state": "waiting",
    "input": {"command": "mysql -phunter2zz"},
    "edited": None,
    "reason": "Really?",
}


@pytest.mark.parametrize("role", [Role.APPROVER, Role.EDITOR, Role.OWNER, Role.REPORTER])
def test_who_answers_or_asked_sees_the_question_as_it_is(role: Role) -> None:
    assert question_for(Caller(role), QUESTION) == QUESTION


def test_only_the_host_sees_it_as_it_is_after_the_answer() -> None:
    answered = QUESTION | {"state": "approved", "edited": {"command": "mysql -phunter3zz"}}
    assert question_for(Caller(Role.REPORTER), answered) == answered
    masked = answered | {"input": {"command": "mysql -p***"}, "edited": {"command": "mysql -p***"}}
    assert question_for(Caller(Role.OWNER), answered) == masked


def test_a_viewer_sees_it_masked() -> None:
    assert question_for(Caller(Role.VIEWER), QUESTION) == QUESTION | {"input": {"command": "mysql -p***"}}
