"""`count` and `after`: how they are read and written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.dialects.native.dialect import _write_hook
from hookline.project import load_text


@pytest.mark.parametrize(
    "when",
    [
        {"kind": "fetch", "count": {"more_than": 5, "per": "turn"}},
        {"count": {"more_than": 1}},
        {"any": [{"tool": "a"}, {"tool": "b"}], "count": {"more_than": 2, "per": "hour"}},
        {"after": {"runs": "pytest", "ok": True, "since": "write"}},
        {"not": {"after": {"tool": "plan", "since": {"kind": "edit"}}}},
    ],
    ids=str,
)
def test_a_condition_is_written_as_it_is_read(when: dict[str, Any]) -> None:
    text = json.dumps({"hooks": [{"id": "x", "on": "tool.before", "when": when, "then": {"deny": "No."}}]})
    book = load_text(text, "hookline.json", "native")
    hook = next(hook for hook in book.hooks if hook.id == "x")
    assert _write_hook(hook)["when"] == when


@pytest.mark.parametrize(
    ("when", "code"),
    [
        ({"count": 5}, "wrong-type"),
        ({"count": {"more_than": 0}}, "out-of-range"),
        ({"any": [{"count": {"more_than": 1}}]}, "misplaced-count"),
        ({"all": [{"count": {"more_than": 1}}, {"count": {"more_than": 2}}]}, "misplaced-count"),
        ({"after": "pytest"}, "wrong-type"),
        ({"after": {"since": "write"}}, "missing-key"),
        ({"after": {"tool": "a", "since": "now"}}, "unknown-word"),
        ({"after": {"tool": "a", "when": "x"}}, "unknown-key"),
    ],
    ids=str,
)
def test_what_is_wrong_is_a_problem(when: dict[str, Any], code: str) -> None:
    text = json.dumps({"hooks": [{"id": "x", "on": "tool.before", "when": when, "then": {"deny": "No."}}]})
    assert [problem.code for problem in load_text(text, "hookline.json", "native").problems] == [code]
