"""What goes wrong in a hook is an answer, and always in the decision's failures."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from engine.hook_factories import (
    ALLOW,
    DENY,
    FakeHost,
    FunctionAction,
    RecordingAction,
    decide,
    instant_action,
    make_book,
    make_hook,
    raising_action,
    returning_action,
    tool_call_event,
)
from hookline.errors import UndecidedError
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.conditions.logic import All, AnyOf, Not
from hookline.hooks.conditions.numbers import CustomCondition
from hookline.hooks.event import Event
from hookline.hooks.hook import Limit
from hookline.hooks.host import Host, NullHost
from hookline.hooks.outcome import ActionError, Audience, FailureKind, Note, Outcome, Verdict
from hookline.hooks.protocols import May

CLOSED = Outcome(Verdict.DENY)


def failure_kinds(decision: Any) -> list[tuple[str, str]]:
    return [(failure.hook, failure.kind.value) for failure in decision.failures]


@pytest.mark.parametrize("instant", [True, False])
@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("boom"), FailureKind.RAISED),
        (TimeoutError(), FailureKind.TIMEOUT),
        (RecursionError(), FailureKind.RAISED),
        (SystemExit(3), FailureKind.RAISED),
        (ActionError(FailureKind.SIGNAL, "was killed"), FailureKind.SIGNAL),
    ],
)
def test_whatever_an_action_raises_counts_as_its_on_error(
    instant: bool, error: BaseException, kind: FailureKind
) -> None:
    decision = decide(make_book(make_hook(raising_action(error, instant), id="h", on_error=CLOSED)), tool_call_event())
    assert decision.denied
    assert failure_kinds(decision) == [("h", kind.value)]


def test_an_exception_that_cannot_be_shown_is_still_a_failure() -> None:
    class Unshowable(Exception):
        def __str__(self) -> str:
            raise ValueError

    decision = decide(make_book(make_hook(raising_action(Unshowable()), id="h", on_error=CLOSED)), tool_call_event())
    assert decision.denied
    assert "Unshowable" in decision.failures[0].text


@pytest.mark.parametrize(
    "answer",
    [
        None,
        {"verdict": "deny"},
        Outcome("deny"),  # type: ignore[arg-type]
        Outcome(Verdict.DENY, None),  # type: ignore[arg-type]
        Outcome(changes=(("tool.input", 1),)),  # type: ignore[arg-type]
        Outcome(changes=((("tool", "input"),),)),  # type: ignore[arg-type]
        Outcome(changes=5),  # type: ignore[arg-type]
        Outcome(notes=["text"]),  # type: ignore[arg-type]
        Outcome(notes=(Note(5),)),  # type: ignore[arg-type]
        Outcome(requests=("compact",)),  # type: ignore[arg-type]
    ],
)
def test_an_answer_that_cannot_be_read_counts_as_the_on_error(answer: Any) -> None:
    decision = decide(
        make_book(make_hook(instant_action(lambda _: answer), id="h", on_error=CLOSED), make_hook(ALLOW)),
        tool_call_event(),
    )
    assert decision.denied
    assert failure_kinds(decision) == [("h", "unreadable_answer")]


def test_a_timeout_is_a_failure_and_names_the_hook() -> None:
    async def sleep(event: Event, host: Host) -> Outcome:
        await asyncio.sleep(60)
        return Outcome()

    slow = make_hook(FunctionAction(sleep), id="slow", timeout=timedelta(milliseconds=20), on_error=CLOSED)
    decision = decide(make_book(slow), tool_call_event())
    assert failure_kinds(decision) == [("slow", "timeout")]
    assert decision.reason == "hook slow did not answer within 20 ms"


def test_a_failing_hook_without_an_on_error_stops_nobody() -> None:
    later = RecordingAction(Outcome(Verdict.DENY, "guard"))
    decision = decide(
        make_book(make_hook(raising_action(ValueError("boom")), id="h"), make_hook(later)), tool_call_event()
    )
    assert decision.reason == "guard"
    assert failure_kinds(decision) == [("h", "raised")]


def test_an_on_error_may_halt() -> None:
    decision = decide(
        make_book(make_hook(raising_action(ValueError("boom")), id="h", on_error=Outcome(halt=True))), tool_call_event()
    )
    assert (decision.halt, decision.verdict, decision.reason) == (True, Verdict.DENY, "ValueError: boom")


def test_an_on_error_may_end_its_group() -> None:
    own, other = RecordingAction(), RecordingAction()
    failing = make_hook(raising_action(ValueError("boom")), group="microai", on_error=Outcome(final=True))
    decide(make_book(failing, make_hook(own, group="microai"), make_hook(other, group="flo")), tool_call_event())
    assert (len(own.events), len(other.events)) == (0, 1)


def test_an_on_error_note_without_words_takes_the_failures() -> None:
    on_error = Outcome(notes=(Note("", Audience.USER), Note("own words")))
    decision = decide(
        make_book(make_hook(raising_action(ActionError(FailureKind.EXIT, "exit 1")), on_error=on_error)),
        tool_call_event(),
    )
    assert [note.text for note in decision.notes] == ["exit 1", "own words"]


def test_a_failure_may_bring_its_own_answer() -> None:
    failing = raising_action(ActionError(FailureKind.UNREADABLE_ANSWER, "odd", Outcome(Verdict.ASK, "look")))
    decision = decide(make_book(make_hook(failing, on_error=Outcome())), tool_call_event())
    assert (decision.verdict, decision.reason) == (Verdict.ASK, "look")


def test_a_failure_is_never_weaker_than_the_hook_said() -> None:
    failing = raising_action(ActionError(FailureKind.UNREADABLE_ANSWER, "odd", Outcome(Verdict.ASK, "look")))
    assert decide(make_book(make_hook(failing, on_error=CLOSED)), tool_call_event()).verdict is Verdict.DENY


def test_a_hook_that_cannot_be_read_answers_its_on_error_and_disables_nobody() -> None:
    broken = make_hook(InvalidAction("its script is not JavaScript"), id="broken", on_error=Outcome(Verdict.ASK))
    decision = decide(make_book(broken, make_hook(DENY, id="guard")), tool_call_event())
    assert decision.by == "guard"
    assert failure_kinds(decision) == [("broken", "cannot_start")]


@pytest.mark.parametrize("more", [{"wait": False}, {"limit": Limit(max_fires=1)}])
def test_what_the_host_does_not_have_is_a_failure_of_that_hook_alone(more: dict[str, Any]) -> None:
    needy = make_hook(returning_action(Outcome()), id="needy", on_error=Outcome(Verdict.ASK), **more)
    decision = decide(make_book(needy, make_hook(DENY, id="guard"), host=_Bare()), tool_call_event())
    assert decision.by == "guard"
    assert failure_kinds(decision) == [("needy", "unavailable")]
    assert decision.failures[0].text.startswith("hook needy: ")


class _Bare(NullHost):
    """Not NO_HOST itself, which means the book's own host."""


