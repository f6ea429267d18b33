"""What happens, as lines."""

from __future__ import annotations

import io
import time
from dataclasses import replace

import pytest
from rich.console import Console

from cli.chat.sample_updates import MAIN, decide_call, make_call, show_updates
from hookline.cli.chat.render import Screen
from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.host import ToolResult
from hookline.runtime.gate import ToolCall
from hookline.runtime.updates import (
    DecisionMade,
    Ending,
    ExchangeEnded,
    StatusMessage,
    SubagentStarted,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    Update,
)

pytestmark = pytest.mark.slow
CHILD = ("child", "reviewer")


def test_a_changed_input_is_shown_as_such_and_a_log_is_not() -> None:
    lines = show_updates(
        ToolCallStarted(*MAIN, make_call("deploy --force"), decide_call("tool.before", "deploy --force"))
    )
    assert lines[:3] == [
        "  ● bash deploy --force",
        "    changed: deploy --dry-run",
        "    dry (hookline.yaml:4) because input.command matches --force",
    ]
    assert lines[3:] == [""]


def test_a_denied_call_is_said_once() -> None:
    denied = decide_call("tool.before", "rm x")
    lines = show_updates(
        DecisionMade(*MAIN, denied),
        ToolCallStarted(*MAIN, make_call("rm x"), denied),
        ToolCallFinished(*MAIN, make_call("rm x"), ToolResult(None, False, "Not here."), False),
    )
    assert lines[1] == "  ✗ denied: Not here."
    assert sum("Not here." in line for line in lines) == 1


def test_a_hooks_own_call_names_the_hook_and_its_result_is_no_answer_to_the_agents_call() -> None:
    agents, hooks = make_call("ls"), ToolCall("call_2", "bash", {"command": "rm x"}, "tidy")
    lines = show_updates(
        ToolCallStarted(*MAIN, agents, decide_call("tool.before", "ls")),
        ToolCallStarted(*MAIN, hooks, decide_call("tool.before", "rm x")),
        ToolCallFinished(*MAIN, hooks, ToolResult(None, False, "Not here."), False),
        ToolCallFinished(*MAIN, replace(hooks, id="call_3"), ToolResult("gone"), True),
        ToolCallFinished(*MAIN, replace(hooks, id="call_4"), ToolResult(None, False, "it broke"), True),
        ToolCallFinished(*MAIN, agents, ToolResult("a.txt"), True),
    )
    assert lines[:3] == ["  ● bash ls", "  ↳ bash rm x  [tidy]", "  ✗ denied: Not here."]
    assert lines[-3:] == ["  ✗ it broke", "  ✓ a.txt", ""]
    assert not any("gone" in line for line in lines)


def test_a_call_that_nobody_was_asked_about_says_why_it_is_not_run() -> None:
    lines = show_updates(
        ToolCallFinished(*MAIN, make_call("x"), ToolResult(None, False, "there is no tool 'bsh'"), False)
    )
    assert lines[0] == "  ✗ there is no tool 'bsh'"


def _at_a_terminal(*updates: Update, width: int = 40) -> list[str]:
    out = io.StringIO()
    screen = Screen(Console(file=out, width=width, force_terminal=True, color_system=None, legacy_windows=False))
    screen.begin("main")
    for update in updates:
        screen(update)
    return [line.rstrip() for line in out.getvalue().split("\n")]


def test_long_lines_go_on_below_their_words() -> None:
    calling = ToolCallStarted(*MAIN, make_call("rm everything"), decide_call("tool.before", "rm everything"))
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
        show_updates(*(TextDelta(*MAIN, piece) for piece in (family[:1], family[1:], f" {persian} a\u200db \u202e")))
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
    screen(ToolCallStarted(*MAIN, make_call("ls"), decide_call("tool.before", "ls")))
    screen._last_update = long_ago
    screen.show_waiting(long_ago)
    screen(TextDelta(*MAIN, "Done.\n"))
    screen.show_waiting(long_ago)
    shown = out.getvalue().split("\r\x1b[K")
    assert shown == ["  … the model, 5 s", "  ● bash ls\n  … bash, 5 s", "\nDone.\n"]


