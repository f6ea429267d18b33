from __future__ import annotations

import pytest

from hookline.dialects.microai.matcher import BadMatcher, parse_matcher
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict
from hookline.testing import fire


def test_matching_the_input_costs_nothing_when_the_tool_differs() -> None:
    condition = parse_matcher("Bash(git:*)").condition
    assert not condition.holds(Event("tool.before", {"tool": {"name": "Read", "input": {"command": "git"}}}))


@pytest.mark.parametrize(
    "text", ["Bash(", "Bash)", "()", "Bash()", "Bash(a)(", "WebFetch(domain:)", "WebFetch(domain:a b)"]
)
def test_a_matcher_that_is_none(text: str) -> None:
    with pytest.raises(BadMatcher):
        parse_matcher(text)


def test_a_tool_with_any_odd_input_is_judged_without_a_traceback() -> None:
    config = {
        "hooks": {
            "PreToolUse": [
                {"matcher": "Bash(git:*)", "command": "exit 1"},
                {"matcher": "Read(**/*.go)", "command": "exit 1"},
            ]
        }
    }
    for tool in (
        {},
        {"name": "Bash"},
        {"name": "Bash", "input": {"command": None}},
        {"name": "Bash", "input": {"command": []}},
        {"name": "Read", "input": {"file_path": "\ud800\0"}},
    ):
        assert fire(config, Event("tool.before", {"tool": tool}), dialect="microai").verdict is Verdict.SILENT
