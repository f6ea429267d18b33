"""One function attempts, one folds."""

from __future__ import annotations

import asyncio
import contextvars
from datetime import timedelta

import pytest

from engine.hook_factories import FunctionAction, raising_action, returning_action, tool_call_event
from hookline.hooks.actions.script import RunScript
from hookline.hooks.attempt import (
    CombinedOutcome,
    _active_timeouts,
    attempt,
    combine_outcomes,
    outcome_of_failure,
    pause_timeouts,
)
from hookline.hooks.event import Event
from hookline.hooks.host import NO_HOST, CurrentHook, Host, current_hook
from hookline.hooks.outcome import Compact, Failure, FailureKind, Note, Outcome, Verdict
from hookline.hooks.protocols import InlineAction
from hookline.hooks.templates import DataTemplate

SECOND = timedelta(seconds=1)
FAILED = Failure(FailureKind.EXIT, "exit 1")


def test_who_is_asked_is_known_while_it_is_and_not_after() -> None:
    async def look(event: Event, host: Host) -> Outcome:
        asked = current_hook.get()
        return Outcome(reason=asked.hook if asked else "nobody")

    async def run() -> list[str]:
        heard = [
            await attempt(FunctionAction(look), tool_call_event(), NO_HOST, SECOND, who)
            for who in (CurrentHook("a"), None)
        ]
        failed = await attempt(raising_action(ValueError()), tool_call_event(), NO_HOST, SECOND, CurrentHook("b"))
        assert isinstance(failed, Failure)
        assert current_hook.get() is None
        return [outcome.reason for outcome in heard if isinstance(outcome, Outcome)]

    assert asyncio.run(run()) == ["a", "nobody"]


def test_only_cancellation_leaves_it() -> None:
    async def run() -> None:
        waiting = asyncio.create_task(
            attempt(FunctionAction(_forever), tool_call_event(), NO_HOST, timedelta(hours=1), CurrentHook("a"))
        )
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(run())


async def _forever(event: Event, host: Host) -> Outcome:
    await asyncio.Event().wait()
    return Outcome()


def test_a_timeout_of_its_own_is_told_from_ours() -> None:
    ours = asyncio.run(attempt(FunctionAction(_forever), tool_call_event(), NO_HOST, timedelta(milliseconds=10)))
    own = asyncio.run(attempt(raising_action(TimeoutError(), instant=False), tool_call_event(), NO_HOST, SECOND))
    assert isinstance(ours, Failure)
    assert isinstance(own, Failure)
    assert (ours.kind, ours.text) == (FailureKind.TIMEOUT, "did not answer within 10 ms")
    assert (own.kind, own.text) == (FailureKind.TIMEOUT, "timed out")


class InlineFunction(FunctionAction, InlineAction):
    """Its first step runs in the task of the caller."""

    def needs_task(self, host: Host) -> bool:
        return False


def test_an_action_that_ends_with_its_first_step_needs_no_task() -> None:
    async def look(event: Event, host: Host) -> Outcome:
        return Outcome(reason=str(id(asyncio.current_task())))

    async def run() -> None:
        own = str(id(asyncio.current_task()))
        for action, is_own in ((InlineFunction(look), True), (FunctionAction(look), False)):
            answer = await attempt(action, tool_call_event(), NO_HOST, SECOND)
            assert isinstance(answer, Outcome)
            assert (answer.reason == own) is is_own
        assert _active_timeouts.get() == ()

    asyncio.run(run())


def test_a_host_that_cannot_be_asked_is_a_failure_of_the_action() -> None:
    action = RunScript("return null", DataTemplate({}), SECOND)
    answer = asyncio.run(attempt(action, tool_call_event(), object(), SECOND))  # type: ignore[arg-type]
    assert answer == Failure(FailureKind.RAISED, "AttributeError: 'object' object has no attribute 'run_script'")


@pytest.mark.parametrize("waits", [False, True])
@pytest.mark.parametrize(
    ("error", "failure"),
    [
        (ValueError("no"), Failure(FailureKind.RAISED, "ValueError: no")),
        (asyncio.CancelledError(), Failure(FailureKind.RAISED, "CancelledError")),
        (SystemExit(3), Failure(FailureKind.RAISED, "SystemExit: 3")),
        (TimeoutError(), Failure(FailureKind.TIMEOUT, "timed out")),
    ],
)
def test_what_a_first_step_raises_is_a_failure_like_any_other(
    error: BaseException, failure: Failure, waits: bool
) -> None:
    async def fail(event: Event, host: Host) -> Outcome:
        if waits:
            await asyncio.sleep(0)
        raise error

    for action in (InlineFunction(fail), FunctionAction(fail)):
        assert asyncio.run(attempt(action, tool_call_event(), NO_HOST, SECOND)) == failure


