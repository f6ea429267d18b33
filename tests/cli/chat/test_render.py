"""What happens, as lines."""

from __future__ import annotations

import io
import time
from dataclasses import replace

import pytest
from rich.console import Console

from hookline.cli.chat.json_lines import TYPES, has_line, update_json
from hookline.cli.chat.render import Screen
from hookline.cli.chat.start import DecisionLog
from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.host import Notice, ToolResult
from hookline.project import load_text
from hookline.runtime.gate import ToolCall
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


MAIN = ("main", "agent")
CHILD = ("child", "reviewer")
HOOKS = """
hooks:
  - {id: quiet, on: tool.before, then: {log: seen}}
  - {id: dry, on: tool.before, when: {input: {command: --force}}, then: {replace: {in: input.command, pattern: --force, with: --dry-run}}}
  - {id: no, on: tool.before, when: {input: {command: '^rm'}}, then: {deny: Not here.}}
  - {id: note, on: tool.after, then: {tell: "one\\ntwo"}}
"""


def _decision(event: str, command: str) -> Decision:
    book = load_text(HOOKS, "hookline.yaml")
    return book.decide_now(Event(event, {"tool": {"name": "bash", "kind": "shell", "input": {"command": command}}}))


def _shown(*happenings: Update, **options: bool) -> list[str]:
    out = io.StringIO()
    screen = Screen(Console(file=out, width=200), **options)
    screen.begin("main")
    for happening in happenings:
        screen(happening)
    return out.getvalue().split("\n")


def _call(command: str, id: str = "call_1") -> ToolCall:
    return ToolCall(id, "bash", {"command": command})


def test_a_changed_input_is_shown_as_such_and_a_log_is_not() -> None:
    lines = _shown(ToolCallStarted(*MAIN, _call("deploy --force"), _decision("tool.before", "deploy --force")))
    assert lines[:3] == [
        "  ● bash deploy --force",
        "    changed: deploy --dry-run",
        "    dry (hookline.yaml:4) because input.command matches --force",
    ]
    assert lines[3:] == [""]


def test_a_denied_call_is_said_once() -> None:
    denied = _decision("tool.before", "rm x")
    lines = _shown(
        DecisionMade(*MAIN, denied),
        ToolCallStarted(*MAIN, _call("rm x"), denied),
        ToolCallFinished(*MAIN, _call("rm x"), ToolResult(None, False, "Not here."), False),
    )
    assert lines[1] == "  ✗ denied: Not here."
    assert sum("Not here." in line for line in lines) == 1


def test_a_hooks_own_call_names_the_hook_and_its_result_is_no_answer_to_the_agents_call() -> None:
    agents, hooks = _call("ls"), ToolCall("call_2", "bash", {"command": "rm x"}, "tidy")
    lines = _shown(
        ToolCallStarted(*MAIN, agents, _decision("tool.before", "ls")),
        ToolCallStarted(*MAIN, hooks, _decision("tool.before", "rm x")),
        ToolCallFinished(*MAIN, hooks, ToolResult(None, False, "Not here."), False),
        ToolCallFinished(*MAIN, replace(hooks, id="call_3"), ToolResult("gone"), True),
        ToolCallFinished(*MAIN, replace(hooks, id="call_4"), ToolResult(None, False, "it broke"), True),
        ToolCallFinished(*MAIN, agents, ToolResult("a.txt"), True),
    )
    assert lines[:3] == ["  ● bash ls", "  ↳ bash rm x  [tidy]", "  ✗ denied: Not here."]
    assert lines[-3:] == ["  ✗ it broke", "  ✓ a.txt", ""]
    assert not any("gone" in line for line in lines)


def test_a_call_that_nobody_was_asked_about_says_why_it_is_not_run() -> None:
    lines = _shown(ToolCallFinished(*MAIN, _call("x"), ToolResult(None, False, "there is no tool 'bsh'"), False))
    assert lines[0] == "  ✗ there is no tool 'bsh'"


