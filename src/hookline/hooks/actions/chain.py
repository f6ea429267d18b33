"""Several actions that run in order, as one action."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from functools import reduce
from operator import or_

from hookline.hooks.actions.notify import current_hook_id
from hookline.hooks.actions.wrapper import ActionWrapper
from hookline.hooks.attempt import CombinedOutcome, accept_outcome, attempt, is_weakened, outcome_of_failure
from hookline.hooks.event import Event, FactPath
from hookline.hooks.events import METADATA_PATH
from hookline.hooks.host import Host, current_hook
from hookline.hooks.outcome import SILENT, ActionError, Failure, Outcome, Verdict
from hookline.hooks.protocols import Action, May, may_of
from hookline.lazy_dataclasses import dataclass, field, replace
from hookline.lazy_imports import lazy_logger, logging

_log = lazy_logger("hookline")

FAILURES_PATH: FactPath = (*METADATA_PATH, "hook_failures")
_DEFAULT_STEP_TIMEOUT = timedelta(hours=1)  # for a step without a timeout: the hook's own ends it long before


@dataclass(frozen=True, slots=True)
class ChainStep:
    name: str  # its name in a recorded failure
    action: Action
    on_error: Outcome | None = None  # None: its failure fails the chain, and the hook's on_error answers
    timeout: timedelta = _DEFAULT_STEP_TIMEOUT
    ends_chain: bool = False  # its failure always ends the chain
    is_quiet: bool = field(default=False, compare=False)  # its failure is recorded, and logged only as debug output


@dataclass(frozen=True, slots=True)
class Chain:
    """Each step sees the event as changed by the steps before it. A deny or a halt ends the chain.

    A failure is recorded in `metadata.hook_failures` as {action, error}, for later steps, hooks and conditions. If its
    step has no on_error, the chain fails when it ends, and keeps what its steps asked for. An answer that the event does
    not accept is a failure of a step with an on_error.
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
        combined, applied = CombinedOutcome(), False
        unanswered: Failure | None = None
        for step in self.steps:
            answer = await attempt(step.action, event, host, step.timeout)
            if isinstance(answer, Outcome) and step.on_error is not None and step.on_error != SILENT:
                who = current_hook.get()
                words, name = (None, "") if who is None else (who.wording, who.event_name)
                accepted, rejection = accept_outcome(answer, event.name, words, name)
                if rejection is not None and is_weakened(answer, accepted):
                    answer = replace(rejection, partial_outcome=accepted)
            if isinstance(answer, Failure):
                if step.on_error is None and unanswered is None:
                    unanswered = replace(answer, text=f"{step.name}: {answer.text}")
                answer, failed = _record_failure(step, answer, event), True
            else:
                failed = False
            applied = applied or failed or answer.applied
            before, event = event, event.with_changes(answer.changes)
            if event.differs_from(before, tuple(change for change in answer.changes if change[0][:1] != METADATA_PATH)):
                combined.forget_allow()
            combined.add(answer, None)
            if combined.halt or combined.verdict is Verdict.DENY:
                break
            if failed and (step.ends_chain or self.stop_on_failure):
                break
        if unanswered is not None:
            raise ActionError(unanswered.kind, unanswered.text, unanswered.answer, combined.outcome())
        return combined.outcome(applied=applied)


def _record_failure(step: ChainStep, failure: Failure, event: Event) -> Outcome:
    level = logging.DEBUG if step.is_quiet else logging.WARNING
    _log.log(level, "[%s] %s failed: %s", current_hook_id(), step.name, failure.text)
    outcome = outcome_of_failure(failure, step.on_error or SILENT)
    recorded = event.with_changes(outcome.changes).read(FAILURES_PATH)  # with those of a chain within this one
    failures = [*(recorded if isinstance(recorded, list) else ()), {"action": step.name, "error": failure.text}]
    return replace(outcome, changes=(*outcome.changes, (FAILURES_PATH, failures)))


def leaf_actions(action: Action) -> Iterator[Action]:
    """The single actions of an action, whether or not the user trusts it."""
    match action:
        case Chain(steps):
            for step in steps:
                yield from leaf_actions(step.action)
        case ActionWrapper(action=inner):
            yield from leaf_actions(inner)
        case _:
            yield action
