"""No text may talk a guard to sleep."""

from __future__ import annotations

import asyncio
import random
import string
import time
from dataclasses import dataclass
from types import SimpleNamespace

import pytest

from engine.hook_factories import (
    ALLOW,
    ASK,
    DENY,
    FunctionAction,
    RecordingAction,
    changing_action,
    command_matches,
    decide,
    make_book,
    make_hook,
    returning_action,
    tool_call_event,
    tool_matches,
)
from hookline.engine import match_budget
from hookline.hooks.actions.answer import FixedAnswer, TemplateAnswer
from hookline.hooks.actions.chain import Chain, ChainStep
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.conditions.logic import All, AnyOf, Not
from hookline.hooks.event import Event
from hookline.hooks.host import Host
from hookline.hooks.outcome import FailureKind, Outcome, Verdict
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import Condition, May
from hookline.hooks.templates import parse_template

SLOW = r"^(?=(a|aa)+$)"  # look-ahead: the backtracking engine, and exponential
TEXT = "a" * 60 + "!"
SECONDS = 5.0  # wide: the budget is 0.1


def undecided_condition() -> Condition:
    return command_matches(SLOW)


@pytest.mark.timing
def test_the_pattern_of_these_tests_cannot_be_decided() -> None:
    from hookline.patterns.pattern import UndecidedError

    begun = time.perf_counter()
    with pytest.raises(UndecidedError):
        undecided_condition().holds(tool_call_event(TEXT), begun + 0.1)
    assert time.perf_counter() - begun < SECONDS


@pytest.mark.parametrize(
    "wrap", [lambda c: c, lambda c: All((tool_matches("bash"), c)), Not, lambda c: AnyOf((tool_matches("x1"), c))]
)
@pytest.mark.parametrize("then", [DENY, ASK, FixedAnswer(Outcome(halt=True))])
@pytest.mark.timing
def test_an_undecided_constant_guard_holds(wrap: object, then: FixedAnswer) -> None:
    begun = time.perf_counter()
    decision = make_book(make_hook(then, wrap(undecided_condition()))).decide_now(tool_call_event(TEXT))  # type: ignore[operator]
    assert decision.verdict >= Verdict.ASK
    assert time.perf_counter() - begun < SECONDS


def test_a_deny_whose_reason_has_placeholders_is_a_guard_too() -> None:
    say = TemplateAnswer(Outcome(Verdict.DENY), parse_template("no {{tool.name}}", PlaceholderResolver()))
    assert make_book(make_hook(say, undecided_condition())).decide_now(tool_call_event(TEXT)).reason == "no bash"


def test_deny_only_chain_and_fail_closed_broken_hook_are_guards() -> None:
    chain = Chain((ChainStep("deny", DENY),))
    assert make_book(make_hook(chain, undecided_condition())).decide_now(tool_call_event(TEXT)).denied
    broken = make_hook(InvalidAction("?"), undecided_condition(), on_error=Outcome(Verdict.DENY))
    assert make_book(broken).decide_now(tool_call_event(TEXT)).denied


@pytest.mark.parametrize("then", [ALLOW, RecordingAction(), changing_action(("tool.input.command", "x"))])
def test_undecided_non_guard_does_not_fire(then: FixedAnswer) -> None:
    decision = make_book(make_hook(then, undecided_condition())).decide_now(tool_call_event(TEXT))
    assert decision.verdict is Verdict.SILENT
    assert decision.event.facts == tool_call_event(TEXT).facts


@pytest.mark.timing
def test_padding_does_not_put_a_program_guard_to_sleep() -> None:
    guard = make_hook(returning_action(DENY.constant), command_matches(r"(?<!\w)sudo(?!\w)"))
    padded = decide(make_book(guard), tool_call_event("sudo rm -rf / #" + "x" * 900_000))
    assert (padded.verdict, padded.failures) == (Verdict.DENY, ())
    harmless = decide(
        make_book(make_hook(DENY, command_matches(r"(?<!con)sume"))), tool_call_event("consume " * 100_000)
    )
    assert harmless.verdict is Verdict.SILENT


def test_trace_names_an_undecided_condition() -> None:
    decision = make_book(make_hook(ALLOW, undecided_condition(), id="h")).decide_now(
        tool_call_event(TEXT), explain=True
    )
    assert decision.trace[0].why == "its condition could not be evaluated in time"


@pytest.mark.timing
def test_many_slow_patterns_share_one_budget() -> None:
    hooks = [make_hook(ALLOW, command_matches(SLOW + str(n))) for n in range(40)]
    begun = time.perf_counter()
    make_book(*hooks).decide_now(tool_call_event(TEXT))
    assert time.perf_counter() - begun < 1.5


