"""Asks a hook about each name under which a call has a field, where nobody knows which one the tool reads.

A condition reads all of them. A program or script looks at one name: a call could have the harmless value there.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from hookline.hooks.attempt import outcome_of_failure
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import Failure, Outcome, Verdict
from hookline.hooks.tool_input import events_by_field_name
from hookline.lazy_dataclasses import replace

_MAX_READINGS: Final = 16
_TOO_MANY: Final = Outcome(Verdict.DENY, "The call has its fields under too many names: nobody can say what it does.")
_STRICTNESS: Final = (Verdict.ALLOW, Verdict.SILENT, Verdict.ASK, Verdict.DENY)
_STRICTEST: Final = len(_STRICTNESS) - 1


async def strictest_answer(
    hook: Hook, event: Event, ask: Callable[[Event], Awaitable[Outcome | Failure]]
) -> Outcome | Failure:
    """The hook's answer about the call as it is; the strictest one if the call can be read in several ways."""
    answer = await ask(event)
    if hook.then.constant is not None:
        return answer
    for number, reading in enumerate(events_by_field_name(event)):  # almost always there are none
        if not hook.judges or isinstance(answer, Failure) or _strictness(answer, hook) == _STRICTEST:
            break
        if number == _MAX_READINGS:
            return _TOO_MANY
        other = await ask(reading)
        if _strictness(other, hook) > _strictness(answer, hook):
            answer = _with_effects(other, answer)
        if isinstance(other, Failure):  # a program that hangs would take its whole time for each
            break
    return answer


def _strictness(answer: Outcome | Failure, hook: Hook) -> int:
    outcome = outcome_of_failure(answer, hook.on_error) if isinstance(answer, Failure) else answer
    return _STRICTEST if outcome.halt else _STRICTNESS.index(outcome.verdict)


def _with_effects(verdict: Outcome | Failure, first: Outcome | Failure) -> Outcome | Failure:
    """What the hook changes counts once, about the call as it is."""
    if isinstance(verdict, Failure) or isinstance(first, Failure):
        return verdict
    return replace(verdict, changes=first.changes, requests=first.requests, notes=verdict.notes or first.notes)
