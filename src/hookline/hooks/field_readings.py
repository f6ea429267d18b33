"""Asks a hook about each name under which a call has a field, where nobody knows which one the tool reads.

A condition reads all of them. A program or script looks at one name: a call could have the harmless value there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Iterable
from itertools import islice
from typing import Final

from hookline.hooks.attempt import DeadlinePassed, combine_outcomes, outcome_of_failure, run_until
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.hooks.host import format_duration
from hookline.hooks.outcome import SILENT, Failure, FailureKind, Outcome, Verdict
from hookline.hooks.tool_input import events_by_field_name
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import asyncio

_MAX_READINGS: Final = 16
_MAX_AT_ONCE: Final = 4
_TOO_MANY: Final = Outcome(Verdict.DENY, "The call has its fields under too many names: nobody can say what it does.")
_STRICTNESS: Final = (Verdict.ALLOW, Verdict.SILENT, Verdict.ASK, Verdict.DENY)
_STRICTEST: Final = len(_STRICTNESS) - 1


async def strictest_answer(
    hook: Hook, event: Event, ask: Callable[[Event], Awaitable[Outcome | Failure]]
) -> Outcome | Failure:
    """The hook's answer about the call as it is; the strictest one if the call can be read in several ways.

    All answers together have the hook's timeout. Some are asked for at once: otherwise an agent could make a slow guard
    run out of time with a field under a second name.
    """
    if "tool" not in event.facts or hook.then.constant is not None:
        return await ask(event)
    readings = tuple(islice(events_by_field_name(event), _MAX_READINGS + 1))
    if not readings or not hook.judges:  # almost always the first, which takes less time
        return await ask(event)
    answers = _Answers(hook)
    if hook.then.instant:  # perhaps without an event loop
        await answers.collect((event, *readings), ask)
        return answers.strictest
    try:
        await run_until(hook.timeout, answers.collect_at_once((event, *readings), ask))
    except DeadlinePassed:
        answers.add(Failure(FailureKind.TIMEOUT, f"did not answer within {format_duration(hook.timeout)}"))
    return answers.strictest


class _Answers:
    """Of one hook about one call, kept also if time runs out."""

    def __init__(self, hook: Hook) -> None:
        self.strictest: Outcome | Failure = SILENT
        self._hook = hook
        self._count = 0

    async def collect(self, readings: tuple[Event, ...], ask: Callable[[Event], Awaitable[Outcome | Failure]]) -> None:
        for reading in readings[: _MAX_READINGS + 1]:
            if not self._is_decided():
                self.add(await ask(reading))
        self._add_if_too_many(readings)

    async def collect_at_once(
        self, readings: tuple[Event, ...], ask: Callable[[Event], Awaitable[Outcome | Failure]]
    ) -> None:
        """In the order of the readings, whichever is answered first, so that the decision is always the same."""

        async def answer(reading: Event) -> Outcome | Failure:
            return await ask(reading)

        left = iter(readings[: _MAX_READINGS + 1])
        running = deque(asyncio.ensure_future(answer(reading)) for reading in islice(left, _MAX_AT_ONCE))
        try:
            while running and not self._is_decided():
                await asyncio.wait((running[0],))
                self.add(running.popleft().result())
                running.extend(asyncio.ensure_future(answer(reading)) for reading in islice(left, 1))
        except asyncio.CancelledError:  # what was answered in time counts
            for task in running:
                if task.done() and not task.cancelled():
                    self.add(task.result())
            raise
        finally:
            await _cancel_all(running)
        self._add_if_too_many(readings)

    def _is_decided(self) -> bool:
        return self._count > 0 and _strictness(self.strictest, self._hook) == _STRICTEST

    def _add_if_too_many(self, readings: tuple[Event, ...]) -> None:
        if len(readings) > _MAX_READINGS + 1:
            self.add(_TOO_MANY)

    def add(self, answer: Outcome | Failure) -> None:
        self._count += 1
        if self._count == 1:
            self.strictest = answer
        elif isinstance(answer, Failure) and not isinstance(self.strictest, Failure):
            self.strictest = _fail_after(self.strictest, answer)
        elif _strictness(answer, self._hook) > _strictness(self.strictest, self._hook):
            self.strictest = _with_effects(answer, self.strictest)


async def _cancel_all(tasks: Iterable[asyncio.Future[Outcome | Failure]]) -> None:
    unfinished = [task for task in tasks if not task.done()]
    for task in unfinished:
        task.cancel()
    if unfinished:
        await asyncio.wait(unfinished)


def _fail_after(first: Outcome, failure: Failure) -> Failure:
    """The failure, with what the hook answered before. An allow needs an answer about each reading."""
    kept = replace(first, verdict=Verdict.SILENT) if first.verdict is Verdict.ALLOW else first
    partial = kept if failure.partial_outcome is None else combine_outcomes((kept, failure.partial_outcome))
    return replace(failure, partial_outcome=partial)


def _strictness(answer: Outcome | Failure, hook: Hook) -> int:
    outcome = outcome_of_failure(answer, hook.on_error) if isinstance(answer, Failure) else answer
    return _STRICTEST if outcome.halt else _STRICTNESS.index(outcome.verdict)


def _with_effects(verdict: Outcome | Failure, first: Outcome | Failure) -> Outcome | Failure:
    """What the hook changes counts once, about the call as it is."""
    if isinstance(verdict, Failure) or isinstance(first, Failure):
        return verdict
    return replace(verdict, changes=first.changes, requests=first.requests, notes=verdict.notes or first.notes)
