"""The engine decides as the reference does, for every short list of hooks."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import pytest

from engine.hook_factories import FakeHost, make_hook
from engine.reference import Fires, ReferenceRound
from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.conditions.logic import ALWAYS
from hookline.hooks.event import Event, FactPath
from hookline.hooks.hook import Hook, Limit
from hookline.hooks.host import Host
from hookline.hooks.match_deadline import NO_DEADLINE
from hookline.hooks.outcome import (
    NOT_APPLIED,
    ActionError,
    Compact,
    FailureKind,
    Note,
    Outcome,
    Verdict,
)
from hookline.hooks.protocols import May, Need

PATH: FactPath = ("tool", "input", "x")
RESULT: FactPath = ("tool", "result")


@dataclass(frozen=True)
class Act:
    """Answers by its function, without waiting."""

    answer: Callable[[Event], Outcome]
    may: May = May.NOTHING
    instant: bool = True
    constant = None

    def changes(self) -> tuple[FactPath, ...]:
        return (PATH,) if self.may & May.CHANGE else ()

    def reads(self) -> tuple[FactPath, ...]:
        return ((),)

    async def run(self, event: Event, host: Host) -> Outcome:
        return self.answer(event)


@dataclass(frozen=True)
class When:
    """Holds if the fact is one of these values; with None it raises."""

    values: tuple[Any, ...] | None = None
    path: FactPath = PATH

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        if self.values is None:
            raise RuntimeError
        return event.read(self.path) in self.values

    def needs(self) -> tuple[Need, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return (self.path,)


def fail(*, kind: FailureKind = FailureKind.EXIT, **more: Any) -> Callable[[Event], Outcome]:
    def answer(event: Event) -> Outcome:
        raise ActionError(kind, "broke", **more)

    return answer


DENY, ASK, ALLOW = (Outcome(verdict, verdict.word) for verdict in (Verdict.DENY, Verdict.ASK, Verdict.ALLOW))
CHANGE = Outcome(changes=((PATH, 1),))
NOTE = Outcome(notes=(Note("note"),))
FOREIGN = ((("prompt",), "x"),)
WITHHELD = Outcome(changes=((RESULT, "withheld"),))
NOTED = Outcome(changes=((("metadata", "seen"), 1),))
MAY_DENY, MAY_ANYTHING = May.DENY | May.NOTES, May.JUDGE | May.CHANGE | May.NOTES | May.HALT

# What a hook may be: its action, its condition, and what else is declared.
ALPHABET: dict[str, dict[str, Any]] = {
    "allow": {"then": FixedAnswer(ALLOW)},
    "ask": {"then": FixedAnswer(ASK)},
    "deny": {"then": FixedAnswer(DENY)},
    "deny without a reason": {"then": FixedAnswer(Outcome(Verdict.DENY))},
    "note": {"then": FixedAnswer(NOTE)},
    "halt": {"then": FixedAnswer(Outcome(halt=True, reason="halted"))},
    "final": {"then": FixedAnswer(Outcome(final=True))},
    "compact": {"then": FixedAnswer(Outcome(requests=(Compact(),)))},
    "change": {"then": Act(lambda event: CHANGE, May.CHANGE)},
    "change and allow": {"then": Act(lambda event: Outcome(Verdict.ALLOW, "ok", ((PATH, 2),)), May.CHANGE | May.ALLOW)},
    "change and ask": {"then": Act(lambda event: Outcome(Verdict.ASK, "?", ((PATH, 2),)), May.CHANGE | May.ASK)},
    "metadata": {"then": Act(lambda event: NOTED, May.CHANGE)},
    "deny if changed": {"then": FixedAnswer(DENY), "when": When((1, 2))},
    "ask if changed": {"then": Act(lambda event: Outcome(Verdict.ASK, "now?", notes=NOTE.notes), May.ASK), "when": When((1, 2))},
    "fails open": {"then": Act(fail(), MAY_DENY)},
    "fails closed": {"then": Act(fail(kind=FailureKind.TIMEOUT), MAY_DENY), "on_error": Outcome(Verdict.DENY)},
    "fails and asks": {"then": Act(fail(), MAY_DENY), "on_error": Outcome(Verdict.ASK, "{failure}?")},
    "fails and stops": {"then": Act(fail(), May.NOTES), "on_error": Outcome(final=True)},
    "fails and tells": {"then": Act(fail(), May.NOTES), "on_error": Outcome(notes=(Note(""),))},
    "fails with an answer": {"then": Act(fail(answer=ASK), MAY_DENY)},
    "fails after a change": {"then": Act(fail(partial_outcome=CHANGE), May.CHANGE), "on_error": Outcome(Verdict.ASK)},
    "withholds": {"then": Act(fail(), MAY_DENY), "on_error": WITHHELD},
    "withholds if changed": {"then": Act(fail(answer=NOTE), May.NOTES), "when": When((1,), RESULT), "on_error": WITHHELD},
    "denies if changed, closed": {"then": Act(lambda event: DENY, May.DENY), "when": When((1,), RESULT), "on_error": WITHHELD},
    "change of a result": {"then": Act(lambda event: Outcome(changes=((RESULT, 1),)), May.CHANGE)},
    "withholds what it denies": {"then": FixedAnswer(DENY), "on_error": WITHHELD},
    "asks too much, closed": {"then": Act(lambda event: Outcome(Verdict.ALLOW, "ok", FOREIGN), MAY_ANYTHING), "on_error": Outcome(Verdict.DENY)},
    "asks too much, tells": {"then": Act(lambda event: Outcome(changes=FOREIGN, final=True), May.CHANGE), "on_error": Outcome(notes=(Note(""),))},
    "undecided deny": {"then": FixedAnswer(DENY), "when": When()},
    "undecided change": {"then": Act(lambda event: CHANGE, May.CHANGE), "when": When()},
    "undecided closed": {"then": Act(lambda event: ALLOW, MAY_ANYTHING), "when": When(), "on_error": Outcome(Verdict.DENY)},
    "once": {"then": Act(lambda event: ASK, May.ASK), "limit": Limit(max_fires=1)},
    "once, not applied": {"then": Act(lambda event: NOT_APPLIED, May.DENY), "limit": Limit(max_fires=1)},
    "once, fails": {"then": Act(fail(), May.DENY), "limit": Limit(max_fires=1), "on_error": Outcome(Verdict.ASK)},
    "background": {"then": Act(lambda event: DENY, MAY_DENY), "wait": False, "limit": Limit(max_fires=1)},
    "background, fails": {"then": Act(fail(), May.NOTHING), "wait": False, "on_error": Outcome(final=True)},
    "background, undecided": {"then": Act(lambda event: NOTE, May.NOTES), "when": When(), "wait": False, "on_error": DENY},
}  # fmt: skip
OUTPUT_ONLY = {
    "deny without a reason", "note", "compact", "metadata", "fails and tells", "fails with an answer", "once, fails",
    "background, undecided", "withholds", "withholds if changed", "denies if changed, closed", "change of a result",
    "withholds what it denies", "asks too much, tells",
}  # fmt: skip
AFTER_WORDS = (
    "note", "halt", "final", "fails and stops", "undecided closed", "withholds", "withholds if changed",
    "denies if changed, closed", "change of a result", "withholds what it denies", "asks too much, tells",
)  # fmt: skip
"""Words that other hooks notice after a tool."""
"""Words that no other hook notices: lists of three have them in `make fuzz` only."""
WORDS = [word for word in ALPHABET if "HOOKLINE_FUZZ" in os.environ or word not in OUTPUT_ONLY]
GROUPINGS = ("aaa", "aab", "aba", "abb", "abc")  # which hooks share a group: names do not matter
EVENTS = {
    "tool.before": Event("tool.before", {"tool": {"name": "bash", "input": {"x": 0}}}),
    "tool.after": Event("tool.after", {"tool": {"name": "bash", "input": {"x": 0}, "result": "r"}}),
    "session.end": Event("session.end", {}),
}


def hook(word: str, place: int, group: str, event: str) -> Hook:
    return make_hook(**{"when": ALWAYS, **ALPHABET[word]}, id=f"h{place}", group=group, event=event)


@pytest.fixture(autouse=True, scope="module")
def quiet() -> Iterator[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def drive(coroutine: Any) -> Any:
    """Runs what never waits, whatever it declares."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("it waits")


