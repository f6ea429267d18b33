"""Events that are decided without a round, and those that are not."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import Any

import pytest

from engine.hook_factories import (
    ALLOW,
    ASK,
    DENY,
    command_matches,
    input_matches,
    instant_action,
    make_book,
    make_hook,
    tool_call_event,
    tool_matches,
)
from hookline.engine import match_budget
from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.engine.fast_path import EventHooks, StartedMatch
from hookline.engine.index import HookIndex
from hookline.engine.limits import CountingHost
from hookline.errors import MustWait
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.conditions.logic import ALWAYS, All, AnyOf, Not
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook, Limit, Scope
from hookline.hooks.host import NO_HOST, Host, NullHost
from hookline.hooks.outcome import Note, Outcome, Verdict

RM = command_matches("rm")
EVENT = tool_call_event("rm -rf /")


def fast(
    *layers: list[Hook], event: Event = EVENT, reports_waiting: bool = False, host: Host = NO_HOST
) -> Decision | StartedMatch | None:
    indexes = [(n, HookIndex(sorted(hooks, key=lambda hook: hook.order))) for n, hooks in enumerate(layers)]
    return EventHooks(indexes).decide_fast(event, reports_waiting, host)


def decided(*layers: list[Hook], **more: Any) -> str | None:
    """The deciding hook, "nobody", or None if a round is needed."""
    answer = fast(*layers, **more)
    return (answer.by or "nobody") if isinstance(answer, Decision) else None


def deny(when: Any = RM, id: str = "deny", **more: Any) -> Hook:
    return make_hook(DENY, when, id=id, **more)


@pytest.mark.parametrize("other", [ALLOW, ASK, DENY, instant_action(lambda _: Outcome(Verdict.ASK))])
def test_nobody_fires(other: Any) -> None:
    assert decided([make_hook(other, command_matches("zzz")), make_hook(other, command_matches("yyy"))]) == "nobody"
    assert decided([make_hook(other, command_matches("zzz"))], [make_hook(other, tool_matches("zzz"))]) == "nobody"


def test_the_first_constant_deny_ends_its_group() -> None:
    assert decided([deny(), deny(id="later"), make_hook(ASK, RM)]) == "deny"
    assert decided([deny(command_matches("zzz")), deny(id="second")]) == "second"
    assert decided([deny(id="late", order=5)], [deny(id="early", order=-5)]) == "early"


def test_a_hook_of_another_group_that_fires_needs_a_round() -> None:
    assert decided([deny(group="flo"), make_hook(ALLOW, RM, group="microai")]) is None
    assert decided([deny(group="flo")], [make_hook(ALLOW, RM, group="microai")]) is None
    assert decided([deny(group="flo"), make_hook(ALLOW, command_matches("zz"), group="microai")]) == "deny"


@pytest.mark.parametrize("other", [ALLOW, ASK, instant_action(lambda _: Outcome(Verdict.DENY)), FixedAnswer(Outcome())])
def test_any_other_hook_that_fires_first_needs_a_round(other: Any) -> None:
    assert decided([make_hook(other, RM), deny()]) is None


@pytest.mark.parametrize(
    "more", [{"limit": Limit(max_fires=1)}, {"scope": Scope(agent="me")}, {"enabled": False}, {"wait": False}]
)
def test_a_limited_deny_needs_a_round(more: dict[str, Any]) -> None:
    assert decided([deny(**more)]) is None


def test_a_deny_that_is_only_counted_is_counted() -> None:
    hook, host = deny(limit=Limit(is_counted=True)), CountingHost()
    for event in (EVENT, tool_call_event("rm a"), tool_call_event("ls")):
        assert decided([hook], event=event, host=host) == (
            "nobody" if event.facts["tool"]["input"]["command"] == "ls" else "deny"
        )
    assert host.limits.fires(hook, "")[0] == 2
    assert decided([hook, make_hook(ALLOW, RM, group="other")], host=host) is None
    assert host.limits.fires(hook, "")[0] == 2


def test_a_counted_deny_needs_a_round_if_the_host_does_not_count() -> None:
    assert decided([deny(limit=Limit(is_counted=True))], host=NullHost()) is None


def test_a_halt_without_changes_stops_like_a_deny() -> None:
    answer = fast([make_hook(FixedAnswer(Outcome(halt=True, reason="stop", notes=(Note("n"),))), RM, id="h")])
    assert isinstance(answer, Decision)
    assert (answer.verdict, answer.reason, answer.by, answer.halt) == (Verdict.DENY, "stop", "h", True)
    assert [note.text for note in answer.notes] == ["n"]


def test_the_decision_is_the_one_of_a_round() -> None:
    for hooks in ([deny()], [make_hook(FixedAnswer(Outcome(Verdict.DENY)), RM, id="d")], [deny(command_matches("zz"))]):
        held = make_book(*hooks)
        explained = held.decide_now(EVENT, explain=True)
        explained.trace = tuple(entry for entry in explained.trace if not entry.skip_reason)
        assert held.decide_now(EVENT) == explained == asyncio.run(held.decide(EVENT))


def test_a_waiting_hook_after_a_deny_is_reported_by_decide_now_as_before() -> None:
    waiting = make_hook(DENY, RM, wait=False, id="waits")
    assert decided([deny(), waiting]) == "deny"
    assert decided([deny(), waiting], reports_waiting=True) is None
    with pytest.raises(MustWait):
        make_book(deny(), waiting).decide_now(EVENT)
    assert make_book(deny(), waiting).decide_now(tool_call_event("ls")).verdict is Verdict.SILENT


@dataclass
class CountedCondition:
    """A third party's condition, which counts how often it is asked."""

    asked: int = 0

    def holds(self, event: Event, deadline: float = 0.0) -> bool:
        self.asked += 1
        return True

    def needs(self) -> tuple[()]:
        return ()

    def reads(self) -> tuple[()]:
        return ()

    def why_not(self, event: Event) -> str:
        return ""