def test_a_cancelled_call_is_not_told_of_again_later() -> None:
    call = make_call("sleep 30")
    calling = ToolCallStarted(*MAIN, call, decide_call("tool.before", "sleep 30"))
    later = ToolCallFinished(*MAIN, call, ToolResult(None, False, "bash was cancelled"), True)
    shown = show_updates(calling, ExchangeEnded(*MAIN, Ending.CANCELLED, "cancelled by you"), later)
    assert shown == ["  ● bash sleep 30", "  ■ cancelled by you", ""]


def test_text_comes_in_pieces_and_lines_begin_anew() -> None:
    lines = show_updates(
        TextDelta(*MAIN, "Hel"),
        TextDelta(*MAIN, "lo."),
        StatusMessage(*MAIN, "careful", "warning"),
        TextDelta(*MAIN, "Bye."),
    )
    assert lines == ["", "Hello.", "  ! careful", "", "Bye."]


def test_sub_agents_are_indented_and_speak_in_whole_lines() -> None:
    lines = show_updates(
        SubagentStarted(*MAIN, "child", "reviewer", "Look at it."),
        TextDelta(*CHILD, "It "),
        TextDelta(*CHILD, "looks"),
        ToolCallStarted(*CHILD, make_call("ls"), Decision(Event("tool.before", {}))),
        ExchangeEnded(*CHILD, Ending.FAILED, "no model"),
    )
    assert lines[:4] == ["  ▸ reviewer: Look at it.", "  │     It looks", "  │   ● bash ls", "  │   ■ failed: no model"]


def test_of_several_sub_agents_each_is_named_where_its_lines_begin() -> None:
    lines = show_updates(
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
    lines = show_updates(
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
    lines = show_updates(
        DecisionMade(*MAIN, decide_call("tool.after", "ls")), ToolCallFinished(*MAIN, make_call("ls"), result, True)
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
        ToolCallStarted(*MAIN, make_call(evil), Decision(Event("tool.before", {}))),
        StatusMessage(*MAIN, evil),
        TextDelta(*MAIN, evil),
    )
    text = "\n".join(show_updates(*calls, ToolCallFinished(*MAIN, make_call("x"), ToolResult(evil), True)))
    assert not {"\x1b", "\r", "\u202e"} & set(text)


def test_a_terminal_without_unicode_gets_escapes() -> None:
    raw = io.BytesIO()
    file = io.TextIOWrapper(raw, "ascii")
    Screen(Console(file=file, width=80))(TextDelta(*MAIN, "naïve"))
    file.flush()
    assert b"na\\xefve" in raw.getvalue()


def test_without_speech_only_what_happens_is_shown() -> None:
    assert show_updates(TextDelta(*MAIN, "words"), speech=False) == [""]


def test_two_ais_are_told_apart() -> None:
    call = decide_call("tool.before", "ls")
    lines = show_updates(
        TextDelta(*MAIN, "It is ", speaker="Pro"),
        TextDelta(*MAIN, "good.", speaker="Pro"),
        TextDelta(*MAIN, "It is not.", speaker="Contra"),
        ToolCallStarted(*MAIN, make_call("ls"), call, speaker="Contra"),
        TextDelta(*MAIN, "Well.", speaker="Contra"),
        ToolCallStarted(*MAIN, make_call("ls", "call_2"), call, speaker="Pro"),
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
    lines = show_updates(
        SubagentStarted(*MAIN, "child", "debate", "go"),
        TextDelta(*CHILD, "Yes.", speaker="Pro"),
        TextDelta(*CHILD, "No.", speaker="Contra"),
        ExchangeEnded(*CHILD, Ending.ANSWERED, "No.", speaker="Contra"),
    )
    assert lines[1:5] == ["  │ Pro", "  │     Yes.", "  │ Contra", "  │     No."]