def seen(decision: Decision) -> dict[str, Any]:
    return {
        **described(decision),
        "asked": [(entry.hook.id, entry.again) for entry in decision.trace if not entry.skip_reason],
        "failures": [(failure.hook, str(failure.kind)) for failure in decision.failures],
    }


def described(decision: Any) -> dict[str, Any]:
    names = ("verdict", "reason", "by", "halt")
    return {name: getattr(decision, name) for name in names} | {
        "facts": decision.event.facts,
        "notes": list(decision.notes),
        "requests": list(decision.requests),
    }


def compare(hooks: list[Hook], event: Event, times: int) -> None:
    """The same event several times in a session, with what stays of it: the counts."""
    book, host, fires = Book([Layer("one", hooks)]), FakeHost(), Fires()
    for time in range(times):
        reference = ReferenceRound([hooks], event, host, fires)
        expected = drive(reference.decide())
        decision = drive(book.decide(event, host))
        assert seen(decision) == {**described(expected), "asked": expected.asked, "failures": expected.failures}, time
        ran = drive(reference.run_background())
        assert len(host.queue) == len(reference.background)
        while host.queue:
            drive(host.queue.pop(0)())
        for one in hooks:
            if one.limit.max_fires:
                assert host.counts.fires(one, "")[0] == fires[one.key], (one.id, ran)