@pytest.mark.parametrize("wrap", [lambda it: it, lambda it: All((it, RM)), lambda it: AnyOf((it,)), lambda it: Not(it)])
def test_a_third_party_condition_is_asked_once(wrap: Any) -> None:
    counted = CountedCondition()
    make_book(make_hook(ASK, wrap(counted))).decide_now(EVENT)
    assert counted.asked == 1


def test_an_ambiguous_event_needs_a_round() -> None:
    event = Event("tool.before", {"cwd": "/w", "tool": {"name": "read_file", "input": {"path": "a/../.env"}}})
    assert decided([deny(input_matches("path", "^[.]env$"))], event=event) is None
    assert make_book(deny(input_matches("path", "^[.]env$"))).decide_now(event).denied


def test_a_round_goes_on_with_the_time_that_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_budget, "WALL_SECONDS", 60.0)
    before = time.perf_counter()
    started = fast([make_hook(ASK, RM)])
    assert isinstance(started, StartedMatch)
    assert before + 60 <= started.budget.deadline <= time.perf_counter() + 60
    assert [entry.hook.then for _, entry in started.candidates] == [ASK]


def test_no_time_needs_a_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_budget, "WALL_SECONDS", -1.0)
    assert decided([deny(command_matches("zz"), group=str(n)) for n in range(2)]) == "nobody"
    assert decided([deny(All((ALWAYS, Not(RM))), group=str(n)) for n in range(6)]) is None


def test_layers_are_asked_in_their_order() -> None:
    held = Book([Layer("one", [deny(id="second", order=1)]), Layer("two", [deny(id="first", order=0)])])
    assert held.decide_now(EVENT).by == asyncio.run(held.decide(EVENT)).by == "first"


def template_hooks(start: int, count: int, **more: Any) -> list[Hook]:
    """Like the rules of a template: the index looks their words up."""
    return [
        deny(input_matches("content", rf"SECRET_{n}\b"), id=f"deny-{n}", **more) for n in range(start, start + count)
    ]


def write(**input: Any) -> Event:
    return Event("tool.before", {"tool": {"name": "write_file", "input": input}})


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (write(content="SECRET_77 = 1"), "deny-77"),
        (write(content="SECRET_777 = 1"), "nobody"),
        (write(content="secret_77 = 1"), "nobody"),
        (write(content="x" * 200_000 + "SECRET_77"), "deny-77"),
        (write(content="SECRET_77" + "R" * 200_000 + " SECRET_78 "), "deny-78"),
        (write(), "nobody"),
    ],
)
def test_words_of_a_template_are_looked_up_in_every_layer(event: Event, expected: str) -> None:
    assert decided(template_hooks(50, 100), event=event) == expected
    assert decided(template_hooks(50, 10), template_hooks(60, 90), event=event) == expected
    assert decided(template_hooks(0, 2), template_hooks(50, 100), event=event) == expected


@pytest.mark.parametrize(
    "facts", [{}, {"tool": {"input": {"content": "a"}}}, {"tool": {"name": "", "input": {"content": "a"}}}]
)
@pytest.mark.parametrize("hooks", [1, 100])
def test_an_event_that_does_not_name_its_tool_is_left_to_a_round(facts: dict[str, Any], hooks: int) -> None:
    event, layers = Event("tool.before", facts), (template_hooks(0, hooks), template_hooks(50, hooks))
    assert fast(*layers[:1], event=event) is fast(*layers, event=event) is None
    book = Book([Layer("all", layers[0])])
    for decision in (book.decide_now(event), asyncio.run(book.decide(event))):
        assert "does not name its tool" in decision.reason
        assert decision.denied


@pytest.mark.parametrize("input", [{"content": "a", "file_text": "SECRET_77"}, {"content": ["a", "SECRET_77"]}])
def test_an_unusual_input_is_looked_at_closely(input: dict[str, Any]) -> None:
    assert Book([Layer("all", template_hooks(50, 100))]).decide_now(write(**input)).by == "deny-77"


def test_a_word_that_many_hooks_share() -> None:
    shared = [deny(input_matches("content", r"SECRET_7\b"), id=f"shared-{n}") for n in range(50)]
    assert decided([*shared, *template_hooks(50, 50)], event=write(content="SECRET_7 SECRET_60")) == "shared-0"