def _at_a_terminal(*happenings: Update, width: int = 40) -> list[str]:
    out = io.StringIO()
    screen = Screen(Console(file=out, width=width, force_terminal=True, color_system=None, legacy_windows=False))
    screen.begin("main")
    for happening in happenings:
        screen(happening)
    return [line.rstrip() for line in out.getvalue().split("\n")]


def test_long_lines_go_on_below_their_words() -> None:
    calling = ToolCallStarted(*MAIN, _call("rm everything"), _decision("tool.before", "rm everything"))
    assert _at_a_terminal(calling)[:4] == [
        "  ● bash rm everything",
        "  ✗ denied: Not here.",
        "    no (hookline.yaml:5) because",
        "    input.command matches ^rm",
    ]
    told = StatusMessage(*CHILD, "a sub-agent says more than there is room for here", "info", "")
    assert _at_a_terminal(SubagentStarted(*MAIN, "child", "reviewer", "look"), told)[1:3] == [
        "  │   » a sub-agent says more than there",
        "  │     is room for here",
    ]


def test_what_is_said_is_broken_between_words() -> None:
    pieces = ["This is lo", "nger than a line of this termi", "nal is wide, ", "so it goes on.", "\n- end"]
    spoken = [TextDelta(*MAIN, piece) for piece in pieces]
    assert _at_a_terminal(*spoken, ExchangeEnded(*MAIN, Ending.ANSWERED, ""))[1:] == [
        "This is longer than a line of this",
        "terminal is wide, so it goes on.",
        "- end",
        "",
    ]


def test_joined_letters_and_pictures_are_shown_and_other_marks_are_not() -> None:
    family, persian = "👩\u200d👧", "می\u200cخواهم"
    shown = "".join(
        _shown(*(TextDelta(*MAIN, piece) for piece in (family[:1], family[1:], f" {persian} a\u200db \u202e")))
    )
    assert shown == f"{family} {persian} a\\u200db \\u202e"


def test_what_is_waited_for_stands_there_until_something_happens() -> None:
    out = io.StringIO()
    screen = Screen(Console(file=out, width=40, force_terminal=True, color_system=None, legacy_windows=False))
    long_ago = time.monotonic() - 5.5
    screen.show_waiting(time.monotonic())
    assert out.getvalue() == ""
    screen._last_update = long_ago
    screen.show_waiting(long_ago)
    assert out.getvalue() == "  … the model, 5 s"
    screen(ToolCallStarted(*MAIN, _call("ls"), _decision("tool.before", "ls")))
    screen._last_update = long_ago
    screen.show_waiting(long_ago)
    screen(TextDelta(*MAIN, "Done.\n"))
    screen.show_waiting(long_ago)
    shown = out.getvalue().split("\r\x1b[K")
    assert shown == ["  … the model, 5 s", "  ● bash ls\n  … bash, 5 s", "\nDone.\n"]


def test_a_cancelled_call_is_not_told_of_again_later() -> None:
    call = _call("sleep 30")
    calling = ToolCallStarted(*MAIN, call, _decision("tool.before", "sleep 30"))
    later = ToolCallFinished(*MAIN, call, ToolResult(None, False, "bash was cancelled"), True)
    shown = _shown(calling, ExchangeEnded(*MAIN, Ending.CANCELLED, "cancelled by you"), later)
    assert shown == ["  ● bash sleep 30", "  ■ cancelled by you", ""]


def test_text_comes_in_pieces_and_lines_begin_anew() -> None:
    lines = _shown(
        TextDelta(*MAIN, "Hel"),
        TextDelta(*MAIN, "lo."),
        StatusMessage(*MAIN, "careful", "warning"),
        TextDelta(*MAIN, "Bye."),
    )
    assert lines == ["", "Hello.", "  ! careful", "", "Bye."]