@pytest.mark.parametrize("first", WORDS)
@pytest.mark.slow
def test_every_list_of_three(first: str) -> None:
    made = {
        (word, place, group): hook(word, place, group, "tool.before")
        for word in WORDS
        for place in range(3)
        for group in "abc"
    }
    event = EVENTS["tool.before"]
    for second, third in product(WORDS, WORDS):
        words = (first, second, third)
        limited = any("limit" in ALPHABET[word] for word in words)
        for groups in GROUPINGS:
            hooks = [made[word, place, group] for place, (word, group) in enumerate(zip(words, groups, strict=True))]
            compare(hooks, event, times=2 if limited else 1)


@pytest.mark.parametrize("first", AFTER_WORDS)
def test_every_list_of_three_after_a_tool(first: str) -> None:
    for second, third in product(AFTER_WORDS, AFTER_WORDS):
        for groups in GROUPINGS:
            words = zip((first, second, third), groups, strict=True)
            hooks = [hook(word, place, group, "tool.after") for place, (word, group) in enumerate(words)]
            compare(hooks, EVENTS["tool.after"], times=1)


@pytest.mark.parametrize("event", EVENTS)
def test_every_pair_on_events_that_accept_less(event: str) -> None:
    for first, second in product(ALPHABET, ALPHABET):
        for groups in ("aa", "ab", "a", ("", "")):
            words = (first, second)[: len(groups)]
            hooks = [hook(word, n, group, event) for n, (word, group) in enumerate(zip(words, groups, strict=True))]
            compare(hooks, EVENTS[event], times=2)


def test_the_alphabet_has_every_part_of_an_outcome_and_of_a_hook() -> None:
    """A new field of either needs a new word here, and a rule in the reference."""
    assert set(Outcome.__slots__) == {
        "verdict",
        "reason",
        "changes",
        "notes",
        "requests",
        "halt",
        "final",
        "applied",
        "terms",
    }
    declared = {"id", "event", "when", "then", "origin", "scope", "order", "group", "timeout", "wait", "on_error"}
    assert set(Hook.__slots__) == declared | {"limit", "enabled", "tags", "is_trusted", "ignored_by"}
