"""What was judged is what runs."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from engine.parts import (
    ALLOW,
    ASK,
    DENY,
    Desk,
    Does,
    Seen,
    at_once,
    book,
    call,
    changes,
    command,
    decide,
    hook,
    input,
    says,
    sets_command,
)
from hookline.hooks.action import May
from hookline.hooks.actions.answer import Answer
from hookline.hooks.conditions.text import Fact, Matches
from hookline.hooks.event import MISSING, REMOVED, Event
from hookline.hooks.hook import Limit
from hookline.hooks.host import Host, asking
from hookline.hooks.outcome import Compact, Note, Outcome, Verdict
from hookline.patterns.pattern import pattern


def judge(word: str, outcome: Outcome) -> Does:
    """As a program would: it is asked, waits, and looks at the command."""

    async def run(event: Event, host: Host) -> Outcome:
        return outcome if word in event.facts["tool"]["input"]["command"] else Outcome()

    return Does(run)


def test_each_hook_sees_the_event_as_the_hooks_before_it_left_it() -> None:
    first, second = Seen(), Seen()
    decision = decide(
        book(hook(first), hook(sets_command("two")), hook(sets_command("three")), hook(second)), call("one")
    )
    assert first.commands[0] == "one"
    assert second.commands == ["three"]
    assert decision.event.facts["tool"]["input"]["command"] == "three"


def test_nobody_mutates_the_event_of_the_host() -> None:
    event = call("one", tags=["a", "b"])
    before = copy.deepcopy(event.facts)
    decision = decide(book(hook(changes(("tool.input.command", "two"), ("metadata.seen", [1])))), event)
    assert event.facts == before
    assert decision.event.facts["metadata"] == {"seen": [1]}
    assert decision.event.facts["tags"] is event.facts["tags"]


def test_a_change_forgets_an_earlier_allow() -> None:
    decision = decide(book(hook(ALLOW), hook(sets_command("two"))), call())
    assert (decision.verdict, decision.by, decision.reason) == (Verdict.SILENT, None, "")


def test_an_allow_after_the_change_counts() -> None:
    decision = decide(book(hook(ALLOW, id="a"), hook(sets_command("two")), hook(ALLOW, id="b")), call())
    assert (decision.verdict, decision.by) == (Verdict.ALLOW, "b")


def test_an_earlier_ask_is_not_forgotten() -> None:
    assert decide(book(hook(ASK), hook(sets_command("two"))), call()).verdict is Verdict.ASK


def asks_about_the_command(word: str = "") -> Does:
    async def run(event: Event, host: Host) -> Outcome:
        command = event.facts["tool"]["input"]["command"]
        return Outcome(Verdict.ASK, f"run {command}?") if word in command else Outcome()

    return Does(run)


def test_a_question_is_about_what_would_run() -> None:
    """In the words of the first hook that asks about that."""
    asks, other = hook(asks_about_the_command(), id="first"), hook(asks_about_the_command(), id="second")
    decision = decide(book(asks, other, hook(sets_command("two"))), call("one"))
    assert (decision.verdict, decision.reason, decision.by) == (Verdict.ASK, "run two?", "first")


def test_a_question_after_the_change_counts_before_one_that_is_no_longer_asked() -> None:
    earlier = hook(asks_about_the_command("one"), id="earlier")
    later = hook(asks_about_the_command(), id="later")
    decision = decide(book(earlier, hook(sets_command("two")), later), call("one"))
    assert (decision.verdict, decision.reason, decision.by) == (Verdict.ASK, "run two?", "later")


def test_a_question_about_what_was_there_before_says_so() -> None:
    decision = decide(book(hook(asks_about_the_command("one"), id="a"), hook(sets_command("two"))), call("one"))
    assert (decision.verdict, decision.by) == (Verdict.ASK, "a")
    assert decision.reason == "run one? (asked before a hook changed it)"


def test_a_hook_may_allow_what_it_changed_itself() -> None:
    both = changes(("tool.input.command", "two"), verdict=Verdict.ALLOW)
    assert decide(book(hook(both)), call()).verdict is Verdict.ALLOW


def test_a_guard_passed_before_the_change_is_asked_again() -> None:
    decision = decide(book(hook(DENY, command("rm"), id="guard"), hook(sets_command("rm -rf /"))), call("ls"))
    assert (decision.verdict, decision.by) == (Verdict.DENY, "guard")
    assert decision.trace[-1].again
    assert "asked again after a change" in decision.as_json()["trace"][-1]["why"]


def test_a_program_passed_before_the_change_is_asked_again_and_can_see_it() -> None:
    seen: list[bool] = []

    async def run(event: Event, host: Host) -> Outcome:
        asked = asking.get()
        assert asked is not None
        seen.append(asked.again)
        return Outcome(Verdict.DENY, "no") if "rm" in event.facts["tool"]["input"]["command"] else Outcome()

    assert decide(book(hook(Does(run)), hook(sets_command("rm"))), call("ls")).denied
    assert seen == [False, True]


def test_an_ask_of_a_hook_asked_again_counts() -> None:
    decision = decide(book(hook(judge("rm", Outcome(Verdict.ASK, "sure?"))), hook(sets_command("rm"))), call("ls"))
    assert (decision.verdict, decision.reason) == (Verdict.ASK, "sure?")


def test_a_halt_of_a_guard_passed_before_the_change_counts() -> None:
    stopper = Answer(Outcome(reason="stop", halt=True))
    decision = decide(book(hook(stopper, command("rm")), hook(sets_command("rm"))), call("ls"))
    assert (decision.verdict, decision.halt, decision.reason) == (Verdict.DENY, True, "stop")


def test_a_hook_that_denies_when_it_fails_is_asked_again() -> None:
    async def fails_on_rm(event: Event, host: Host) -> Outcome:
        if "rm" in event.facts["tool"]["input"]["command"]:
            raise ValueError("boom")
        return Outcome()

    guard = hook(Does(fails_on_rm, May.NOTHING), on_error=Outcome(Verdict.DENY))
    decision = decide(book(guard, hook(sets_command("rm"))), call("ls"))
    assert decision.denied
    assert [failure.hook for failure in decision.failures] == [guard.id]


def test_hooks_that_can_only_allow_or_watch_are_not_asked_again() -> None:
    watcher = Seen(may=May.NOTES)
    decide(book(hook(watcher), hook(sets_command("two"))), call("one"))
    assert watcher.commands == ["one"]


def test_asking_again_takes_no_changes_allows_notes_or_requests() -> None:
    async def run(event: Event, host: Host) -> Outcome:
        asked = asking.get()
        again = asked is not None and asked.again
        change = ((("tool", "input", "command"), "changed again"),) if again else ()
        return Outcome(Verdict.ALLOW, "fine", change, (Note("hello"),), (Compact(),))

    decision = decide(book(hook(Does(run)), hook(sets_command("two"))), call("one"))
    assert decision.event.facts["tool"]["input"]["command"] == "two"
    assert [note.text for note in decision.notes] == ["hello"]
    assert len(decision.requests) == 1
    assert decision.verdict is Verdict.SILENT


def test_what_an_ask_says_twice_is_told_once() -> None:
    asks = says(Outcome(Verdict.ASK, "sure?", notes=(Note("look"),)))
    decision = decide(book(hook(asks), hook(sets_command("two"))), call())
    assert [note.text for note in decision.notes] == ["look"]


def test_asking_again_claims_no_limit() -> None:
    desk = Desk()
    guard = hook(Seen(), limit=Limit(max_fires=2))
    decide(book(guard, hook(sets_command("two"))), call(), desk)
    assert desk.counts.fires(guard, "")[0] == 1


def test_a_guard_that_its_limit_held_back_is_not_asked_again() -> None:
    desk = Desk()
    seen = Seen()
    guard = hook(seen, limit=Limit(max_fires=1))
    both = book(guard, hook(sets_command("two")))
    decide(both, call("one"), desk)
    decide(both, call("one"), desk)
    assert seen.commands == ["one", "two"]


def test_with_several_changers_every_guard_judges_the_last_state() -> None:
    guards = [hook(Seen(), id=f"g{n}") for n in range(3)]
    decide(book(guards[0], hook(sets_command("two")), guards[1], hook(sets_command("three")), guards[2]), call("one"))
    assert [guard.then.commands for guard in guards] == [["one", "three"], ["two", "three"], ["three"]]


def test_an_earlier_changer_that_may_deny_judges_the_last_state_too() -> None:
    def change_or_deny(event: Event) -> Outcome:
        if event.facts["tool"]["input"]["command"] == "three":
            return Outcome(Verdict.DENY, "not three")
        return Outcome(changes=((("tool", "input", "command"), "two"),))

    decision = decide(book(hook(at_once(change_or_deny)), hook(sets_command("three"))), call("one"))
    assert decision.reason == "not three"


def test_a_change_that_changes_nothing_is_no_change() -> None:
    guard = Seen()
    decision = decide(book(hook(guard), hook(ALLOW), hook(sets_command("ls"))), call("ls"))
    assert decision.verdict is Verdict.ALLOW
    assert guard.commands == ["ls"]


@pytest.mark.parametrize(("old", "new"), [({"a": 1}, {"a": True}), ([0], [False]), ([1, [0]], [1, [False]]), (1, True)])
def test_true_is_not_one_wherever_it_stands(old: Any, new: Any) -> None:
    event = Event("tool.before", {"tool": {"name": "bash", "input": {"x": old}}})
    decision = decide(book(hook(changes(("tool.input.x", new)))), event)
    assert repr(decision.event.facts["tool"]["input"]["x"]) == repr(new)


def test_a_change_back_within_one_answer_is_made_in_order() -> None:
    back = changes(("tool.input.command", "two"), ("tool.input.command", "one"))
    decision = decide(book(hook(ALLOW), hook(back)), call("one"))
    assert decision.event.facts["tool"]["input"]["command"] == "one"
    assert decision.verdict is Verdict.ALLOW


def test_notes_that_hooks_keep_for_each_other_are_no_change() -> None:
    guard, later = Seen(), Seen()
    keeps = changes(("metadata.hook_failures", [{"action": "x", "error": "y"}]))
    found = Matches(Fact(("metadata", "hook_failures", 0, "error")), pattern("y"))
    decision = decide(book(hook(guard), hook(ALLOW), hook(keeps), hook(later, found)), call())
    assert decision.verdict is Verdict.ALLOW
    assert len(guard.events) == len(later.events) == 1


def test_changes_beside_a_deny_are_not_made() -> None:
    decision = decide(book(hook(changes(("tool.input.command", "two"), verdict=Verdict.DENY))), call("one"))
    assert decision.event.facts["tool"]["input"]["command"] == "one"


def test_a_group_that_ended_later_does_not_silence_its_earlier_guard() -> None:
    """The guard was passed before the group ended, and before the change."""
    guard = hook(DENY, command("rm"), group="flo", id="guard")
    final = hook(Answer(Outcome(final=True)), group="flo")
    decision = decide(book(guard, final, hook(sets_command("rm"), group="other")), call("ls"))
    assert decision.by == "guard"


def test_removing_what_is_not_there_is_no_change() -> None:
    guard = Seen()
    event = Event("tool.before", {"tool": {"name": "bash", "input": "text"}})
    decision = decide(book(hook(guard), hook(changes(("tool.input.x.y", REMOVED), ("tool.input.z", REMOVED)))), event)
    assert decision.event.facts == event.facts
    assert len(guard.events) == 1


def test_a_mark_never_becomes_a_fact() -> None:
    decision = decide(book(hook(changes(("tool.input.command", MISSING), ("metadata.x", MISSING)))), call("one"))
    assert decision.event.facts == call("one").facts


@pytest.mark.parametrize(
    ("reads", "changed"), [("files.-1", "files.0"), ("files.0", "files.-1"), ("files.1", "files.0")]
)
def test_a_later_guard_sees_changes_in_lists_whatever_the_index_is_called(reads: str, changed: str) -> None:
    """Twice, because after the second change only what it touches is asked of the index again."""
    value: Any = REMOVED if reads == "files.1" else "evil"
    files = ["good", "fine", "evil"] if reads == "files.1" else ["good"]
    event = Event("tool.before", {"tool": {"name": "bash", "input": {"files": files, "other": "a"}}})
    other = hook(changes(("tool.input.other", "b")))
    decision = decide(
        book(other, hook(changes((f"tool.input.{changed}", value))), hook(DENY, input(reads, "evil"))), event
    )
    assert decision.denied


def test_the_last_changer_is_not_asked_about_its_own_change() -> None:
    asked: list[str] = []

    def change(event: Event) -> Outcome:
        asked.append(event.facts["tool"]["input"]["command"])
        return Outcome(changes=((("tool", "input", "command"), "two"),))

    decide(book(hook(at_once(change, May.CHANGE | May.DENY))), call("one"))
    assert asked == ["one"]
