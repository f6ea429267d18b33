from __future__ import annotations

import pytest

from hookline.hub.access.roles import KEY_ROLES, NOBODY, USER_ROLES, Caller, Role, weaker_role


@pytest.mark.parametrize("at", range(len(USER_ROLES)))
def test_a_role_includes_those_below_it(at: int) -> None:
    assert [USER_ROLES[at].includes(each) for each in USER_ROLES] == [True] * (at + 1) + [False] * (3 - at)


def test_a_reporter_reads_nothing_and_nobody_else_reports() -> None:
    assert [Role.REPORTER.includes(each) for each in USER_ROLES] == [False] * 4
    assert [each.includes(Role.REPORTER) for each in USER_ROLES] == [False] * 4
    assert Role.REPORTER.includes(Role.REPORTER)


def test_everybody_may_use_what_needs_no_role_and_nobody_anything_else() -> None:
    assert all(each.includes(Role.ANYONE) for each in (*KEY_ROLES, Role.ANYONE))
    assert not any(NOBODY.may(each) for each in KEY_ROLES)


def test_one_of_several_roles_is_enough() -> None:
    assert Caller(Role.REPORTER).may(Role.VIEWER, Role.REPORTER)
    assert not Caller(Role.VIEWER).may(Role.APPROVER, Role.REPORTER)


def test_the_weaker_of_two_roles() -> None:
    assert weaker_role(Role.OWNER, Role.VIEWER) is Role.VIEWER
    assert weaker_role(Role.VIEWER, Role.OWNER) is Role.VIEWER
