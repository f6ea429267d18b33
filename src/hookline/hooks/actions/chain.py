"""Several actions, one after the other, as one."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import reduce
from operator import or_

from hookline.hooks.actions.notify import current_hook_id
from hookline.hooks.attempt import CombinedOutcome, attempt, outcome_of_failure
from hookline.hooks.event import Event, FactPath
from hookline.hooks.events import METADATA_PATH
from hookline.hooks.host import Host
from hookline.hooks.outcome import SILENT, ActionError, Failure, Outcome, Verdict
from hookline.hooks.protocols import Action, May, may_of

_log = logging.getLogger("hookline")

FAILURES_PATH: FactPath = (*METADATA_PATH, "hook_failures")
_DEFAULT_STEP_TIMEOUT = timedelta(
    hours=1
)  # of a step without a deadline of its own: the hook's own ends it long before


@dataclass(frozen=True, slots=True)
class ChainStep:
    name: str  # what a recorded failure calls it
    action: Action
    on_error: Outcome | None = None  # None: its failure is the chain's, and the hook's on_error speaks
    timeout: timedelta = _DEFAULT_STEP_TIMEOUT
    ends_chain: bool = False  # its failure always ends the chain


@dataclass(frozen=True, slots=True)
class Chain:
    """Each step sees the event as the steps before it left it. A deny or a halt ends the chain.

    A failure is recorded in `metadata.hook_failures` as {action, error}, for later steps, hooks and conditions. One
    that its step has no answer to makes the chain fail when it ends, with all that its steps asked for.
    """

    steps: tuple[ChainStep, ...]
    stop_on_failure: bool = False
    constant = None
    label = "the action chain"

    @property
    def instant(self) -> bool:
        return all(step.action.instant for step in self.steps)

    @property
    def may(self) -> May:
        return reduce(or_, (step.action.may | may_of(step.on_error or SILENT) for step in self.steps), May.NOTHING)

    def changes(self) -> tuple[FactPath, ...]:
        return (*(path for step in self.steps for path in step.action.changes()), FAILURES_PATH)

    def reads(self) -> tuple[FactPath, ...]:
        return tuple(path for step in self.steps for path in step.action.reads())

    def describe(self) -> Iterator[tuple[str, str]]:
        for step in self.steps:
            yield from step.action.describe()

    async def run(self, event: Event, host: Host) -> Outcome:
        heard, applied = CombinedOutcome(), False
        unanswered: Failure | None = None
        for step in self.steps:
            answer = await attempt(step.action, event, host, step.timeout)
            if isinstance(answer, Failure):
                if step.on_error is None and unanswered is None:
                    unanswered = replace(answer, text=f"{step.name}: {answer.text}")
                answer, failed = _record_failure(step, answer, event), True
            else:
                failed = False
            applied = applied or failed or answer.applied
            judged, event = event, event.with_changes(answer.changes)
            if event.differs_from(judged, tuple(change for change in answer.changes if change[0][:1] != METADATA_PATH)):
                heard.forget_allow()
            heard.add(answer, None)
            if heard.halt or heard.verdict is Verdict.DENY:
                break
            if failed and (step.ends_chain or self.stop_on_failure):
                break
        if unanswered is not None:
            raise ActionError(unanswered.kind, unanswered.text, unanswered.answer, heard.outcome())
        return heard.outcome(applied=applied)


def _record_failure(step: ChainStep, failure: Failure, event: Event) -> Outcome:
    _log.warning("[%s] %s failed: %s", current_hook_id(), step.name, failure.text)
    outcome = outcome_of_failure(failure, step.on_error or SILENT)
    held = event.read(FAILURES_PATH)
    failures = [*(held if isinstance(held, list) else ()), {"action": step.name, "error": failure.text}]
    return replace(outcome, changes=(*outcome.changes, (FAILURES_PATH, failures)))
