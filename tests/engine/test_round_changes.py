"""What was judged is what runs."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.hook_factories import (
    ALLOW,
    ASK,
    DENY,
    FakeHost,
    FunctionAction,
    RecordingAction,
    changing_action,
    command_changing_action,
    command_matches,
    decide,
    input_matches,
    instant_action,
    make_book,
    make_hook,
    returning_action,
    tool_call_event,
)
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.conditions.text import Fact, Matches
from hookline.hooks.event import MISSING, REMOVED, Event
from hookline.hooks.hook import Limit
from hookline.hooks.host import Host, current_hook
from hookline.hooks.outcome import Compact, Note, Outcome, Verdict
from hookline.hooks.protocols import May
from hookline.patterns.pattern import pattern
from hookline.project import load_text


def word_judging_action(word: str, outcome: Outcome) -> FunctionAction:
    """As a program would: it is asked, waits, and looks at the command."""

    async def run(event: Event, host: Host) -> Outcome:
        return outcome if word in event.facts["tool"]["input"]["command"] else Outcome()

    return FunctionAction(run)


def test_each_hook_sees_the_event_as_the_hooks_before_it_left_it() -> None:
    first, second = RecordingAction(), RecordingAction()
    decision = decide(
        make_book(
            make_hook(first),
            make_hook(command_changing_action("two")),
            make_hook(command_changing_action("three")),
            make_hook(second),
        ),
        tool_call_event("one"),
    )
    assert first.commands[0] == "one"
    assert second.commands == ["three"]
    assert decision.event.facts["tool"]["input"]["command"] == "three"


def test_nobody_mutates_the_event_of_the_host() -> None:
    event = tool_call_event("one", tags=["a", "b"])
    before = copy.deepcopy(event.facts)
    decision = decide(
        make_book(make_hook(changing_action(("tool.input.command", "two"), ("metadata.seen", [1])))), event
    )
    assert event.facts == before
    assert decision.event.facts["metadata"] == {"seen": [1]}
    assert decision.event.facts["tags"] is event.facts["tags"]


def test_a_change_forgets_an_earlier_allow() -> None:
    decision = decide(make_book(make_hook(ALLOW), make_hook(command_changing_action("two"))), tool_call_event())
    assert (decision.verdict, decision.by, decision.reason) == (Verdict.SILENT, None, "")


def test_an_allow_after_the_change_counts() -> None:
    decision = decide(
        make_book(make_hook(ALLOW, id="a"), make_hook(command_changing_action("two")), make_hook(ALLOW, id="b")),
        tool_call_event(),
    )
    assert (decision.verdict, decision.by) == (Verdict.ALLOW, "b")


def test_an_earlier_ask_is_not_forgotten() -> None:
    assert (
        decide(make_book(make_hook(ASK), make_hook(command_changing_action("two"))), tool_call_event()).verdict
        is Verdict.ASK
    )


def command_asking_action(word: str = "") -> FunctionAction:
    async def run(event: Event, host: Host) -> Outcome:
        command = event.facts["tool"]["input"]["command"]
        return Outcome(Verdict.ASK, f"run {command}?") if word in command else Outcome()

    return FunctionAction(run)


def test_a_question_is_about_what_would_run() -> None:
    """In the words of the first hook that asks about that."""
    asks, other = make_hook(command_asking_action(), id="first"), make_hook(command_asking_action(), id="second")
    decision = decide(make_book(asks, other, make_hook(command_changing_action("two"))), tool_call_event("one"))
    assert (decision.verdict, decision.reason, decision.by) == (Verdict.ASK, "run two?", "first")


def test_a_question_after_the_change_counts_before_one_that_is_no_longer_asked() -> None:
    earlier = make_hook(command_asking_action("one"), id="earlier")
    later = make_hook(command_asking_action(), id="later")
    decision = decide(make_book(earlier, make_hook(command_changing_action("two")), later), tool_call_event("one"))
    assert (decision.verdict, decision.reason, decision.by) == (Verdict.ASK, "run two?", "later")


def test_a_question_about_what_was_there_before_says_so() -> None:
    decision = decide(
        make_book(make_hook(command_asking_action("one"), id="a"), make_hook(command_changing_action("two"))),
        tool_call_event("one"),
    )
    assert (decision.verdict, decision.by) == (Verdict.ASK, "a")
    assert decision.reason == "run one? (asked before a hook changed it)"


def test_a_hook_may_allow_what_it_changed_itself() -> None:
    both = changing_action(("tool.input.command", "two"), verdict=Verdict.ALLOW)
    assert decide(make_book(make_hook(both)), tool_call_event()).verdict is Verdict.ALLOW


def test_a_guard_passed_before_the_change_is_asked_again() -> None:
    decision = decide(
        make_book(make_hook(DENY, command_matches("rm"), id="guard"), make_hook(command_changing_action("rm -rf /"))),
        tool_call_event("ls"),
    )
    assert (decision.verdict, decision.by) == (Verdict.DENY, "guard")
    assert decision.trace[-1].again
    assert "run again after a change" in decision.as_json()["trace"][-1]["why"]


def test_a_program_passed_before_the_change_is_asked_again_and_can_see_it() -> None:
    seen: list[bool] = []

    async def run(event: Event, host: Host) -> Outcome:
        asked = current_hook.get()
        assert asked is not None
        seen.append(asked.is_recheck)
        return Outcome(Verdict.DENY, "no") if "rm" in event.facts["tool"]["input"]["command"] else Outcome()

    assert decide(
        make_book(make_hook(FunctionAction(run)), make_hook(command_changing_action("rm"))), tool_call_event("ls")
    ).denied
    assert seen == [False, True]


def test_an_ask_of_a_hook_asked_again_counts() -> None:
    decision = decide(
        make_book(
            make_hook(word_judging_action("rm", Outcome(Verdict.ASK, "sure?"))),
            make_hook(command_changing_action("rm")),
        ),
        tool_call_event("ls"),
    )
    assert (decision.verdict, decision.reason) == (Verdict.ASK, "sure?")


def test_a_halt_of_a_guard_passed_before_the_change_counts() -> None:
    stopper = FixedAnswer(Outcome(reason="stop", halt=True))
    decision = decide(
        make_book(make_hook(stopper, command_matches("rm")), make_hook(command_changing_action("rm"))),
        tool_call_event("ls"),
    )
    assert (decision.verdict, decision.halt, decision.reason) == (Verdict.DENY, True, "stop")


def test_a_hook_that_denies_when_it_fails_is_asked_again() -> None:
    async def fails_on_rm(event: Event, host: Host) -> Outcome:
        if "rm" in event.facts["tool"]["input"]["command"]:
            raise ValueError("boom")
        return Outcome()

    guard = make_hook(FunctionAction(fails_on_rm, May.NOTHING), on_error=Outcome(Verdict.DENY))
    decision = decide(make_book(guard, make_hook(command_changing_action("rm"))), tool_call_event("ls"))
    assert decision.denied
    assert [failure.hook for failure in decision.failures] == [guard.id]


def test_hooks_that_can_only_allow_or_watch_are_not_asked_again() -> None:
    watcher = RecordingAction(may=May.NOTES)
    decide(make_book(make_hook(watcher), make_hook(command_changing_action("two"))), tool_call_event("one"))
    assert watcher.commands == ["one"]


def test_asking_again_takes_no_changes_allows_notes_or_requests() -> None:
    async def run(event: Event, host: Host) -> Outcome:
        asked = current_hook.get()
        again = asked is not None and asked.is_recheck
        change = ((("tool", "input", "command"), "changed again"),) if again else ()
        return Outcome(Verdict.ALLOW, "fine", change, (Note("hello"),), (Compact(),))

    decision = decide(
        make_book(make_hook(FunctionAction(run)), make_hook(command_changing_action("two"))), tool_call_event("one")
    )
    assert decision.event.facts["tool"]["input"]["command"] == "two"
    assert [note.text for note in decision.notes] == ["hello"]
    assert len(decision.requests) == 1
    assert decision.verdict is Verdict.SILENT


def test_what_an_ask_says_twice_is_told_once() -> None:
    asks = returning_action(Outcome(Verdict.ASK, "sure?", notes=(Note("look"),)))
    decision = decide(make_book(make_hook(asks), make_hook(command_changing_action("two"))), tool_call_event())
    assert [note.text for note in decision.notes] == ["look"]


def test_asking_again_claims_no_limit() -> None:
    desk = FakeHost()
    guard = make_hook(RecordingAction(), limit=Limit(max_fires=2))
    decide(make_book(guard, make_hook(command_changing_action("two"))), tool_call_event(), desk)
    assert desk.counts.fires(guard, "")[0] == 1


def test_a_guard_that_its_limit_held_back_is_not_asked_again() -> None:
    desk = FakeHost()
    seen = RecordingAction()
    guard = make_hook(seen, limit=Limit(max_fires=1))
    both = make_book(guard, make_hook(command_changing_action("two")))
    decide(both, tool_call_event("one"), desk)
    decide(both, tool_call_event("one"), desk)
    assert seen.commands == ["one", "two"]


def test_with_several_changers_every_guard_judges_the_last_state() -> None:
    guards = [make_hook(RecordingAction(), id=f"g{n}") for n in range(3)]
    decide(
        make_book(
            guards[0],
            make_hook(command_changing_action("two")),
            guards[1],
            make_hook(command_changing_action("three")),
            guards[2],
        ),
        tool_call_event("one"),
    )
    assert [guard.then.commands for guard in guards] == [["one", "three"], ["two", "three"], ["three"]]


def test_an_earlier_changer_that_may_deny_judges_the_last_state_too() -> None:
    def change_or_deny(event: Event) -> Outcome:
        if event.facts["tool"]["input"]["command"] == "three":
            return Outcome(Verdict.DENY, "not three")
        return Outcome(changes=((("tool", "input", "command"), "two"),))

    decision = decide(
        make_book(make_hook(instant_action(change_or_deny)), make_hook(command_changing_action("three"))),
        tool_call_event("one"),
    )
    assert decision.reason == "not three"


def test_a_change_that_changes_nothing_is_no_change() -> None:
    guard = RecordingAction()
    decision = decide(
        make_book(make_hook(guard), make_hook(ALLOW), make_hook(command_changing_action("ls"))), tool_call_event("ls")
    )
    assert decision.verdict is Verdict.ALLOW
    assert guard.commands == ["ls"]


@pytest.mark.parametrize(("old", "new"), [({"a": 1}, {"a": True}), ([0], [False]), ([1, [0]], [1, [False]]), (1, True)])
def test_true_is_not_one_wherever_it_stands(old: Any, new: Any) -> None:
    event = Event("tool.before", {"tool": {"name": "bash", "input": {"x": old}}})
    decision = decide(make_book(make_hook(changing_action(("tool.input.x", new)))), event)
    assert repr(decision.event.facts["tool"]["input"]["x"]) == repr(new)


def test_a_change_back_within_one_answer_is_made_in_order() -> None:
    back = changing_action(("tool.input.command", "two"), ("tool.input.command", "one"))
    decision = decide(make_book(make_hook(ALLOW), make_hook(back)), tool_call_event("one"))
    assert decision.event.facts["tool"]["input"]["command"] == "one"
    assert decision.verdict is Verdict.ALLOW


def test_notes_that_hooks_keep_for_each_other_are_no_change() -> None:
    guard, later = RecordingAction(), RecordingAction()
    keeps = changing_action(("metadata.hook_failures", [{"action": "x", "error": "y"}]))
    found = Matches(Fact(("metadata", "hook_failures", 0, "error")), pattern("y"))
    decision = decide(
        make_book(make_hook(guard), make_hook(ALLOW), make_hook(keeps), make_hook(later, found)), tool_call_event()
    )
    assert decision.verdict is Verdict.ALLOW
    assert len(guard.events) == len(later.events) == 1


def test_changes_beside_a_deny_are_not_made() -> None:
    decision = decide(
        make_book(make_hook(changing_action(("tool.input.command", "two"), verdict=Verdict.DENY))),
        tool_call_event("one"),
    )
    assert decision.event.facts["tool"]["input"]["command"] == "one"


def test_a_group_that_ended_later_does_not_silence_its_earlier_guard() -> None:
    """The guard was passed before the group ended, and before the change."""
    guard = make_hook(DENY, command_matches("rm"), group="flo", id="guard")
    final = make_hook(FixedAnswer(Outcome(final=True)), group="flo")
    decision = decide(
        make_book(guard, final, make_hook(command_changing_action("rm"), group="other")), tool_call_event("ls")
    )
    assert decision.by == "guard"


def test_removing_what_is_not_there_is_no_change() -> None:
    guard = RecordingAction()
    event = Event("tool.before", {"tool": {"name": "bash", "input": {"text": "x"}}})
    decision = decide(
        make_book(make_hook(guard), make_hook(changing_action(("tool.input.x.y", REMOVED), ("tool.input.z", REMOVED)))),
        event,
    )
    assert decision.event.facts == event.facts
    assert len(guard.events) == 1


def test_a_mark_never_becomes_a_fact() -> None:
    decision = decide(
        make_book(make_hook(changing_action(("tool.input.command", MISSING), ("metadata.x", MISSING)))),
        tool_call_event("one"),
    )
    assert decision.event.facts == tool_call_event("one").facts


@pytest.mark.parametrize(
    ("reads", "changed"), [("files.-1", "files.0"), ("files.0", "files.-1"), ("files.1", "files.0")]
)
def test_a_later_guard_sees_changes_in_lists_whatever_the_index_is_called(reads: str, changed: str) -> None:
    """Twice, because after the second change only what it touches is asked of the index again."""
    value: Any = REMOVED if reads == "files.1" else "evil"
    files = ["good", "fine", "evil"] if reads == "files.1" else ["good"]
    event = Event("tool.before", {"tool": {"name": "bash", "input": {"files": files, "other": "a"}}})
    other = make_hook(changing_action(("tool.input.other", "b")))
    decision = decide(
        make_book(
            other,
            make_hook(changing_action((f"tool.input.{changed}", value))),
            make_hook(DENY, input_matches(reads, "evil")),
        ),
        event,
    )
    assert decision.denied


def test_the_last_changer_is_not_asked_about_its_own_change() -> None:
    asked: list[str] = []

    def change(event: Event) -> Outcome:
        asked.append(event.facts["tool"]["input"]["command"])
        return Outcome(changes=((("tool", "input", "command"), "two"),))

    decide(make_book(make_hook(instant_action(change, May.CHANGE | May.DENY))), tool_call_event("one"))
    assert asked == ["one"]


@pytest.mark.parametrize(
    ("changed", "read", "tool", "input"),
    [
        ("foo", "command", "bash", {}),
        ("content", "command", "bash", {}),
        ("foo", "path", "write_file", {"content": "k"}),
        ("file_path", "path", "write_file", {"content": "k"}),
        ("cmd", "command", "frob", {}),
    ],
)
def test_a_second_change_of_a_field_that_is_read_for_another_is_judged(changed, read, tool, input):
    """There are enough hooks for an index, which remembers what it found before the second change."""
    hooks = (
        "  - {id: first, on: tool.before, then: {set: {input.zzz: 1}}}\n"
        f"  - {{id: second, on: tool.before, then: {{set: {{input.{changed}: secretenv}}}}}}\n"
        f"  - {{id: guard, on: tool.before, when: {{input: {{{read}: secretenv}}}}, then: {{deny: no}}}}\n"
    )
    book = load_text(f"hooks:\n{hooks}", "hookline.yaml", "native")
    event = Event("tool.before", {"tool": {"name": tool, "input": input}})
    assert book.decide_now(event).verdict is Verdict.DENY