def test_sub_agents_are_indented_and_speak_in_whole_lines() -> None:
    lines = _shown(
        SubagentStarted(*MAIN, "child", "reviewer", "Look at it."),
        TextDelta(*CHILD, "It "),
        TextDelta(*CHILD, "looks"),
        ToolCallStarted(*CHILD, _call("ls"), Decision(Event("tool.before", {}))),
        ExchangeEnded(*CHILD, Ending.FAILED, "no model"),
    )
    assert lines[:4] == ["  ▸ reviewer: Look at it.", "  │     It looks", "  │   ● bash ls", "  │   ■ failed: no model"]


def test_of_several_sub_agents_each_is_named_where_its_lines_begin() -> None:
    lines = _shown(
        SubagentStarted(*MAIN, "child", "reviewer", "Look."),
        SubagentStarted(*MAIN, "other", "tester", "Test."),
        StatusMessage(*CHILD, "one"),
        StatusMessage(*CHILD, "two"),
        StatusMessage("other", "tester", "three"),
        ExchangeEnded("other", "tester", Ending.ANSWERED, "fine"),
        StatusMessage(*CHILD, "four"),
    )
    assert lines[2:] == [
        "  │ reviewer",
        "  │   » one",
        "  │   » two",
        "  │ tester",
        "  │   » three",
        "  │ reviewer",
        "  │   » four",
        "",
    ]


def test_sub_agents_of_one_name_have_numbers_while_they_work_at_once() -> None:
    lines = _shown(
        SubagentStarted(*MAIN, "child", "reviewer", "Look."),
        SubagentStarted(*MAIN, "other", "reviewer", "Look there."),
        StatusMessage("other", "reviewer", "one"),
        ExchangeEnded("child", "reviewer", Ending.ANSWERED, "fine"),
        SubagentStarted(*MAIN, "third", "reviewer", "Look again."),
    )
    assert lines == [
        "  ▸ reviewer: Look.",
        "  ▸ reviewer 2: Look there.",
        "  │ reviewer 2",
        "  │   » one",
        "  ▸ reviewer: Look again.",
        "",
    ]


def test_long_results_and_notes_are_cut() -> None:
    result = ToolResult("\n".join(map(str, range(20))))
    lines = _shown(
        DecisionMade(*MAIN, _decision("tool.after", "ls")), ToolCallFinished(*MAIN, _call("ls"), result, True)
    )
    assert lines[:4] == [
        "  ◆ tool.after",
        "    note (hookline.yaml:6) because it is always true",
        "    for the agent: one",
        "    two",
    ]
    assert lines[4] == "  ✓ 0"
    assert lines[9:11] == ["    … 15 more lines", ""]


def test_nothing_that_is_shown_can_move_the_cursor() -> None:
    evil = "\x1b[2J\rgone\u202e"
    calls = (
        ToolCallStarted(*MAIN, _call(evil), Decision(Event("tool.before", {}))),
        StatusMessage(*MAIN, evil),
        TextDelta(*MAIN, evil),
    )
    text = "\n".join(_shown(*calls, ToolCallFinished(*MAIN, _call("x"), ToolResult(evil), True)))
    assert not {"\x1b", "\r", "\u202e"} & set(text)


def test_a_terminal_without_unicode_gets_escapes() -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, "ascii")
    Screen(Console(file=file, width=80))(TextDelta(*MAIN, "naïve"))
    file.flush()
    assert b"na\\xefve" in raw.getvalue()


def test_without_speech_only_what_happens_is_shown() -> None:
    assert _shown(TextDelta(*MAIN, "words"), speech=False) == [""]


