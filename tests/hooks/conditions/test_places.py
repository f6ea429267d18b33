"""`outside` and `inside` where the workspace is unknown, and in words."""

from __future__ import annotations

import pytest

from hookline import Event
from hookline.errors import ConditionError
from hookline.hooks.conditions.places import LiesIn

WRITE = {"tool": {"name": "write_file", "input": {"path": "/etc/x", "content": ""}}}


def test_an_unknown_workspace_leaves_it_undecided() -> None:
    with pytest.raises(ConditionError):
        LiesIn(("workspace",), outside=True).holds(Event("tool.before", WRITE))


def test_an_absolute_directory_needs_no_workspace() -> None:
    assert LiesIn(("/etc",), outside=False).holds(Event("tool.before", WRITE))


def test_it_says_what_the_call_names() -> None:
    event = Event("tool.before", WRITE)
    assert LiesIn(("/tmp",), outside=False).why_not(event) == "no path of the call is inside /tmp; it names '/etc/x'"
    assert LiesIn(("/tmp",), outside=True).why_not(Event("stop", {})) == "the call names no path"
