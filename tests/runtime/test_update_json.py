from __future__ import annotations

import pytest

from cli.chat.sample_updates import MAIN, decide_call, make_call, show_updates
from hookline.hooks.host import Notice, ToolResult
from hookline.runtime.update_json import TYPES, has_line, update_json
from hookline.runtime.updates import (
    ApprovalAnswered,
    ApprovalRequested,
    DecisionMade,
    Ending,
    ExchangeEnded,
    HistoryCompacted,
    ModelRetry,
    Notification,
    StatusMessage,
    SubagentStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    Update,
)

pytestmark = pytest.mark.slow


ALL: list[Update] = [
    TextDelta(*MAIN, "a"),
    DecisionMade(*MAIN, decide_call("tool.after", "ls")),
    ToolCallStarted(*MAIN, make_call("deploy --force"), decide_call("tool.before", "deploy --force")),
    ToolCallFinished(*MAIN, make_call("ls"), ToolResult({"files": 1}), True),
    ApprovalRequested(*MAIN, "approval_1", "bash", {"command": "ls"}, "why", "hook"),
    ApprovalAnswered(*MAIN, "approval_1", True, "ada"),
    StatusMessage(*MAIN, "text", "warning", "hook"),
    Notification(*MAIN, Notice("notify", "done", "Build", hook="hook")),
    ModelRetry(*MAIN, "rate_limit", "slow down", 2.0),
    HistoryCompacted(*MAIN, 4, "summary"),
    SubagentStarted(*MAIN, "child", "reviewer", "task"),
    ExchangeEnded(*MAIN, Ending.ANSWERED, "done"),
]


@pytest.mark.parametrize("update", ALL, ids=lambda each: type(each).__name__)
def test_everything_has_a_line_of_json_with_the_documented_keys(update: Update) -> None:
    line = update_json(update)
    assert has_line(update)
    documented = {*TYPES[line["type"]].split("`")[1::2], "type", "thread", "agent"}
    if line["type"] == "call":
        documented |= set(TYPES["decision"].split("`")[1::2])
    assert set(line) <= documented, set(line) - documented
    show_updates(update)


def test_the_types_of_lines_are_those_of_updates() -> None:
    assert {update_json(each)["type"] for each in ALL} | {"session"} == set(TYPES)


def test_a_line_of_json_says_which_of_two_ais_it_is_about() -> None:
    assert update_json(TextDelta(*MAIN, "Yes.", speaker="Pro")) == {
        "type": "text",
        "thread": "main",
        "agent": "agent",
        "speaker": "Pro",
        "text": "Yes.",
    }
    assert "speaker" not in update_json(TextDelta(*MAIN, "Yes."))