def test_a_slow_hook_does_not_put_an_easy_one_to_sleep() -> None:
    """A program or script behind an easy condition is still asked when another condition used up the time."""
    easy, always = RecordingAction(may=May.JUDGE), RecordingAction(may=May.JUDGE)
    make_book(
        make_hook(ALLOW, undecided_condition()), make_hook(easy, tool_matches("^bash$")), make_hook(always)
    ).decide_now(tool_call_event(TEXT))
    assert len(easy.events) == len(always.events) == 1


@pytest.mark.timing
def test_many_guards_and_a_long_text_made_against_them_end_in_time() -> None:
    chance = random.Random(1)
    words = ["".join(chance.choices(string.ascii_lowercase, k=8)) for _ in range(10_000)]
    guards = make_book(*(make_hook(DENY, command_matches(word)) for word in words))
    text = "".join(chance.choice(words)[:7] for _ in range(300_000))
    begun = time.thread_time()
    guards.decide_now(tool_call_event(text))
    assert time.thread_time() - begun < 2.0


def test_a_long_plain_text_is_decided_by_many_guards() -> None:
    chance = random.Random(1)
    words = ["".join(chance.choices(string.ascii_lowercase, k=8)) for _ in range(2_000)]
    guards = make_book(*(make_hook(DENY, command_matches(word)) for word in words))
    plain = "The quick brown fox jumps over the lazy dog. " * 2_000
    assert guards.decide_now(tool_call_event(plain)).verdict is Verdict.SILENT
    assert guards.decide_now(tool_call_event(plain + words[77])).denied


@pytest.mark.timing
def test_waiting_for_a_program_is_not_matching() -> None:
    async def wait(event: Event, host: Host) -> Outcome:
        await asyncio.sleep(0.3)
        return Outcome()

    decision = decide(
        make_book(make_hook(FunctionAction(wait)), make_hook(DENY, command_matches("^(?=rm)"))), tool_call_event("ls")
    )
    assert decision.verdict is Verdict.SILENT
    assert decide(
        make_book(make_hook(FunctionAction(wait)), make_hook(DENY, command_matches("^(?=rm)"))), tool_call_event("rm")
    ).denied


@dataclass(frozen=True)
class _Elsewhere:
    """Never holds, and takes long without working: as if the machine did something else meanwhile."""

    seconds: float

    def holds(self, event: Event, deadline: float = 0.0) -> bool:
        time.sleep(self.seconds)
        return False

    def needs(self) -> tuple[()]:
        return ()

    def reads(self) -> tuple[()]:
        return ()

    def why_not(self, event: Event) -> str:
        return ""


@pytest.mark.parametrize("seconds", [0.12, 0.3])
@pytest.mark.timing
def test_a_busy_machine_does_not_make_a_guard_hold(seconds: float) -> None:
    guards = [make_hook(DENY, command_matches(source)) for source in ("^(?=rm)", "(?<!x)rm", "rm")]
    held = make_book(make_hook(ALLOW, _Elsewhere(seconds)), *guards)
    assert held.decide_now(tool_call_event("ls")).verdict is Verdict.SILENT
    assert held.decide_now(tool_call_event("rm")).denied


def test_a_program_guard_whose_condition_is_undecided_answers_its_on_error() -> None:
    """Padding beyond what a look-around is tried on must not put it to sleep."""
    text = "sudo rm -rf / #" + "x" * 2_100_000
    guard = make_hook(
        returning_action(DENY.constant), command_matches(r"(?<!\w)sudo(?!\w)"), on_error=Outcome(Verdict.DENY)
    )
    decision = decide(make_book(guard), tool_call_event(text))
    assert decision.verdict is Verdict.DENY
    assert [failure.kind for failure in decision.failures] == [FailureKind.TIMEOUT]
    assert "could not be evaluated in time" in decision.reason
    opened = decide(
        make_book(make_hook(returning_action(DENY.constant), command_matches(r"(?<!\w)sudo(?!\w)"))),
        tool_call_event(text),
    )
    assert opened.verdict is Verdict.SILENT
    assert [failure.kind for failure in opened.failures] == [FailureKind.TIMEOUT]


def test_the_account_says_that_a_guard_held_undecided() -> None:
    decision = decide(
        make_book(make_hook(DENY, command_matches(r"(?<!\w)(sudo|su)(?!\w)"))),
        tool_call_event("consume " * 300_000),
        explain=True,
    )
    assert decision.denied
    assert "could not be evaluated in time" in decision.trace[0].why


def test_matching_has_most_of_its_time_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = SimpleNamespace(wall=0.0, cpu=0.0)
    monkeypatch.setattr(match_budget, "perf_counter", lambda: clock.wall)
    monkeypatch.setattr(match_budget, "thread_time", lambda: clock.cpu)
    budget = match_budget.MatchBudget()
    while clock.wall <= budget.deadline or budget.extend():
        clock.wall += 0.02
        clock.cpu += 0.001
    assert clock.cpu == pytest.approx(match_budget.MATCH_SECONDS * 3 / 4, abs=0.01)