ALL: list[Update] = [
    TextDelta(*MAIN, "a"),
    DecisionMade(*MAIN, _decision("tool.after", "ls")),
    ToolCallStarted(*MAIN, _call("deploy --force"), _decision("tool.before", "deploy --force")),
    ToolCallFinished(*MAIN, _call("ls"), ToolResult({"files": 1}), True),
    ApprovalRequested(*MAIN, "approval_1", "bash", {"command": "ls"}, "why", "hook"),
    ApprovalAnswered(*MAIN, "approval_1", True, "ada"),
    StatusMessage(*MAIN, "text", "warning", "hook"),
    Notification(*MAIN, Notice("notify", "done", "Build", hook="hook")),
    ModelRetry(*MAIN, "rate_limit", "slow down", 2.0),
    HistoryCompacted(*MAIN, 4, "summary"),
    SubagentStarted(*MAIN, "child", "reviewer", "task"),
    ExchangeEnded(*MAIN, Ending.ANSWERED, "done"),
]


@pytest.mark.parametrize("happening", ALL, ids=lambda each: type(each).__name__)
def test_everything_has_a_line_of_json_with_the_documented_keys(happening: Update) -> None:
    line = update_json(happening)
    assert has_line(happening)
    documented = {*TYPES[line["type"]].split("`")[1::2], "type", "thread", "agent"}
    if line["type"] == "call":
        documented |= set(TYPES["decision"].split("`")[1::2])
    assert set(line) <= documented, set(line) - documented
    _shown(happening)


def test_the_types_of_lines_are_those_of_happenings() -> None:
    assert {update_json(each)["type"] for each in ALL} | {"session"} == set(TYPES)


def test_the_record_counts_and_finds_the_last_decision_that_mattered() -> None:
    record = DecisionLog()
    for command in ("ls", "rm x", "ls"):
        record(DecisionMade(*MAIN, _decision("tool.before", command)))
    book = load_text(HOOKS, "hookline.yaml")
    assert [record.fire_count(hook) for hook in book.hooks] == [3, 0, 1, 0]
    last = record.decision()
    assert last is not None
    assert last.by == "no"
    assert record.decision(2) is None


def test_two_ais_are_told_apart() -> None:
    call = _decision("tool.before", "ls")
    lines = _shown(
        TextDelta(*MAIN, "It is ", speaker="Pro"),
        TextDelta(*MAIN, "good.", speaker="Pro"),
        TextDelta(*MAIN, "It is not.", speaker="Contra"),
        ToolCallStarted(*MAIN, _call("ls"), call, speaker="Contra"),
        TextDelta(*MAIN, "Well.", speaker="Contra"),
        ToolCallStarted(*MAIN, _call("ls", "call_2"), call, speaker="Pro"),
        ExchangeEnded(*MAIN, Ending.STEPS, "over", speaker="Pro"),
        TextDelta(*MAIN, "Again.", speaker="Pro"),
    )
    assert lines[:16] == [
        "",
        "Pro",
        "It is good.",
        "",
        "Contra",
        "It is not.",
        "  ● bash ls",
        "",
        "Well.",
        "",
        "Pro",
        "  ● bash ls",
        "  ■ stopped: over",
        "",
        "Pro",
        "Again.",
    ]


def test_two_ais_that_another_agent_started_are_told_apart_too() -> None:
    lines = _shown(
        SubagentStarted(*MAIN, "child", "debate", "go"),
        TextDelta(*CHILD, "Yes.", speaker="Pro"),
        TextDelta(*CHILD, "No.", speaker="Contra"),
        ExchangeEnded(*CHILD, Ending.ANSWERED, "No.", speaker="Contra"),
    )
    assert lines[1:5] == ["  │ Pro", "  │     Yes.", "  │ Contra", "  │     No."]


def test_a_line_of_json_says_which_of_two_ais_it_is_about() -> None:
    assert update_json(TextDelta(*MAIN, "Yes.", speaker="Pro")) == {
        "type": "text",
        "thread": "main",
        "agent": "agent",
        "speaker": "Pro",
        "text": "Yes.",
    }
    assert "speaker" not in update_json(TextDelta(*MAIN, "Yes."))