def test_after_its_first_step_an_action_has_a_timeout_and_can_be_cancelled() -> None:
    cancelled: list[str] = []

    async def wait(event: Event, host: Host) -> Outcome:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append("action")
            raise
        return Outcome()

    async def run() -> None:
        answer = await attempt(InlineFunction(wait), tool_call_event(), NO_HOST, timedelta(milliseconds=10))
        assert answer == Failure(FailureKind.TIMEOUT, "did not answer within 10 ms")
        waiting = asyncio.create_task(attempt(InlineFunction(wait), tool_call_event(), NO_HOST, timedelta(hours=1)))
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting

    asyncio.run(run())
    assert cancelled == ["action", "action"]


@pytest.mark.timing
def test_what_a_first_step_leaves_to_the_event_loop_pauses_the_timeout() -> None:
    async def ask(event: Event, host: Host) -> Outcome:
        loop, answered = asyncio.get_running_loop(), asyncio.Event()
        around = contextvars.copy_context()  # as for the tool calls of a script

        async def answer() -> None:
            with pause_timeouts():
                await asyncio.sleep(0.2)
            answered.set()

        loop.call_soon(lambda: loop.create_task(answer(), context=around))
        await answered.wait()
        return Outcome(reason="answered")

    answer = asyncio.run(attempt(InlineFunction(ask), tool_call_event(), NO_HOST, timedelta(milliseconds=100)))
    assert answer == Outcome(reason="answered")


def test_what_a_host_lacks_is_told_in_its_words() -> None:
    async def needs(event: Event, host: Host) -> Outcome:
        await host.complete("hello")
        return Outcome()

    failure = asyncio.run(attempt(FunctionAction(needs), tool_call_event(), NO_HOST, SECOND))
    assert failure == Failure(FailureKind.UNAVAILABLE, "needs a model, and there is none here")


@pytest.mark.parametrize(
    ("on_error", "counts"),
    [
        (Outcome(), Outcome()),
        (Outcome(Verdict.ALLOW), Outcome(Verdict.ALLOW)),
        (Outcome(Verdict.DENY), Outcome(Verdict.DENY, "exit 1")),
        (Outcome(Verdict.DENY, "own words"), Outcome(Verdict.DENY, "own words")),
        (Outcome(Verdict.DENY, "it said: {failure}"), Outcome(Verdict.DENY, "it said: exit 1")),
        (Outcome(halt=True), Outcome(reason="exit 1", halt=True)),
        (Outcome(notes=(Note(""), Note("x"))), Outcome(notes=(Note("exit 1"), Note("x")))),
    ],
)
def test_what_counts_instead_of_a_failure(on_error: Outcome, counts: Outcome) -> None:
    assert outcome_of_failure(FAILED, on_error) == counts


def test_the_first_of_the_strongest_is_the_voice() -> None:
    heard = CombinedOutcome()
    for by, outcome in enumerate(
        [Outcome(Verdict.ALLOW, "a"), Outcome(Verdict.ASK, "b"), Outcome(Verdict.ASK, "c"), Outcome()]
    ):
        heard.add(outcome, str(by))
    assert (heard.verdict, heard.reason, heard.by) == (Verdict.ASK, "b", "1")
    heard.add(Outcome(reason="stop", halt=True), "4")
    assert (heard.verdict, heard.reason, heard.by, heard.halt) == (Verdict.ASK, "stop", "4", True)


def test_outcomes_together_are_one() -> None:
    parts = [
        Outcome(Verdict.ASK, "sure?", ((("a",), 1),), (Note("x"),)),
        Outcome(changes=((("b",), 2),), requests=(Compact(),), final=True),
    ]
    changes = ((("a",), 1), (("b",), 2))
    assert combine_outcomes(parts) == Outcome(Verdict.ASK, "sure?", changes, (Note("x"),), (Compact(),), final=True)
    assert combine_outcomes([]) == Outcome()


def test_an_allow_is_forgotten_and_nothing_stronger() -> None:
    for verdict, left in ((Verdict.ALLOW, Verdict.SILENT), (Verdict.ASK, Verdict.ASK)):
        heard = CombinedOutcome()
        heard.add(Outcome(verdict, "x"), "h")
        heard.forget_allow()
        assert heard.verdict is left


def test_an_answer_passes_through() -> None:
    assert asyncio.run(attempt(returning_action(Outcome(Verdict.ASK)), tool_call_event(), NO_HOST, SECOND)) == Outcome(
        Verdict.ASK
    )
