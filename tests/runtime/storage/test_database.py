from __future__ import annotations

import sqlite3

import pytest
from sqlalchemy.exc import StatementError

from hookline.errors import HooklineError
from hookline.runtime.storage.database import explain_database_error

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "database or disk is full",
            "cannot be written: the disk is full. Nothing was stored; free some space and try again",
        ),
        (
            "attempt to write a readonly database",
            "cannot be written; check the permissions of the file and its directory",
        ),
        ("unable to open database file", "cannot be opened; check that its directory exists and is writable"),
        ("something\n  new", "cannot be used: something new"),
    ],
)
def test_what_sqlite_says_is_told_in_one_line(text: str, told: str) -> None:
    failed = explain_database_error(sqlite3.OperationalError(text), "the\ndatabase x")
    assert isinstance(failed, HooklineError)
    assert str(failed) == f"the database x {told}"


def test_a_long_text_is_cut() -> None:
    assert len(str(explain_database_error(OSError("x" * 10_000), "x"))) < 400


def test_our_own_bugs_stay_what_they_are() -> None:
    bug = StatementError("no", "SELECT", None, TypeError("ours"))
    assert explain_database_error(bug, "x") is bug