def test_failures_stand_in_the_decision_whatever_the_verdict() -> None:
    hooks = [make_hook(raising_action(ValueError(n)), id=f"h{n}") for n in range(3)]
    decision = decide(make_book(*hooks, make_hook(ALLOW)), tool_call_event())
    assert decision.verdict is Verdict.ALLOW
    assert [failure.hook for failure in decision.failures] == ["h0", "h1", "h2"]
    assert [row["error"] for row in decision.as_json()["trace"]][:3] == [f"raised: ValueError: {n}" for n in range(3)]


def test_a_background_hook_is_started_and_nothing_it_says_counts() -> None:
    desk, seen = FakeHost(), RecordingAction(Outcome(Verdict.DENY))
    held = make_book(make_hook(seen, wait=False), make_hook(ALLOW))

    async def fire() -> None:
        decision = await held.decide(tool_call_event(), desk)
        assert decision.verdict is Verdict.ALLOW
        assert not seen.events
        await desk.drain()

    asyncio.run(fire())
    assert len(seen.events) == 1


def test_secrets_in_somebodys_exception_are_masked() -> None:
    decision = decide(make_book(make_hook(raising_action(ValueError("password=hunter2secret")))), tool_call_event())
    assert "hunter2secret" not in decision.failures[0].text


def raise_error(params: Any, event: Event) -> bool:
    raise params


RAISING = [ValueError("token=secret"), KeyError("x"), RecursionError(), SystemExit(3), UndecidedError()]


@pytest.mark.parametrize("error", RAISING, ids=repr)
@pytest.mark.parametrize("wrap", [lambda part: part, Not, lambda part: All((part,)), lambda part: AnyOf((part,))])
def test_a_guard_whose_condition_raises_holds(error: BaseException, wrap: Any) -> None:
    guard = make_hook(DENY, wrap(CustomCondition("odd", raise_error, error)), id="guard")
    for explain in (False, True):
        decision = make_book(guard).decide_now(tool_call_event(), explain=explain)
        assert (decision.verdict, decision.by) == (Verdict.DENY, "guard")
        assert failure_kinds(decision) == [("guard", "raised")]
        assert "secret" not in str(decision.failures)
        assert "could not be evaluated" in decision.trace[0].why


@pytest.mark.parametrize("then", [ALLOW, RecordingAction(may=May.NOTES), InvalidAction("?")])
def test_any_other_hook_whose_condition_raises_counts_by_its_on_error(then: Any) -> None:
    condition = CustomCondition("odd", raise_error, ValueError())
    lenient = make_book(make_hook(then, condition, id="h")).decide_now(tool_call_event())
    assert (lenient.verdict, failure_kinds(lenient)) == (Verdict.SILENT, [("h", "raised")])
    strict = make_book(make_hook(then, condition, id="h", on_error=CLOSED)).decide_now(tool_call_event())
    text = "the condition of hook h could not be evaluated: odd raised ValueError"
    assert (strict.verdict, strict.reason) == (Verdict.DENY, text)
    assert [failure.text for failure in strict.failures] == [text]


def test_a_condition_of_third_parties_may_raise_anything() -> None:
    class Odd:
        def holds(self, event: Event, deadline: float = 0) -> bool:
            raise ZeroDivisionError

        def needs(self) -> tuple[Any, ...]:
            return ()

        def why_not(self, event: Event) -> str:
            raise ZeroDivisionError

    decision = make_book(make_hook(DENY, Odd(), id="guard")).decide_now(tool_call_event())
    assert decision.failures[0].text == (
        "the condition of hook guard could not be evaluated: it raised ZeroDivisionError"
    )
    assert decision.denied
