"""No text may talk a guard to sleep."""

from __future__ import annotations

import asyncio
import random
import string
import time
from dataclasses import dataclass

import pytest

from engine.parts import ALLOW, ASK, DENY, Does, Seen, book, call, changes, command, decide, hook, says, tool
from hookline.hooks.action import May
from hookline.hooks.actions.answer import Answer, Say
from hookline.hooks.actions.broken import Broken
from hookline.hooks.actions.chain import Chain, Step
from hookline.hooks.condition import Condition
from hookline.hooks.conditions.logic import All, AnyOf, Not
from hookline.hooks.event import Event
from hookline.hooks.facts import Names
from hookline.hooks.host import Host
from hookline.hooks.outcome import FailureKind, Outcome, Verdict
from hookline.hooks.template import template

SLOW = r"^(?=(a|aa)+$)"  # look-ahead: the backtracking engine, and exponential
TEXT = "a" * 60 + "!"
SECONDS = 5.0  # wide: the budget is 0.1


def undecided() -> Condition:
    return command(SLOW)


def test_the_pattern_of_these_tests_cannot_be_decided() -> None:
    from hookline.patterns.pattern import Undecided

    begun = time.perf_counter()
    with pytest.raises(Undecided):
        undecided().holds(call(TEXT), begun + 0.1)
    assert time.perf_counter() - begun < SECONDS


@pytest.mark.parametrize("wrap", [lambda c: c, lambda c: All((tool("bash"), c)), Not, lambda c: AnyOf((tool("x1"), c))])
@pytest.mark.parametrize("then", [DENY, ASK, Answer(Outcome(halt=True))])
def test_an_undecided_constant_guard_holds(wrap: object, then: Answer) -> None:
    begun = time.perf_counter()
    decision = book(hook(then, wrap(undecided()))).decide_now(call(TEXT))  # type: ignore[operator]
    assert decision.verdict >= Verdict.ASK
    assert time.perf_counter() - begun < SECONDS


def test_a_deny_whose_reason_has_placeholders_is_a_guard_too() -> None:
    say = Say(Outcome(Verdict.DENY), template("no {{tool.name}}", Names()))
    assert book(hook(say, undecided())).decide_now(call(TEXT)).reason == "no bash"


def test_so_is_a_chain_that_can_only_deny_and_a_hook_that_cannot_be_read_and_fails_closed() -> None:
    chain = Chain((Step("deny", DENY),))
    assert book(hook(chain, undecided())).decide_now(call(TEXT)).denied
    broken = hook(Broken("?"), undecided(), on_error=Outcome(Verdict.DENY))
    assert book(broken).decide_now(call(TEXT)).denied


@pytest.mark.parametrize("then", [ALLOW, Seen(), changes(("tool.input.command", "x"))])
def test_another_undecided_hook_does_not_hold(then: Answer) -> None:
    decision = book(hook(then, undecided())).decide_now(call(TEXT))
    assert decision.verdict is Verdict.SILENT
    assert decision.event.facts == call(TEXT).facts


def test_padding_does_not_put_a_program_guard_to_sleep() -> None:
    guard = hook(says(DENY.constant), command(r"(?<!\w)sudo(?!\w)"))
    padded = decide(book(guard), call("sudo rm -rf / #" + "x" * 900_000))
    assert (padded.verdict, padded.failures) == (Verdict.DENY, ())
    harmless = decide(book(hook(DENY, command(r"(?<!con)sume"))), call("consume " * 100_000))
    assert harmless.verdict is Verdict.SILENT


def test_the_account_says_so() -> None:
    decision = book(hook(ALLOW, undecided(), id="h")).decide_now(call(TEXT), explain=True)
    assert decision.trace[0].why == "its condition could not be decided in time"


def test_many_slow_patterns_share_one_budget() -> None:
    hooks = [hook(ALLOW, command(SLOW + str(n))) for n in range(40)]
    begun = time.perf_counter()
    book(*hooks).decide_now(call(TEXT))
    assert time.perf_counter() - begun < 1.5


def test_a_slow_hook_does_not_put_an_easy_one_to_sleep() -> None:
    """A program or script behind an easy condition is still asked when another condition used up the time."""
    easy, always = Seen(may=May.JUDGE), Seen(may=May.JUDGE)
    book(hook(ALLOW, undecided()), hook(easy, tool("^bash$")), hook(always)).decide_now(call(TEXT))
    assert len(easy.events) == len(always.events) == 1


def test_many_guards_and_a_long_text_made_against_them_end_in_time() -> None:
    chance = random.Random(1)
    words = ["".join(chance.choices(string.ascii_lowercase, k=8)) for _ in range(10_000)]
    guards = book(*(hook(DENY, command(word)) for word in words))
    text = "".join(chance.choice(words)[:7] for _ in range(300_000))
    begun = time.thread_time()
    guards.decide_now(call(text))
    assert time.thread_time() - begun < 2.0


def test_a_long_plain_text_is_decided_by_many_guards() -> None:
    chance = random.Random(1)
    words = ["".join(chance.choices(string.ascii_lowercase, k=8)) for _ in range(2_000)]
    guards = book(*(hook(DENY, command(word)) for word in words))
    plain = "The quick brown fox jumps over the lazy dog. " * 2_000
    assert guards.decide_now(call(plain)).verdict is Verdict.SILENT
    assert guards.decide_now(call(plain + words[77])).denied


def test_waiting_for_a_program_is_not_matching() -> None:
    async def wait(event: Event, host: Host) -> Outcome:
        await asyncio.sleep(0.3)
        return Outcome()

    decision = decide(book(hook(Does(wait)), hook(DENY, command("^(?=rm)"))), call("ls"))
    assert decision.verdict is Verdict.SILENT
    assert decide(book(hook(Does(wait)), hook(DENY, command("^(?=rm)"))), call("rm")).denied


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
def test_a_busy_machine_does_not_make_a_guard_hold(seconds: float) -> None:
    guards = [hook(DENY, command(source)) for source in ("^(?=rm)", "(?<!x)rm", "rm")]
    held = book(hook(ALLOW, _Elsewhere(seconds)), *guards)
    assert held.decide_now(call("ls")).verdict is Verdict.SILENT
    assert held.decide_now(call("rm")).denied


def test_a_program_guard_whose_condition_is_undecided_answers_its_on_error() -> None:
    """Padding beyond what a look-around is tried on must not put it to sleep."""
    text = "sudo rm -rf / #" + "x" * 2_100_000
    guard = hook(says(DENY.constant), command(r"(?<!\w)sudo(?!\w)"), on_error=Outcome(Verdict.DENY))
    decision = decide(book(guard), call(text))
    assert decision.verdict is Verdict.DENY
    assert [failure.kind for failure in decision.failures] == [FailureKind.TIMEOUT]
    assert "could not be decided in time" in decision.reason
    opened = decide(book(hook(says(DENY.constant), command(r"(?<!\w)sudo(?!\w)"))), call(text))
    assert opened.verdict is Verdict.SILENT
    assert [failure.kind for failure in opened.failures] == [FailureKind.TIMEOUT]


def test_the_account_says_that_a_guard_held_undecided() -> None:
    decision = decide(book(hook(DENY, command(r"(?<!\w)(sudo|su)(?!\w)"))), call("consume " * 300_000), explain=True)
    assert decision.denied
    assert "could not be decided in time" in decision.trace[0].why
